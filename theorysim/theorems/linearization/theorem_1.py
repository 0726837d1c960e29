"""The pull does not raise the loss where <grad R, theta - theta_0> >= 0; elsewhere it can be off.

Theorem 1 of Afzal et al. (2025): along the flow of Lemma 3, d/dt ||f - y||^2 <= 0 if lambda > 0 and
the inner product is >= 0; if it is negative, lambda = 0 is sufficient (statement) or necessary
(proof). Sufficient it is, necessary not: the loss falls up to lambda = ||grad R||^2 / |<grad R,
theta - theta_0>|, exactly. Checked at any point of a ball, not only along a run.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import towards_loss
from theorysim.theorems.linearization import _models as models


class Slopes(NamedTuple):
    """Of the loss along the flow at a point, for several strengths of the pull."""

    product: Float[Array, ""]
    """<grad R, theta - theta_0>"""
    pulled: Float[Array, ""]
    free: Float[Array, ""]
    below: Float[Array, ""]
    """for a strength below ||grad R||^2 / |product|"""
    above: Float[Array, ""]
    outputs: Float[Array, " n"]
    """dy/dt"""
    gradient: Float[Array, " p"]


class Displays(NamedTuple):
    """The right sides of the displays of the proof."""

    outputs: Float[Array, " n"]
    half_slope: Float[Array, ""]
    gradient: Float[Array, " p"]
    form: Float[Array, ""]
    """<k (y - y*), y - y*>"""


def _point(x: claims.Instance) -> models.Delta:
    return x.radius * jnp.ravel(x.way) / jnp.linalg.norm(x.way)


def simulate(x: claims.Instance, key) -> Slopes:
    delta, loss = _point(x), models.loss(x)
    gradient = jax.grad(loss)(delta)
    product = towards_loss(loss, models.start(x), delta)
    limit = jnp.sum(gradient**2) / jnp.abs(product)

    def along(strength, f):
        return jax.jvp(f, (delta,), (-gradient - strength * delta,))[1]

    return Slopes(
        product,
        along(x.strength, loss),
        along(0.0, loss),
        along(limit * x.share, loss),
        along(limit / x.share, loss),
        along(x.strength, models.outputs(x)),
        gradient,
    )


def _predict(two: float = 2.0, sign: float = 1.0) -> Callable:
    """`two` is the factor that the square brings, `sign` that of the kernel."""

    def predict(x: claims.Instance) -> Displays:
        delta = _point(x)
        j, k = models.jacobian(x, delta), sign * models.gram(x, delta)
        error = models.outputs(x)(delta) - models.targets(x)
        gradient = two * error @ j
        return Displays(
            -(two * k @ error + x.strength * j @ delta),
            -two * error @ k @ error - x.strength / 2 * gradient @ delta,
            gradient,
            error @ k @ error,
        )

    return predict


def _rising(r):
    """Margin of <grad R, theta - theta_0> >= 0."""
    return r.sim.product


def _falling(r):
    return -r.sim.product


def _falls(name: str, slope: Callable, where: Callable):
    return claims.at_most(name, slope, lambda r: 0.0, where=where)


WITH_PULL, WITHOUT = "lambda > 0, product >= 0", "lambda = 0, product < 0"

DISPLAYS = (
    claims.equal("P1: dy/dt", lambda r: r.sim.outputs, lambda r: r.theory.outputs),
    claims.equal(
        "P2: half of d/dt ||y - y*||^2", lambda r: r.sim.pulled / 2, lambda r: r.theory.half_slope
    ),
    claims.equal("P3: grad R", lambda r: r.sim.gradient, lambda r: r.theory.gradient),
    claims.at_least("P4: k_t is semidefinite", lambda r: r.theory.form, lambda r: 0.0),
)


theorem = claims.Theorem(
    space=models.model_space(
        radius=claims.Real(0.01, 10, log=True),
        way=claims.Gaussian("n", models.HIDDEN),
        strength=claims.Real(1e-2, 100, log=True),
        share=claims.Real(0.01, 0.99),
    ),
    simulate=simulate,
    predict=_predict(),
    claims=(
        _falls(WITH_PULL, lambda r: r.sim.pulled, _rising),
        _falls(WITHOUT, lambda r: r.sim.free, _falling),
    ),
    source=claims.Printed(
        "slides, Section 3, Theorem 1",
        "if lambda > 0 and grad R(theta_t)(theta_t - theta_0) >= 0, then d/dt ||f - y*||^2 <= 0; "
        "if it is < 0, then lambda = 0 is a sufficient condition",
    ),
    readings=(
        claims.Reading(
            "proof displays",
            claims.Printed(
                "slides, Section 3, Theorem 1, proof (1) and (2)",
                "dy/dt = -(2 k_t (y - y*) + lambda J (theta_t - theta_0)), "
                "1/2 d/dt ||y - y*||^2 = -2 <k_t (y - y*), y - y*> - (lambda/2) grad R (theta_t - "
                "theta_0), grad R = 2 (y - y*)^T J, k_t is semidefinite",
            ),
            claims=DISPLAYS,
        ),
        claims.Reading(
            "proof, lambda = 0 is necessary",
            claims.Printed(
                "slides, Section 3, Theorem 1, proof (2)",
                "if grad R(theta_t)(theta_t - theta_0) < 0 then lambda = 0 is necessary",
            ),
            claims=(
                claims.at_least(
                    "product < 0: the loss rises with lambda > 0",
                    lambda r: r.sim.pulled,
                    lambda r: 0.0,
                    strict=True,
                    where=_falling,
                ),
            ),
            note="a small pull does not outweigh the gradient",
        ),
        claims.Reading(
            "sharp: lambda up to ||grad R||^2 / |product|",
            claims.Finding("the largest pull at which the loss falls"),
            claims=(
                _falls("below the limit", lambda r: r.sim.below, _falling),
                claims.at_least(
                    "above the limit", lambda r: r.sim.above, lambda r: 0.0, where=_falling
                ),
            ),
        ),
    ),
    mutants=(
        claims.Mutant(
            "the cases swapped", claims=(_falls(WITH_PULL, lambda r: r.sim.pulled, _falling),)
        ),
        claims.Mutant(
            "lambda > 0 where the product is negative",
            claims=(_falls(WITHOUT, lambda r: r.sim.pulled, _falling),),
        ),
        claims.Mutant(
            "the factor 2 of the square lost", of=("proof displays",), predict=_predict(1.0)
        ),
        claims.Mutant("the sign of k_t lost", of=("proof displays",), predict=_predict(sign=-1.0)),
    ),
    instances=128,
)
