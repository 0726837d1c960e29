"""Sources that answer another question: their last layer has another number of outputs.

A new head is drawn like the old one. What a source teaches the rest of the network is predicted by
one kernel of both models side by side: they share all parameters but the head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.advise.kernels import matrix_of
from theorysim.advise.problem import Loss, Problem
from theorysim.advise.subject import Params, Subject
from theorysim.errors import UsageError
from theorysim.numerics.tangent_work import layer_ntks

SOURCE_HEAD = "head of the source"


def outputs_needed(targets: np.ndarray, loss: Loss) -> int:
    """How many outputs a task has: one for each class, or for each number of a row."""
    if loss == "squared":
        return int(np.prod(targets.shape[1:], dtype=int))
    return max(2, int(targets.max()) + 1) if targets.size and targets.dtype.kind in "iub" else 2


def with_head(found: Subject, head: str, outputs: int, x: Any, seed: int) -> Subject:
    """The model with a head of so many outputs, drawn like the old one.

    Args:
        found: the model.
        head: its group that is replaced.
        outputs: how many it shall have.
        x: an input.
        seed: of the draw.

    Raises:
        UsageError: where no change of the group's shapes gives so many outputs.
    """
    for shapes in _shapes(found, head, outputs):
        like = {**found.params, head: {p: jnp.zeros(s) for p, s in shapes.items()}}
        try:
            count = jax.eval_shape(found.apply, like, x).size
        except Exception:  # whatever a user's model raises at shapes that do not fit
            continue
        if count == outputs:
            rng = np.random.default_rng((seed, outputs))
            drawn = {p: _like(found.params[head][p], s, rng) for p, s in shapes.items()}
            return replace(found, params={**found.params, head: drawn}, outputs=outputs)
    raise UsageError(
        f"the model cannot be given {outputs} outputs by its group {head} alone (it has "
        f"{found.outputs}): name another as head=, or replace the head yourself"
    )


def _shapes(found: Subject, head: str, outputs: int) -> Iterator[dict[str, tuple[int, ...]]]:
    """Shapes of the head with one axis of each leaf, or none, grown from the old outputs."""
    choices = []
    for leaf in found.params[head].values():
        axes = [axis for axis, size in enumerate(leaf.shape) if size == found.outputs]
        choices.append([*axes, None])
    for axes in product(*choices):
        yield {
            path: tuple(outputs if i == axis else size for i, size in enumerate(leaf.shape))
            for (path, leaf), axis in zip(found.params[head].items(), axes)
        }


def _like(leaf: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    values = float(leaf.mean()) + float(leaf.std()) * rng.standard_normal(shape)
    return jnp.asarray(values, leaf.dtype)


def rest_of(params: Params, head: str, own: Params) -> Params:
    """A source's parameters with the target's head."""
    return {**params, head: own[head]}


def cross_kernels(
    found: Subject, head: str, inputs: Any, source: Problem
) -> tuple[np.ndarray, np.ndarray]:
    """Kernels of the model with another head, on a source, and from the target to the source.

    Args:
        found: the model with the target's head.
        head: the group in which `source.subject`, the model with the source's head, differs.
        inputs: stacked inputs of the target.
        source: the source's task, and its landmarks.

    Returns:
        The kernel from what is learnt of the source to its landmarks; that of `found`'s outputs on
        the inputs of the target to them.
    """
    other = source.subject
    k, total = found.outputs, found.outputs + other.outputs
    params = {**found.params, SOURCE_HEAD: other.params[head]}

    def both(params: Params, x: Any) -> Array:
        own = {group: params[group] for group in found.params}
        away = {**own, head: params[SOURCE_HEAD]}
        return jnp.concatenate([found.apply(own, x), other.apply(away, x)])

    def side(count: int, source_side: bool) -> np.ndarray:
        at = np.arange(count * total) % total
        return np.flatnonzero(at >= k if source_side else at < k)

    landmarks = source.train
    own = layer_ntks(other.apply, other.params, source.learnt.inputs, landmarks.inputs)
    tall = sum((matrix_of(own[group]) for group in other.params), np.zeros(()))
    parts = layer_ntks(both, params, inputs, landmarks.inputs)
    crossed = sum((matrix_of(parts[group]) for group in params), np.zeros(()))
    count = jax.tree.leaves(inputs)[0].shape[0]
    return tall, crossed[np.ix_(side(count, False), side(len(landmarks), True))]
