"""Piecewise linear maps of a line through its origin: values, integrals, resolvents.

A map has two rows, for the positive and the negative half-line: the distances of its bends from the
origin in increasing order, then the slopes from the origin outwards, one more than bends. As a
gradient it belongs to the function `integral(map, w)`; as a proximal map, to the function that
`prox_value` gives at its outputs.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float


def _side(
    map: Float[Array, "2 parts"], w: Float[Array, "*points"]
) -> tuple[Float[Array, "*points bends"], Float[Array, "*points bends"]]:
    """Where the slope changes on the half-line of each point, the origin first, and by how much."""
    knots = map.shape[1] // 2
    row = jnp.where((w < 0)[..., None], map[1], map[0])
    bends = jnp.concatenate([jnp.zeros_like(row[..., :1]), row[..., :knots]], axis=-1)
    slopes = row[..., knots:]
    changes = jnp.concatenate([slopes[..., :1], jnp.diff(slopes, axis=-1)], axis=-1)
    return bends, changes


def evaluate(map: Float[Array, "2 parts"], w: Float[Array, "*points"]) -> Float[Array, "*points"]:
    """The map at any points of the line."""
    bends, changes = _side(map, w)
    beyond = jnp.maximum(jnp.abs(w)[..., None] - bends, 0)
    return jnp.sign(w) * jnp.sum(changes * beyond, axis=-1)


@jax.custom_jvp
def integral(map: Float[Array, "2 parts"], w: Float[Array, "*points"]) -> Float[Array, "*points"]:
    """The integral of the map from the origin to any points, whose gradient is the map.

    Automatic differentiation calls `evaluate`, at the bends, too: it differentiates no kink.
    """
    bends, changes = _side(map, w)
    beyond = jnp.maximum(jnp.abs(w)[..., None] - bends, 0)
    return jnp.sum(changes * beyond**2, axis=-1) / 2


def _slope(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Any]:
    """The integral and its derivative: along the points the map itself."""
    (map, w), (dmap, dw) = primals, tangents
    value = integral(map, w)
    along = jnp.zeros_like(value) if isinstance(dw, SymbolicZero) else evaluate(map, w) * dw
    if not isinstance(dmap, SymbolicZero):
        along += jax.jvp(lambda m: integral.fun(m, w), (map,), (dmap,))[1]
    return value, along


integral.defjvp(_slope, symbolic_zeros=True)


def resolvent(map: Float[Array, "2 parts"], step: Float[Array, ""]) -> Float[Array, "2 parts"]:
    """The map (I + step map)^-1, the proximal map of `step integral(map, w)`; slopes are >= 0."""
    knots = map.shape[1] // 2
    bends, slopes = map[:, :knots], map[:, knots:]
    signs = jnp.asarray([[1.0], [-1.0]], map.dtype)
    moved = bends + step * jnp.abs(evaluate(map, signs * bends))
    return jnp.concatenate([moved, 1 / (1 + step * slopes)], axis=1)


def prox_value(map: Float[Array, "2 parts"], z: Float[Array, "*points"]) -> Float[Array, "*points"]:
    """g(map(z)) of the closed convex g, g(0) = 0 its minimum, whose proximal map this is.

    Slopes are numbers of [0, 1]. g'(map(t)) = t - map(t), so that g(map(z)) integrates
    (t - map(t)) map'(t) from 0 to z; a slope of zero is a kink of g and adds nothing.
    """
    bends, changes = _side(map, w=z)
    ends = jnp.concatenate([bends[..., 1:], jnp.full_like(bends[..., :1], jnp.inf)], axis=-1)
    size = jnp.abs(z)[..., None]
    begin, end = jnp.minimum(bends, size), jnp.minimum(ends, size)
    signed = jnp.where(z < 0, -1, 1).astype(z.dtype)[..., None]
    below = (end - begin) * (end + begin) / 2
    area = integral(map, signed * end) - integral(map, signed * begin)
    return jnp.sum(jnp.cumsum(changes, axis=-1) * (below - area), axis=-1)
