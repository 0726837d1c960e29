"""One step of regularised descent, line by line.

The derivation of Lemma 3 of Afzal et al. (2025) on the appendix slide, in lines a to d from one
step of the scheme. The substitution that leads to line b, and line d, are misprinted; line b itself
and the lemma are right.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import regularised_step
from theorysim.theorems.linearization import _models as models

APPENDIX = "slides, appendix, Lemma 3"


class Stepped(NamedTuple):
    """After one step of the scheme from theta_t, and its intermediate point."""

    next: models.Delta
    half: models.Delta


class Lines(NamedTuple):
    """The right sides, as far as they do not contain theta_(t+1)."""

    a: models.Delta
    b: models.Delta
    c: models.Delta
    d: models.Delta
    d_corrected: models.Delta
    pull: Float[Array, ""]
    """lambda eta / (1 - lambda eta)"""


def _anchored(x: claims.Instance) -> tuple[models.Delta, models.Delta, models.Delta]:
    """theta_0, theta_t, and the gradient there, in coordinates in which theta_0 is not zero."""
    delta = jnp.ravel(x.way)
    return jnp.ravel(x.anchor), jnp.ravel(x.anchor) + delta, jax.grad(models.loss(x))(delta)


def _rate(x: claims.Instance) -> Float[Array, ""]:
    return x.shrink / x.strength


def simulate(x: claims.Instance, key) -> Stepped:
    anchor, theta, _ = _anchored(x)

    def loss(theta):
        return models.loss(x)(theta - anchor)

    def step(strength):
        return regularised_step(loss, anchor, theta, _rate(x), strength).params

    return Stepped(step(x.strength), step(0.0))


def _predict(factor: float = 1.0) -> Callable:
    """The lines with `factor` times the pull."""

    def predict(x: claims.Instance) -> Lines:
        anchor, theta, gradient = _anchored(x)
        rate, shrink, strength = _rate(x), factor * x.shrink, factor * x.strength
        down = (1 - shrink) * gradient
        return Lines(
            theta - rate * gradient - shrink * (theta - rate * gradient - anchor),
            theta - rate * gradient,
            (1 - shrink) * theta - rate * down + shrink * anchor,
            -strength * theta - down + shrink * anchor,
            -strength * theta - down + strength * anchor,
            shrink / (1 - shrink),
        )

    return predict


def _moved(r) -> models.Delta:
    """theta_(t+1) - theta_0."""
    return r.sim.next - _anchored(r.x)[0]


def _substitution(factor: Callable):
    return claims.equal(
        "the half step from the whole one",
        lambda r: r.sim.half - _anchored(r.x)[0],
        lambda r: factor(r) * _moved(r),
    )


def _line_d(right: Callable):
    return claims.equal("d", lambda r: (r.sim.next - _anchored(r.x)[1]) / _rate(r.x), right)


theorem = claims.Theorem(
    space=models.model_space(
        strength=claims.Real(0.05, 100, log=True),
        shrink=claims.Real(0.01, 0.9, log=True),
        anchor=claims.Gaussian("n", models.HIDDEN),
        way=claims.Gaussian("n", models.HIDDEN),
    ),
    simulate=simulate,
    predict=_predict(),
    claims=(
        claims.equal("a", lambda r: r.sim.next, lambda r: r.theory.a),
        claims.equal("b", lambda r: r.sim.next, lambda r: r.theory.b - r.theory.pull * _moved(r)),
        claims.equal("c", lambda r: r.sim.next, lambda r: r.theory.c),
    ),
    source=claims.Printed(
        APPENDIX,
        "theta' = theta - eta grad R - lambda eta (~theta - theta_0) = theta - eta grad R - "
        "(lambda eta / (1 - lambda eta)) (theta' - theta_0) = (1 - lambda eta) theta - "
        "eta (1 - lambda eta) grad R + lambda eta theta_0",
    ),
    printed="proof lines a to c",
    readings=(
        claims.Reading(
            "substitution in line b",
            claims.Printed(
                APPENDIX,
                "~theta - theta_0 = (lambda eta / (1 - lambda eta)) (theta_(t+1) - theta_0)",
            ),
            claims=(_substitution(lambda r: r.theory.pull),),
            note="the factor is 1 / (1 - lambda eta); line b itself is right",
        ),
        claims.Reading(
            "substitution, corrected",
            claims.Corrected("1 / (1 - lambda eta) instead of lambda eta / (1 - lambda eta)"),
            claims=(_substitution(lambda r: 1 + r.theory.pull),),
            note="line b follows from it",
        ),
        claims.Reading(
            "line d",
            claims.Printed(
                APPENDIX,
                "(theta' - theta) / eta = -lambda theta - (1 - lambda eta) grad R + "
                "lambda eta theta_0",
            ),
            claims=(_line_d(lambda r: r.theory.d),),
            note="lambda theta_0, not lambda eta theta_0",
        ),
        claims.Reading(
            "line d, corrected",
            claims.Corrected("lambda theta_0 instead of lambda eta theta_0"),
            claims=(_line_d(lambda r: r.theory.d_corrected),),
            note="as eta vanishes it becomes the flow of the lemma",
        ),
    ),
    mutants=(
        claims.Mutant(
            "half of the pull",
            of=("proof lines a to c", "substitution, corrected", "line d, corrected"),
            predict=_predict(0.5),
        ),
    ),
    instances=32,
)
