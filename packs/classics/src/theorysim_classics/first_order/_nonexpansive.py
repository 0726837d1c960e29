"""Nonexpansive maps with a fixed point at the origin: a bent line beside a scaled rotation.

T(w) = (b(w_0), m Rot(w_1, w_2)), b any piecewise linear map with slopes in [-1, 1], |m| <= 1. The
start divides its distance R between both by `share`. J = (I + T) / 2 is the resolvent of a maximal
monotone operator, and every resolvent is one.
"""

import math
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl

Vector = Float[Array, "3"]


def space(*, steps: int = 5, **more) -> claims.Space:
    """The maps, and a start at a distance from the fixed point."""
    return claims.Space(
        steps=claims.Size(steps, high=30),
        knots=claims.Size(2, high=8),
        bent=claims.PiecewiseLinear("knots", -1, 1),
        angle=claims.Extremal(0, math.pi),
        modulus=claims.Extremal(0, 1),
        distance=claims.Real(0.1, 10, log=True),
        share=claims.Extremal(0, 1),
        **more,
    )


def start(x: claims.Instance) -> Vector:
    """A point at the distance R from the fixed point."""
    angle = x.share * jnp.pi / 2
    return x.distance * jnp.stack([jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle)])


def operator(x: claims.Instance) -> Callable[[Vector], Vector]:
    """T."""
    turn = x.modulus * jnp.stack([jnp.cos(x.angle), jnp.sin(x.angle)])

    def apply(w: Vector) -> Vector:
        bent = x.distance * pl.evaluate(x.bent, w[0] / x.distance)
        return jnp.stack([bent, turn[0] * w[1] - turn[1] * w[2], turn[1] * w[1] + turn[0] * w[2]])

    return apply


def resolvent(x: claims.Instance) -> Callable[[Vector], Vector]:
    """J = (I + T) / 2."""
    nonexpansive = operator(x)
    return lambda w: (w + nonexpansive(w)) / 2
