"""Sums F = f + g on the half-line w >= 0 with F's minimiser at the origin, where F is zero.

In units of the start's distance R, f(w) = L R^2 (tilt w + phi(w)) with a slope tilt >= 0 and phi of
piecewise constant curvature in [mu / L, 1]; g is the indicator of w >= 0 plus a closed convex
function, given by its proximal map at steps 1 / L: any map with slopes in [0, 1], zero on w < 0.
`curved` and `proximal` blend both with zero.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl

Scalar = Float[Array, ""]


def space(*, steps: int = 5, **more) -> claims.Space:
    """Smooth convex functions with a nonsmooth part, and a start R > 0 on the half-line."""
    return claims.Space(
        steps=claims.Size(steps, high=30),
        knots=claims.Size(2, high=8),
        smoothness=claims.Real(0.1, 10, log=True),
        distance=claims.Real(0.1, 10, log=True),
        tilt=claims.Real(1e-3, 1, log=True),
        curved=claims.Extremal(0, 1),
        profile=claims.PiecewiseLinear("knots", 0, 1),
        proximal=claims.Extremal(0, 1),
        resolvent=claims.PiecewiseLinear("knots", 0, 1),
        **more,
    )


def smooth_part(x: claims.Instance) -> Callable[[Scalar], Scalar]:
    """f."""

    def f(w: Scalar) -> Scalar:
        w = w / x.distance
        curved = x.curved * pl.integral(x.profile, w)
        return x.smoothness * x.distance**2 * (x.tilt * w + curved)

    return f


def _map(x: claims.Instance) -> Float[Array, "2 parts"]:
    """The proximal map in units of R: slope 1 - proximal (1 - s) to the right, 0 to the left."""
    knots = x.resolvent.shape[1] // 2
    right = 1 - x.proximal * (1 - x.resolvent[0, knots:])
    return x.resolvent.at[:, knots:].set(jnp.stack([right, jnp.zeros_like(right)]))


def prox(x: claims.Instance, z: Scalar) -> Scalar:
    """The minimiser of g(w) + L (w - z)^2 / 2."""
    return x.distance * pl.evaluate(_map(x), z / x.distance)


def rough_value(x: claims.Instance, z: Scalar) -> Scalar:
    """g at prox(z)."""
    return x.smoothness * x.distance**2 * pl.prox_value(_map(x), z / x.distance)
