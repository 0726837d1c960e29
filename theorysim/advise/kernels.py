"""Tangent kernels of every group of parameters, on training inputs and from held-out ones to them.

Kernels of groups that are tuned together add up. They are computed in the precision of the model
and kept in double precision, as matrices over pairs (input, output).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.advise.problem import Problem, check_outputs, example_of, most_squared, slopes_of
from theorysim.advise.subject import Subject
from theorysim.errors import UsageError
from theorysim.memory import check_host
from theorysim.numerics.tangent_work import layer_ntks

PAIRS = 600
"""A Gram has at most so many rows, inputs times outputs, but two inputs; others are left out"""
HELD_OUT = 400
"""and a kernel so many held-out inputs"""


class Kernels(NamedTuple):
    """By group: `own` on the training inputs, `cross` from held-out inputs to these.

    `start` and `start_out` are the untuned model's outputs on both.
    """

    own: dict[str, Float[np.ndarray, "nk nk"]]
    cross: dict[str, Float[np.ndarray, "mk nk"]]
    start: Float[np.ndarray, "n k"]
    start_out: Float[np.ndarray, "m k"]

    def of(self, groups: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Both kernels of groups that are tuned together."""
        return sum(self.own[g] for g in groups), sum(self.cross[g] for g in groups)  # type: ignore


def kernels(problem: Problem) -> Kernels:
    """Of every group that may be tuned.

    Raises:
        UsageError: where they are not finite, all are zero, or nothing is left to learn.
    """
    subject = problem.subject
    inputs, others = problem.train.inputs, problem.test.inputs
    own = layer_ntks(subject.apply, subject.params, inputs)
    cross = layer_ntks(subject.apply, subject.params, others, inputs)
    outputs = jax.jit(subject.batch)
    found = Kernels(
        {group: matrix_of(own[group]) for group in subject.order},
        {group: matrix_of(cross[group]) for group in subject.order},
        np.asarray(outputs(subject.params, inputs), float),
        np.asarray(outputs(subject.params, others), float),
    )
    _check(found, problem)
    return found


def _check(found: Kernels, problem: Problem) -> None:
    check_outputs(found.start, problem.train.inputs, "training inputs")
    check_outputs(found.start_out, problem.test.inputs, "held-out inputs")
    for group in found.own:
        _check_finite(found, group, problem)
    if not any(np.any(gram) for gram in found.own.values()):
        raise UsageError(
            f"to first order the outputs do not depend on {', '.join(found.own)}, as behind a "
            "weight of zeros: start from other parameters, or tune more of them"
        )
    if not np.any(slopes_of(found.start, problem.train.targets, problem.loss)):
        raise UsageError("the untuned outputs are the targets: nothing is left to learn")


def _check_finite(found: Kernels, group: str, problem: Problem) -> None:
    """UsageError where a kernel is not, though outputs are: by NaN of a derivative, or by size."""
    gram, cross = found.own[group], found.cross[group]
    if np.isfinite(gram).all() and np.isfinite(cross).all():
        return
    rows = ((np.diag(gram), problem.train.inputs), (cross.max(axis=1), problem.test.inputs))
    for values, inputs in rows:
        odd = np.flatnonzero(np.isnan(values)) // problem.subject.outputs
        large = max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(inputs))
        if len(odd) and large < most_squared() and not np.isinf(gram).any():
            raise UsageError(
                f"the kernel of {group} is not finite: the outputs are, but not their derivatives, "
                f"at inputs such as {example_of(inputs, int(odd[0]))}, as of a root or a norm at 0"
            )
    raise UsageError(
        f"the kernel of {group} is not finite: inputs or parameters are too large, scale them to "
        "about 1"
    )


def fitting(problem: Problem, seed: int = 0, pairs: int = PAIRS) -> tuple[Problem, list[str]]:
    """The problem with as many examples as a Gram of `pairs` rows has, and what was left out.

    Raises:
        SizeError: where kernels of so many rows do not fit into memory.
    """
    outputs = problem.subject.outputs
    smaller = problem.some(max(2, pairs // outputs), seed)
    test = problem.test
    if len(test) > HELD_OUT:
        drawn = np.random.default_rng(seed).permutation(len(test))[:HELD_OUT]
        test = test.some(np.sort(drawn))
    _check_memory(problem.subject, len(smaller.train), len(test))
    notes = []
    if len(smaller.train) < len(problem.train):
        notes.append(
            f"kernels use {len(smaller.train)} of {len(problem.train)} training inputs, drawn at "
            f"random: {len(smaller.train)} x {outputs} outputs make {len(smaller.train) * outputs} "
            "rows (pairs=)"
        )
    if len(test) < len(problem.test):
        notes.append(f"predictions use {len(test)} of {len(problem.test)} held-out inputs")
    return Problem(smaller.subject, smaller.train, test, smaller.loss, smaller.notes), notes


def drawn_anew(problem: Problem, fitted: Problem, seed: int = 0) -> Problem | None:
    """What `fitting` made, with training examples that it left out, as far as there are so many.

    None where it left out none.
    """
    count = len(fitted.train)
    if count == len(problem.train):
        return None
    others = np.random.default_rng(seed).permutation(len(problem.train))[-count:]
    return replace(fitted, train=problem.train.some(np.sort(others)))


def _check_memory(subject: Subject, inputs: int, held_out: int) -> None:
    """Kernels of every group in double precision, once as computed and once as kept."""
    rows, more = inputs * subject.outputs, held_out * subject.outputs
    needed = 2 * 8 * len(subject.order) * rows * (rows + more)
    what = f"kernels of {len(subject.order)} groups with {rows} rows"
    check_host(needed, what, "pass a smaller number of rows (pairs=)")


def matrix_of(gram: Array) -> np.ndarray:
    """(n, m) or (n, m, k, k) as rows (input, output) by columns (input, output)."""
    array: Any = np.asarray(gram, float)
    if array.ndim == 2:
        return array
    n, m, k, _ = array.shape
    return array.transpose(0, 2, 1, 3).reshape(n * k, m * k)
