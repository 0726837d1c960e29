"""The pull does not raise the loss where <grad R, theta - theta_0> >= 0; elsewhere it can be off.

Theorem 1 of Afzal et al. (2025): along the flow of Lemma 3, d/dt ||f - y||^2 <= 0 if lambda > 0 and
the inner product is >= 0; if it is negative, lambda = 0 is sufficient (statement) or necessary
(proof). Sufficient it is, necessary not: the loss falls up to lambda = ||grad R||^2 / |<grad R,
theta - theta_0>|, exactly. Checked at any point of a ball, not only along a run.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.systems.fine_tuning import towards_loss
from theorysim.theorems.linearization import _models as models


def _point(x: Instance):
    return x.radius * jnp.ravel(x.way) / jnp.linalg.norm(x.way)


def simulate(x: Instance, key):
    """Slopes of the loss and of the outputs along the flow at a point, for several strengths."""
    delta, loss = _point(x), models.loss(x)
    gradient = jax.grad(loss)(delta)
    product = towards_loss(loss, models.start(x), delta)
    limit = jnp.sum(gradient**2) / jnp.abs(product)

    def along(strength, f):
        return jax.jvp(f, (delta,), (-gradient - strength * delta,))[1]

    return {
        "product": product,
        "pulled": along(x.strength, loss),
        "free": along(0.0, loss),
        "below": along(limit * x.share, loss),
        "above": along(limit / x.share, loss),
        "outputs": along(x.strength, models.outputs(x)),
        "gradient": gradient,
    }


def predict(x: Instance):
    """The displays of the proof."""
    delta = _point(x)
    j, k = models.jacobian(x, delta), models.gram(x, delta)
    error = models.outputs(x)(delta) - models.targets(x)
    gradient = 2 * error @ j
    return {
        "outputs": -(2 * k @ error + x.strength * j @ delta),
        "half slope": -2 * error @ k @ error - x.strength / 2 * gradient @ delta,
        "gradient": gradient,
        "smallest": jnp.linalg.eigvalsh(k)[0],
        "form": error @ k @ error,
    }


def _rising(r):
    """Margin of <grad R, theta - theta_0> >= 0."""
    return r.sim["product"]


def _falling(r):
    return -r.sim["product"]


WITH_PULL = at_most(
    "lambda > 0, product >= 0", lambda r: r.sim["pulled"], lambda r: 0.0, where=_rising
)
WITHOUT = at_most("lambda = 0, product < 0", lambda r: r.sim["free"], lambda r: 0.0, where=_falling)


def _displays(factor: float) -> tuple:
    return (
        equal("P1: dy/dt", lambda r: r.sim["outputs"], lambda r: factor * r.theory["outputs"]),
        equal(
            "P2: half of d/dt ||y - y*||^2",
            lambda r: r.sim["pulled"] / 2,
            lambda r: factor * r.theory["half slope"],
        ),
        equal("P3: grad R", lambda r: r.sim["gradient"], lambda r: factor * r.theory["gradient"]),
    )


theorem = Theorem(
    space=models.model_space(
        radius=Real(0.01, 10, log=True),
        way=Gaussian("n", models.HIDDEN),
        strength=Real(1e-2, 100, log=True),
        share=Real(0.01, 0.99),
    ),
    simulate=simulate,
    predict=predict,
    claims=(WITH_PULL, WITHOUT),
    readings=(
        Reading("proof displays", Printed("", ""), claims=_displays(1.0)),
        Reading(
            "proof, lambda = 0 is necessary",
            Printed("", ""),
            claims=(
                at_least(
                    "product < 0: the loss rises with lambda > 0",
                    lambda r: r.sim["pulled"],
                    lambda r: 0.0,
                    strict=True,
                    where=_falling,
                ),
            ),
            note="a small pull does not outweigh the gradient",
        ),
        Reading(
            "sharp: lambda up to ||grad R||^2 / |product|",
            Printed("", ""),
            claims=(
                at_most("below the limit", lambda r: r.sim["below"], lambda r: 0.0, where=_falling),
                at_least(
                    "above the limit", lambda r: r.sim["above"], lambda r: 0.0, where=_falling
                ),
            ),
        ),
    ),
    mutants=(
        Mutant(
            "the pull lowers the loss where the product is negative, displays off by a factor 2",
            claims=(
                at_most(WITH_PULL.name, lambda r: r.sim["pulled"], lambda r: 0.0, where=_falling),
                *_displays(0.5),
            ),
        ),
    ),
    instances=128,
)
