"""Quadratics f(w) = sum lambda_i w_i^2 / 2 of any conditioning, with curvatures in [mu, L].

Curvatures are at an end of [mu, L] two times in three. The methods that run here do not notice
rotations, so that diagonal ones are all.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims

Vector = Float[Array, " d"]


def space(*, d: int = 3, steps: int = 5, most: int = 30, **more) -> claims.Space:
    """Quadratics in d dimensions and the start's direction and distance."""
    return claims.Space(
        d=claims.Size(d, high=16),
        steps=claims.Size(steps, high=most),
        smoothness=claims.Real(0.1, 10, log=True),
        conditioning=claims.Real(1e-3, 0.9, log=True),
        spread=claims.Extremal(0, 1, shape="d"),
        direction=claims.UnitVector("d"),
        distance=claims.Real(0.1, 10, log=True),
        **more,
    )


def curvatures(x: claims.Instance) -> Vector:
    """The eigenvalues, numbers of [mu, L]."""
    return x.smoothness * (x.conditioning + (1 - x.conditioning) * x.spread)


def loss(x: claims.Instance) -> Callable[[Vector], Float[Array, ""]]:
    """The function of an instance."""
    return lambda w: jnp.sum(curvatures(x) * w**2) / 2
