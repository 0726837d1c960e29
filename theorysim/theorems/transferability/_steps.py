"""Steps of fine-tuning, split by the units whose pattern may change.

Proof of Theorem 3 and Eq. 37 of Liu et al. (2019). S_i are the units with |<w_r(0), x_i>| > R, I_1
and I_2 the parts of u(k+1) - u(k) that come from S_i and from the rest.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Steps(NamedTuple):
    """Of every step of fine-tuning; `near` counts the units that are not in S_i."""

    residual: Float[Array, "times_plus_1 q"]
    i_1: Float[Array, "times q"]
    i_2: Float[Array, "times q"]
    near: Float[Array, " q"]
    gram: Float[Array, "times q q"]
    perp: Float[Array, "times q q"]
    room: Float[Array, ""]
    """R minus the largest movement: where it is above 0, patterns change within `near` only"""


def simulate(x: claims.Instance, key) -> Steps:
    path = training.paths(x, training.started(x, key))
    inputs, first = problem.target(x).inputs, path.source[0]
    values = jnp.matmul(path.target, inputs.T, precision=problem.HIGHEST)
    moved = jnp.linalg.norm(path.target - first, axis=-1)
    radius = x.radius_share * jnp.max(moved)
    near = (jnp.abs(dot(first, inputs.T)) <= radius).astype(float)
    steps = path.signs[:, None] * jnp.diff(jnp.maximum(values, 0), axis=0) / jnp.sqrt(x.width)
    pattern = training.active(path.target[:-1], inputs)
    residual = x.target_labels - training.outputs(path.target, path.signs, inputs)

    def gram(units):
        both = jnp.einsum("tri,trj->tij", units * pattern, pattern, precision=problem.HIGHEST)
        return dot(inputs, inputs.T) / x.width * both

    return Steps(
        residual=residual,
        i_1=jnp.sum((1 - near) * steps, axis=1),
        i_2=jnp.sum(near * steps, axis=1),
        near=jnp.sum(near, axis=0),
        gram=gram(jnp.ones_like(near)),
        perp=gram(near),
        room=radius - jnp.max(moved),
    )


def before(r: claims.Run) -> Float[Array, "times q"]:
    """y_Q - u_Q(k), before each step."""
    return r.sim.residual[:-1]


def times(
    matrices: Float[Array, "times q q"], vectors: Float[Array, "times q"]
) -> Float[Array, "times q"]:
    """Matrix times vector, step by step."""
    return jnp.einsum("tij,tj->ti", matrices, vectors, precision=problem.HIGHEST)


def changed(r: claims.Run) -> Float[Array, "times q"]:
    """u(k+1) - u(k)."""
    return -jnp.diff(r.sim.residual, axis=0)
