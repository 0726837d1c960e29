"""Maxima of linear functions that vanish at their minimiser, with a subgradient that is chosen.

f(w) = M max(0, a_1 w, ..., a_n w) with |a_i| <= 1 and as many pieces as the method has points. The
subgradient is M a_i for the first i of the maximum, and 0 where 0 is the maximum. `blend` moves the
slopes from unit vectors along the axes to any others, `skew` the start from their diagonal.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims

Vector = Float[Array, " d"]


def space(*, steps: int = 4, **more) -> claims.Space:
    """The functions, and a start at a distance from the minimiser."""
    return claims.Space(
        steps=claims.Size(steps, high=30),
        slope=claims.Real(0.1, 10, log=True),
        pieces=claims.Real(-1, 1, shape=("steps + 1", "steps + 1")),
        blend=claims.Extremal(0, 1),
        direction=claims.UnitVector("steps + 1"),
        skew=claims.Extremal(0, 1),
        distance=claims.Real(0.1, 10, log=True),
        **more,
    )


def start(x: claims.Instance) -> Vector:
    """A point at the distance R, on the diagonal where `skew` is 0."""
    points = x.steps + 1
    moved = x.skew * x.direction + (1 - x.skew) / jnp.sqrt(points) * jnp.ones(points)
    square = jnp.sum(moved**2)
    return x.distance * moved / jnp.sqrt(jnp.where(square > 0, square, 1))


def value_and_subgradient(x: claims.Instance, w: Vector) -> tuple[Float[Array, ""], Vector]:
    """f and the subgradient that the method is given."""
    points = x.steps + 1
    slopes = (1 - x.blend) * jnp.eye(points) + x.blend * x.pieces / jnp.sqrt(points)
    heights = jnp.concatenate([slopes @ w, jnp.zeros(1)])
    largest = jnp.argmax(heights)
    return x.slope * heights[largest], x.slope * jnp.append(slopes, jnp.zeros((1, points)), 0)[
        largest
    ]
