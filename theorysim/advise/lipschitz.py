"""How a model bends along a predicted path: its real outputs there, and Lipschitz constants.

Constants are estimated by power iteration at the start and at the recorded points of the path, so
they are the largest that were met there: lower estimates of those on a ball, and no certificate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.advise.paths import LinearPath
from theorysim.advise.problem import Problem

ITERATIONS = 8
"""of the power method"""
SMALL = 1e-30


class Bends(NamedTuple):
    """For every pull and recorded step; constants are the largest up to that step."""

    gap: Float[np.ndarray, "pulls times"]
    """distance of the real outputs from the linearised ones, at the linearised parameters"""
    outputs: Float[np.ndarray, "pulls times"]
    """Lip(f): the operator norm of the Jacobian on all training inputs"""
    jacobian: Float[np.ndarray, "pulls times"]
    """Lip(grad f): how far the Jacobian moves, per distance of the parameters"""


def bends(problem: Problem, predicted: LinearPath, seed: int = 0) -> Bends:
    """Along every predicted path."""
    subject, inputs = problem.subject, problem.train.inputs
    start = subject.params

    def outputs(params: Any) -> Array:
        return subject.batch(params, inputs)

    def at(parts: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        coefficients, change = parts
        first, pull = jax.vjp(outputs, start)
        (step,) = pull(coefficients)
        there = jax.tree.map(jnp.add, start, step)
        gap = jnp.sqrt(jnp.sum((outputs(there) - first - change) ** 2))
        distance = jnp.sqrt(_square(step))
        slope = _norm(lambda u: _push(outputs, there, u), jax.vjp(outputs, there)[1], step)

        def moved(u: Any) -> Array:
            return _push(outputs, there, u) - _push(outputs, start, u)

        def moved_back(v: Array) -> tuple[Any]:
            (a,), (b,) = jax.vjp(outputs, there)[1](v), jax.vjp(outputs, start)[1](v)
            return (jax.tree.map(jnp.subtract, a, b),)

        return gap, slope, _norm(moved, moved_back, step) / jnp.maximum(distance, SMALL)

    def _norm(push: Any, pull: Any, like: Any) -> Array:
        """The largest singular value of a linear map, by the power method from a random vector."""
        key = jax.random.key(seed)
        leaves, tree = jax.tree.flatten(like)
        keys = jax.random.split(key, len(leaves))
        drawn = [jax.random.normal(k, leaf.shape, leaf.dtype) for k, leaf in zip(keys, leaves)]

        def step(_: Any, u: Any) -> Any:
            size = jnp.sqrt(_square(u))
            (back,) = pull(push(jax.tree.map(lambda a: a / jnp.maximum(size, SMALL), u)))
            return back

        end = jax.lax.fori_loop(0, ITERATIONS, step, jax.tree.unflatten(tree, drawn))
        return jnp.sqrt(jnp.sqrt(_square(end)))

    pulls, times, n, k = predicted.coefficients.shape
    kind = jax.eval_shape(outputs, start).dtype
    flat = [
        jnp.asarray(part.reshape(pulls * times, n, k), kind)
        for part in (predicted.coefficients, predicted.path.change)
    ]
    found = jax.jit(lambda parts: jax.lax.map(at, parts))(tuple(flat))
    gap, slope, bend = (np.asarray(part, float).reshape(pulls, times) for part in found)
    return Bends(gap, np.maximum.accumulate(slope, 1), np.maximum.accumulate(bend, 1))


def _square(tree: Any) -> Array:
    return sum((jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)), jnp.zeros(()))


def _push(outputs: Any, at: Any, step: Any) -> Array:
    return jax.jvp(outputs, (at,), (step,))[1]
