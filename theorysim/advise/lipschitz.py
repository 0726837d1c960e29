"""How a model bends along a predicted path: how it would drift off, and Lipschitz constants.

At the predicted parameters the real model's outputs move at another velocity than the linearised
ones. The integral of the difference estimates how far the two are apart when they are trained
beside each other; that the distance itself changes both velocities is left out.

Constants are estimated by power iteration at the recorded points of the path, so they are the
largest that were met there: lower estimates of those on a ball, and no certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.advise.paths import LinearPath, slope_scale
from theorysim.advise.problem import Problem, slopes_of

ITERATIONS = 8
"""of the power method"""
SMALL = 1e-30


class Bends(NamedTuple):
    """For every pull and recorded step; constants are the largest up to that step."""

    gap: Float[np.ndarray, "pulls times"]
    """estimated distance of the outputs of both models, trained beside each other"""
    outputs: Float[np.ndarray, "pulls times"]
    """Lip(f): the operator norm of the Jacobian on all training inputs"""
    jacobian: Float[np.ndarray, "pulls times"]
    """Lip(grad f): how far the Jacobian moves, per distance of the parameters"""


def bends(
    problem: Problem,
    predicted: LinearPath,
    untuned: Float[np.ndarray, "n k"],
    pulls: Sequence[float],
    rate: float,
    seed: int = 0,
) -> Bends:
    """Along every predicted path; `untuned` are the outputs at its start."""
    subject, inputs = problem.subject, problem.train.inputs
    start = subject.params

    def outputs(params: Any) -> Array:
        return subject.batch(params, inputs)

    def at(parts: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        coefficients, slopes, pull = parts
        _, back = jax.vjp(outputs, start)
        (step,) = back(coefficients)
        there = jax.tree.map(jnp.add, start, step)
        _, back_there = jax.vjp(outputs, there)

        def velocity(at: Any, back: Any) -> Array:
            (pushed,) = back(slopes)
            return _push(outputs, at, jax.tree.map(lambda g, u: -g - pull * u, pushed, step))

        drift = velocity(there, back_there) - velocity(start, back)
        distance = jnp.sqrt(_square(step))
        slope = _norm(lambda u: _push(outputs, there, u), back_there, step, seed)

        def moved(u: Any) -> Array:
            return _push(outputs, there, u) - _push(outputs, start, u)

        def moved_back(v: Array) -> tuple[Any]:
            (a,), (b,) = back_there(v), back(v)
            return (jax.tree.map(jnp.subtract, a, b),)

        drift = jnp.sqrt(jnp.sum(drift**2))
        return drift, slope, _norm(moved, moved_back, step, seed) / jnp.maximum(distance, SMALL)

    lead, rows = predicted.coefficients.shape[:2], predicted.coefficients.shape[2:]
    told = (predicted.path.change + untuned).reshape(-1, *rows)
    targets, loss = problem.train.targets, problem.loss
    slopes = np.stack([slopes_of(one, targets, loss) for one in told])
    kind = jax.eval_shape(outputs, start).dtype
    parts = (
        jnp.asarray(predicted.coefficients.reshape(-1, *rows), kind),
        jnp.asarray(slopes * slope_scale(loss) / len(targets), kind),
        jnp.asarray(np.repeat(pulls, lead[1]), kind),
    )
    found = jax.jit(lambda parts: jax.lax.map(at, parts))(parts)
    drift, slope, bend = (np.asarray(part, float).reshape(lead) for part in found)
    return Bends(
        _integral(drift, rate * np.asarray(predicted.path.steps)),
        np.maximum.accumulate(slope, 1),
        np.maximum.accumulate(bend, 1),
    )


def _norm(push: Any, pull: Any, like: Any, seed: int) -> Array:
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


def _integral(
    drift: Float[np.ndarray, "pulls times"], time: Float[np.ndarray, " times"]
) -> Float[np.ndarray, "pulls times"]:
    """From time 0, where nothing drifts, by the rule of trapezia."""
    before = np.concatenate([np.zeros_like(drift[:, :1]), drift[:, :-1]], axis=1)
    return np.cumsum((drift + before) / 2 * np.diff(time, prepend=0.0), axis=1)


def _square(tree: Any) -> Array:
    return sum((jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)), jnp.zeros(()))


def _push(outputs: Any, at: Any, step: Any) -> Array:
    return jax.jvp(outputs, (at,), (step,))[1]
