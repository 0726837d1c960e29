"""Tangent kernels of every group of parameters, on training inputs and from held-out ones to them.

Kernels of groups that are tuned together add up. They are computed in the precision of the model
and kept in double precision, as matrices over pairs (input, output). Of many training inputs some
are landmarks, of which kernels have columns; further ones have rows only (`kernel_fits`).
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
"""A Gram has at most so many rows, inputs times outputs, but two inputs: the landmarks"""
LEARNT = 5
"""so many times as many training inputs as landmarks are learnt from"""
FEW = 20
"""An answer from fewer landmarks, where there are more inputs, says so"""
HELD_OUT = 400
"""Kernels have rows for at most so many held-out inputs"""


class Kernels(NamedTuple):
    """By group: `tall` from the inputs that are learnt to the landmarks, `cross` from others.

    Landmarks come first among what is learnt: m of n. `start_all` and `start_out` are the untuned
    model's outputs on what is learnt and on what is held out.
    """

    landmarks: int
    tall: dict[str, Float[np.ndarray, "nk mk"]]
    cross: dict[str, Float[np.ndarray, "hk mk"]]
    start_all: Float[np.ndarray, "n k"]
    start_out: Float[np.ndarray, "h k"]

    @property
    def own(self) -> dict[str, Float[np.ndarray, "mk mk"]]:
        """By group: the Gram of the landmarks."""
        return {group: tall[: tall.shape[1]] for group, tall in self.tall.items()}

    @property
    def start(self) -> Float[np.ndarray, "m k"]:
        """The untuned model's outputs on the landmarks."""
        return self.start_all[: self.landmarks]

    def of(self, groups: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The Gram, and the kernel of held-out inputs, of groups that are tuned together."""
        tall = self.tall_of(groups)
        return tall[: tall.shape[1]], sum(self.cross[g] for g in groups)  # type: ignore

    def tall_of(self, groups: tuple[str, ...]) -> np.ndarray:
        """The kernel from what is learnt to the landmarks."""
        return sum(self.tall[g] for g in groups)  # type: ignore


def kernels(problem: Problem) -> Kernels:
    """Of every group that may be tuned.

    Raises:
        UsageError: where they are not finite, all are zero, or nothing is left to learn.
    """
    subject, learnt = problem.subject, problem.learnt.inputs
    landmarks, held_out = problem.train.inputs, problem.test.inputs
    columns = None if problem.further is None else landmarks
    tall = layer_ntks(subject.apply, subject.params, learnt, columns)
    rows = {group: matrix_of(tall[group]) for group in subject.order}
    if problem.test is problem.train:
        cross = {group: part[: part.shape[1]] for group, part in rows.items()}
    else:
        away = layer_ntks(subject.apply, subject.params, held_out, landmarks)
        cross = {group: matrix_of(away[group]) for group in subject.order}
    outputs = jax.jit(subject.batch)
    found = Kernels(
        len(problem.train),
        rows,
        cross,
        np.asarray(outputs(subject.params, learnt), float),
        np.asarray(outputs(subject.params, held_out), float),
    )
    _check(found, problem)
    return found


def _check(found: Kernels, problem: Problem) -> None:
    check_outputs(found.start_all, problem.learnt.inputs, "training inputs")
    check_outputs(found.start_out, problem.test.inputs, "held-out inputs")
    for group in found.tall:
        _check_finite(found, group, problem)
    if not any(np.any(gram) for gram in found.own.values()):
        raise UsageError(
            f"to first order the outputs do not depend on {', '.join(found.tall)}, as behind a "
            "weight of zeros: start from other parameters, or tune more of them"
        )
    if not np.any(slopes_of(found.start_all, problem.learnt.targets, problem.loss)):
        raise UsageError("the untuned outputs are the targets: nothing is left to learn")


def _check_finite(found: Kernels, group: str, problem: Problem) -> None:
    """UsageError where a kernel is not, though outputs are: by NaN of a derivative, or by size."""
    tall, cross = found.tall[group], found.cross[group]
    if np.isfinite(tall).all() and np.isfinite(cross).all():
        return
    gram = found.own[group]
    rows = (
        (np.diag(gram), problem.train.inputs),
        (tall.max(axis=1), problem.learnt.inputs),
        (cross.max(axis=1), problem.test.inputs),
    )
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


def fitting(
    problem: Problem, seed: int = 0, pairs: int = PAIRS, learnt: int = LEARNT
) -> tuple[Problem, list[str]]:
    """The problem with as many landmarks as a Gram of `pairs` rows has, and what was left out.

    Args:
        problem: the whole problem.
        seed: of the draw of landmarks.
        pairs: rows of the Gram, inputs times outputs.
        learnt: so many times as many training inputs as landmarks are learnt.

    Raises:
        SizeError: where kernels of so many rows do not fit into memory.
    """
    outputs = problem.subject.outputs
    smaller, test = landmarked(problem, seed, pairs, learnt), problem.test
    if len(test) > HELD_OUT:
        drawn = np.random.default_rng(seed).permutation(len(test))[:HELD_OUT]
        test = test.some(np.sort(drawn))
    notes, landmarks = [], len(smaller.train)
    if landmarks < len(problem.train):
        told = (
            f"kernels use {landmarks} of {len(problem.train)} training inputs, drawn at random: "
            f"{landmarks} x {outputs} outputs make {landmarks * outputs} rows (pairs=)"
        )
        if smaller.further is not None:
            told += (
                f"; linearised models move parameters as these {landmarks} can, and learn "
                f"{len(smaller.learnt)} inputs"
            )
        notes.append(told)
    if len(test) < len(problem.test):
        notes.append(f"predictions use {len(test)} of {len(problem.test)} held-out inputs")
    return replace(smaller, test=test), notes


def landmarked(problem: Problem, seed: int, pairs: int, learnt: int = LEARNT) -> Problem:
    """With so many landmarks as `fitting` says, and times as many examples learnt.

    Raises:
        SizeError: where kernels of so many rows do not fit into memory.
    """
    whole = len(problem.train)
    count = min(_landmarks(problem.subject.outputs, pairs), whole)
    held_out = min(len(problem.test), HELD_OUT)
    _check_memory(problem.subject, count, min(learnt * count, whole), held_out)
    if count == whole:
        return problem
    order = np.random.default_rng(seed).permutation(whole)
    return problem.with_landmarks(order, count, learnt * count)


def few_landmarks(problem: Problem, pairs: int, of: str = "kernels") -> str:
    """A sentence where what parameters can do is judged by few of many training examples."""
    examples, outputs = len(problem.train), problem.subject.outputs
    landmarks = _landmarks(outputs, pairs)
    if landmarks >= min(examples, FEW):
        return ""
    return (
        f" Beware: {of} have {landmarks} landmarks only, of {examples} training inputs, and errors "
        f"do not count their draw; {FEW} take pairs={FEW * outputs} (--pairs)."
    )


def _landmarks(outputs: int, pairs: int) -> int:
    return max(2, pairs // outputs)


def drawn_anew(problem: Problem, fitted: Problem, seed: int = 0) -> Problem | None:
    """What `fitting` made, with landmarks that it left out, as far as there are so many.

    None where it left out none.
    """
    landmarks, learnt = len(fitted.train), len(fitted.learnt)
    if landmarks == len(problem.train):
        return None
    order = np.random.default_rng(seed).permutation(len(problem.train))[::-1]
    return replace(problem.with_landmarks(order, landmarks, learnt), test=fitted.test)


def _check_memory(subject: Subject, landmarks: int, learnt: int, held_out: int) -> None:
    """Kernels of every group in double precision, once as computed and once as kept."""
    rows, more = landmarks * subject.outputs, (learnt + held_out) * subject.outputs
    needed = 2 * 8 * len(subject.order) * rows * more
    what = f"kernels of {len(subject.order)} groups with {rows} rows"
    check_host(needed, what, "pass a smaller number of rows (pairs=)")


def matrix_of(gram: Array) -> np.ndarray:
    """(n, m) or (n, m, k, k) as rows (input, output) by columns (input, output)."""
    array: Any = np.asarray(gram, float)
    if array.ndim == 2:
        return array
    n, m, k, _ = array.shape
    return array.transpose(0, 2, 1, 3).reshape(n * k, m * k)
