"""Sources that answer another question: their last layer has another number of outputs.

A new head is drawn like the old one. What a source teaches the rest of the network moves the
target's outputs to first order: both models share all parameters but the head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.advise.problem import Loss, Problem, Rows
from theorysim.advise.subject import Params, Subject
from theorysim.errors import UsageError


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
            if len(found.params) == 1:
                raise UsageError(
                    f"the group {head} is the whole model, so that with a head of {outputs} "
                    "outputs nothing is shared: make the last layer a group of its own (groups=)"
                )
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


def taught(
    found: Subject, head: str | None, source: Problem, coefficients: Rows, inputs: Any
) -> Float[np.ndarray, "n k"]:
    """By what the outputs for a target change, to first order, when a source is learnt.

    The source moves the parameters by J^T c; what both tasks share moves the target's outputs.

    Args:
        found: the model with the target's head.
        head: the group that the source has of its own, if any: what it learns there stays there.
        source: the source's task, and its landmarks.
        coefficients: c, a row for each landmark.
        inputs: stacked inputs of the target.
    """
    other = source.subject
    pull = jax.vjp(lambda p: other.batch(p, source.train.inputs), other.params)[1]
    (step,) = pull(jnp.asarray(coefficients, float))
    along = {g: _still(p) if g == head else step[g] for g, p in found.params.items()}
    return np.asarray(_pushed(found, along, inputs), float)


def _still(params: Any) -> Any:
    return jax.tree.map(jnp.zeros_like, params)


def _pushed(found: Subject, along: Params, inputs: Any) -> Array:
    """The derivative of the outputs along a step of the parameters."""
    return jax.jvp(lambda p: found.batch(p, inputs), (found.params,), (along,))[1]
