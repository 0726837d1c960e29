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
    """<grad R, theta - theta_0>, and slopes of the loss along the flow, by strength of the pull."""

    product: Float[Array, ""]
    pulled: Float[Array, ""]
    free: Float[Array, ""]
    below: Float[Array, ""]
    """for a strength below ||grad R||^2 / |product|"""
    above: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Slopes:
    delta, loss = models.point(x), models.loss(x)
    product = towards_loss(loss, models.start(x), delta)
    limit = jnp.sum(jax.grad(loss)(delta) ** 2) / jnp.abs(product)
    strengths = x.strength, 0.0, limit * x.share, limit / x.share
    return Slopes(product, *(models.along_flow(x, loss, strength) for strength in strengths))


def _positive(r):
    """Margin of <grad R, theta - theta_0> >= 0."""
    return r.sim.product


@claims.strict
def _negative(r):
    """Margin of <grad R, theta - theta_0> < 0."""
    return -r.sim.product


def _falls(name: str, slope: str, where: Callable):
    return claims.at_most(name, lambda r: getattr(r.sim, slope), lambda r: 0.0, where=where)


def _rises(name: str, slope: str, strict: bool = False):
    quantity = lambda r: getattr(r.sim, slope)  # noqa: E731
    return claims.at_least(name, quantity, lambda r: 0.0, where=_negative, strict=strict)


WITH_PULL, WITHOUT = "lambda > 0, product >= 0", "lambda = 0, product < 0"

theorem = claims.Theorem(
    space=models.point_space(),
    simulate=simulate,
    claims=(_falls(WITH_PULL, "pulled", _positive), _falls(WITHOUT, "free", _negative)),
    source=claims.Printed(
        "slides, Section 3, Theorem 1",
        "if lambda > 0 and grad R(theta_t)(theta_t - theta_0) >= 0, then d/dt ||f - y*||^2 <= 0; "
        "if it is < 0, then lambda = 0 is a sufficient condition",
    ),
    readings=(
        claims.Reading(
            "proof, lambda = 0 is necessary",
            claims.Printed(
                "slides, Section 3, Theorem 1, proof (2)",
                "if grad R(theta_t)(theta_t - theta_0) < 0 then lambda = 0 is necessary",
            ),
            claims=(_rises("product < 0: the loss rises with lambda > 0", "pulled", strict=True),),
            note="a small pull does not outweigh the gradient",
        ),
        claims.Reading(
            "sharp: lambda up to ||grad R||^2 / |product|",
            claims.Finding("the largest pull at which the loss falls"),
            claims=(
                _falls("below the limit", "below", _negative),
                _rises("above the limit", "above"),
            ),
        ),
    ),
    mutants=(
        claims.Mutant("the cases swapped", claims=(_falls(WITH_PULL, "pulled", _negative),)),
        claims.Mutant(
            "lambda > 0 where the product is negative",
            claims=(_falls(WITHOUT, "pulled", _negative),),
        ),
    ),
    instances=128,
)
