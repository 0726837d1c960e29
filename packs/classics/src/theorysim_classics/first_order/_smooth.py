"""Smooth convex functions with their minimiser at the origin, where they vanish.

In units of the start's distance R, f(w) = mu |w|^2 / 2 + (L - mu) R^2 (phi(w_0 / R) + psi(v / R))
with w = (w_0, v): phi is any function of one variable with piecewise constant curvature in [0, 1]
(quadratics, Huber functions, interpolants), psi the logarithm of a sum of exponentials of `width`
ridges, tau^2 log mean cosh(a_i v / tau) with |a_i| <= 1. All lie in the class of mu-convex and
L-smooth functions. `share` divides the start between both.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl

Vector = Float[Array, " d"]


def space(*, steps: int = 5, most: int = 30, **more) -> claims.Space:
    """Convex functions, L-smooth, and a start at a distance from the minimiser."""
    return claims.Space(
        steps=claims.Size(steps, high=most),
        knots=claims.Size(2, high=8),
        width=claims.Size(2, high=16),
        smoothness=claims.Real(0.1, 10, log=True),
        profile=claims.PiecewiseLinear("knots", 0, 1),
        ridges=claims.Real(-1, 1, shape=("width", "width")),
        temperature=claims.Real(0.01, 10, log=True),
        distance=claims.Real(0.1, 10, log=True),
        share=claims.Extremal(0, 1),
        direction=claims.UnitVector("width"),
        **more,
    )


def strongly_convex_space(*, steps: int = 5, most: int = 30, **more) -> claims.Space:
    """The same with mu-convex functions, `conditioning` = mu / L."""
    return space(steps=steps, most=most, conditioning=claims.Real(1e-3, 0.9, log=True), **more)


def start(x: claims.Instance) -> Vector:
    """A point at the given distance from the minimiser."""
    angle = x.share * jnp.pi / 2
    return x.distance * jnp.concatenate([jnp.cos(angle)[None], jnp.sin(angle) * x.direction])


def soft_ridges(
    v: Vector, ridges: Float[Array, "n d"], temperature: Float[Array, ""]
) -> Float[Array, ""]:
    """tau^2 log mean cosh(a_i v / tau), which is convex and 1-smooth."""
    slopes = ridges @ v / (temperature * jnp.sqrt(ridges.shape[1]))
    both = jnp.concatenate([slopes, -slopes])
    return temperature**2 * (jax.nn.logsumexp(both) - jnp.log(both.shape[0]))


def loss(x: claims.Instance, conditioning=0.0) -> Callable[[Vector], Float[Array, ""]]:
    """The function of an instance."""

    def f(w: Vector) -> Float[Array, ""]:
        w = w / x.distance
        curved = pl.integral(x.profile, w[0]) + soft_ridges(w[1:], x.ridges, x.temperature)
        quadratic = conditioning * jnp.sum(w**2) / 2
        return x.smoothness * x.distance**2 * (quadratic + (1 - conditioning) * curved)

    return f
