"""A user's task in one form: training and held-out inputs, targets as rows, and the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from theorysim.advise.calls import NO_NUMBERS
from theorysim.advise.subject import Subject
from theorysim.errors import UsageError

Loss = Literal["squared", "cross-entropy"]
LOSSES = ("squared", "cross-entropy")

HELD_OUT = 0.25
"""this share of the examples is held out where the user holds out none"""
ROOM = 1e8
"""Squares of targets, and of the derivatives of their loss, leave so much for sums over examples"""
SHOWN = 4
"""so many numbers of an input are shown in a message"""
FEWEST = 8
"""so many examples are needed to train and to hold out"""

TINY = 1e-12

Rows: TypeAlias = Float[np.ndarray, "n k"]


@dataclass(frozen=True)
class Examples:
    """Inputs, stacked, and a row of targets each: numbers, or the class as a row with one 1."""

    inputs: PyTree[Array]
    targets: Float[np.ndarray, "n k"]

    def __len__(self) -> int:
        return len(self.targets)

    def count_inputs(self) -> int:
        """How many inputs there are: as many as targets, unless they do not belong together."""
        return _length(self.inputs)

    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of one input."""
        return [leaf.shape[1:] for leaf in jax.tree.leaves(self.inputs)]

    def some(self, which: np.ndarray) -> Examples:
        """These examples only."""
        return Examples(jax.tree.map(lambda a: a[which], self.inputs), self.targets[which])

    def followed_by(self, others: Examples) -> Examples:
        """These examples, then others of the same shapes."""
        inputs = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), self.inputs, others.inputs)
        return Examples(inputs, np.concatenate([self.targets, others.targets]))


@dataclass(frozen=True)
class Problem:
    """A model and the task for which it is tuned."""

    subject: Subject
    train: Examples
    test: Examples
    loss: Loss
    notes: tuple[str, ...]
    further: Examples | None = None
    """Where `train` are landmarks: training examples beside them that linearised models learn"""

    @cached_property
    def learnt(self) -> Examples:
        """What linearised models learn: the landmarks, then further examples."""
        return self.train if self.further is None else self.train.followed_by(self.further)

    def alone(self) -> Problem:
        """The same with nothing held out: its training examples stand for it."""
        return replace(self, test=self.train)

    def only(self, groups: tuple[str, ...]) -> Problem:
        """The same with these groups tuned alone."""
        return replace(self, subject=self.subject.only(groups))

    def with_landmarks(self, order: np.ndarray, landmarks: int, learnt: int) -> Problem:
        """The first so many training examples of an order as landmarks, the next as `further`."""
        train, further = (np.sort(part) for part in np.split(order[:learnt], [landmarks]))
        rest = self.train.some(further) if len(further) else None
        return replace(self, train=self.train.some(train), further=rest)


def as_inputs(inputs: Any, what: str = "inputs") -> PyTree[Array]:
    """Stacked inputs as arrays of JAX: floating-point numbers in its default precision.

    Raises:
        UsageError: for inputs without a common leading axis, with fewer than two of them, of a type
            that is no number, or not finite.
    """
    leaves, tree = jax.tree.flatten(inputs)
    arrays = [np.asarray(leaf) for leaf in leaves]
    if not arrays:
        raise UsageError(f"{what}: there are none")
    for array in arrays:
        if array.dtype.kind not in "iufb" and not jnp.issubdtype(array.dtype, jnp.floating):
            raise UsageError(f"{what} have type {array.dtype}: expected numbers")
    lengths = {array.shape[:1] for array in arrays}
    if len(lengths) != 1 or () in lengths or arrays[0].shape[0] < 2:
        if all(array.shape == () for array in arrays):
            raise UsageError(f"{what} hold single numbers only: give one array, stacked")
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise UsageError(f"{what} of shape {shapes}: expected two or more, along the first axis")
    for array in arrays:
        if array.dtype.kind not in "iub" and not np.isfinite(array.astype(float)).all():
            raise UsageError(f"{what} hold NaN or infinity: remove or replace these entries")
    return jax.tree.unflatten(tree, [jnp.asarray(_default(array, what)) for array in arrays])


def as_targets(targets: Any, what: str) -> np.ndarray:
    """Targets as one array of numbers.

    Raises:
        UsageError: for strings, other objects, or rows of unequal length.
    """
    try:
        given = np.asarray(targets)
    except ValueError:
        raise UsageError(f"{what} are rows of unequal length: expected one array") from None
    if given.dtype.kind in "US" or isinstance(next(iter(given.flat), None), str | bytes):
        raise UsageError(
            f"{what} are strings, such as {str(given.flat[0])!r}: number the classes 0, 1, ... "
            "(np.unique(targets, return_inverse=True)[1])"
        )
    if given.dtype.kind not in "iufb":
        if not jnp.issubdtype(given.dtype, jnp.floating):
            raise UsageError(f"{what} have type {given.dtype}: expected numbers, or classes 0, 1")
        given = given.astype(float)
    return given


def risk_name(loss: Loss) -> str:
    """What an answer calls the risk."""
    return "held-out cross-entropy" if loss == "cross-entropy" else "held-out squared error"


def caution(task: Problem) -> str:
    """What to beware of, in sentences.

    Training targets that are all of one class, which teaches little else; inputs that are given
    twice, among the training inputs or as held-out ones, too.
    """
    told, classes = "", np.unique(task.train.targets.argmax(1))
    if task.loss == "cross-entropy" and len(classes) == 1:
        told += (
            f" Beware: all {len(task.train)} training targets are of class {classes[0]}; give "
            "examples of the others, too."
        )
    if again := seen_before(task.test, task.train):
        told += (
            f" Beware: {again} of {len(task.test)} held-out inputs are training inputs, too, whose "
            "risk is not that of new inputs."
        )
    if twice := len(task.train) - len(set(_digests(task.train))):
        told += (
            f" Beware: {twice} of {len(task.train)} training inputs are given more than once, so "
            "that leave-one-out risk, and the examples that choose rate and steps, are of inputs "
            "that were learnt."
        )
    return told


def seen_before(examples: Examples, others: Examples) -> int:
    """How many inputs are, to the last digit, among those of others."""
    known = set(_digests(others))
    return sum(one in known for one in _digests(examples))


def _digests(examples: Examples) -> Iterator[bytes]:
    """Of every input."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(examples.inputs)]
    for i in range(len(examples)):
        yield blake2b(b"".join(leaf[i].tobytes() for leaf in leaves), digest_size=16).digest()


def _default(array: np.ndarray, what: str) -> np.ndarray:
    """In JAX's default precision; UsageError for numbers that are too large for it."""
    if array.dtype.kind == "b":
        return array
    whole = array.dtype.kind in "iu"
    kind = jax.dtypes.canonicalize_dtype(array.dtype if whole else jnp.result_type(float))
    limits = jnp.iinfo(kind) if whole else jnp.finfo(kind)
    size = array if whole else np.abs(array.astype(float))
    beyond = (size > limits.max) | (size < limits.min)
    if beyond.any():
        raise UsageError(
            f"{what} hold {array[beyond].flat[0]:.3g}: {kind} takes up to {limits.max:.3g}; scale "
            "them to about 1"
        )
    return array.astype(kind)


def check_outputs(outputs: np.ndarray, inputs: PyTree[Array], what: str) -> None:
    """UsageError with an input for which the model returns NaN or infinity."""
    odd = np.flatnonzero(~np.isfinite(outputs).reshape(len(outputs), -1).all(1))
    if len(odd):
        raise UsageError(
            f"the model returns NaN or infinity for {len(odd)} of {len(outputs)} {what}, such as "
            f"{example_of(inputs, int(odd[0]))}: {NO_NUMBERS}"
        )


def example_of(inputs: PyTree[Array], place: int) -> str:
    """The first numbers of an input, for a message."""
    numbers = np.concatenate([np.ravel(leaf[place]) for leaf in jax.tree.leaves(inputs)])
    shown = ", ".join(f"{number:.3g}" for number in numbers[:SHOWN])
    return f"[{shown}{', ...' if len(numbers) > SHOWN else ''}]"


def problem(
    subject: Subject,
    inputs: PyTree[Array],
    targets: Any,
    test: tuple[Any, Any] | None = None,
    loss: Loss | None = None,
    seed: int = 0,
    of: str | None = None,
) -> Problem:
    """The task in normal form.

    Args:
        subject: the model.
        inputs: as `as_inputs` gives them.
        targets: classes 0, 1, ... (integers) or numbers of the shape of the outputs.
        test: held-out inputs and targets; a quarter of the others unless given.
        loss: by the type of the targets unless given.
        seed: of what is held out.
        of: the argument that holds inputs and targets, if they are not arguments themselves.

    Raises:
        UsageError: for targets that do not fit, an unknown loss, or too few examples.
    """
    if loss is not None and loss not in LOSSES:
        raise UsageError(f"loss={loss!r}: expected one of {', '.join(LOSSES)}")
    notes = []
    name = "targets" if of is None else f"targets of {of}"
    given = as_targets(targets, name)
    kind: Loss = loss or ("cross-entropy" if given.dtype.kind in "iub" else "squared")
    rows = Examples(inputs, rows_of(given, _length(inputs), subject.outputs, kind, name))
    if test is None:
        order = np.random.default_rng(seed).permutation(len(rows))
        held = max(1, round(HELD_OUT * len(rows)))
        train, out = rows.some(np.sort(order[held:])), rows.some(np.sort(order[:held]))
        notes.append(f"{held} of {len(rows)} examples were held out at random (seed {seed})")
    else:
        train, out = rows, _held_out(test, inputs, subject.outputs, kind)
    if len(train) < FEWEST or len(out) < 2:
        raise UsageError(
            ("" if of is None else f"{of}: ")
            + f"{len(train)} training and {len(out)} held-out examples: needs {FEWEST} and 2"
            + (f"; give {FEWEST + 3} or more, of which {HELD_OUT:.0%} are held out, or test=")
        )
    return Problem(subject, train, out, kind, tuple(notes))


def _held_out(test: tuple[Any, Any], inputs: PyTree[Array], outputs: int, loss: Loss) -> Examples:
    """The examples of the argument `test`."""
    others = as_inputs(test[0], "inputs of test")
    check_alike(inputs, others, "inputs of test")
    given = as_targets(test[1], "targets of test")
    return Examples(others, rows_of(given, _length(others), outputs, loss, "targets of test"))


def _length(inputs: Any) -> int:
    return jax.tree.leaves(inputs)[0].shape[0]


def check_alike(inputs: Any, others: Any, what: str) -> None:
    """UsageError where inputs of two kinds are not of one shape; `what` are the others."""
    trees = [jax.tree.structure(tree) for tree in (inputs, others)]
    if trees[0] != trees[1]:
        raise UsageError(f"{what} are of the form {trees[1]}, inputs of {trees[0]}")
    ends = [[leaf.shape[1:] for leaf in jax.tree.leaves(tree)] for tree in (inputs, others)]
    if ends[0] != ends[1]:
        raise UsageError(f"{what} have shape {ends[1]}, inputs {ends[0]}")


def rows_of(
    given: np.ndarray, length: int, outputs: int, loss: Loss, what: str
) -> Float[np.ndarray, "n k"]:
    """Targets as rows of numbers, or of one 1 for a class; UsageError where they do not fit."""
    if given.shape[:1] != (length,):
        raise UsageError(f"{what} of shape {given.shape} for {length} inputs: one for each")
    if loss == "cross-entropy":
        return _classes(given, outputs, what)
    if given.size != length * outputs:
        raise UsageError(
            f"{what} of shape {given.shape}: the model has {outputs} outputs per input; classes "
            "are integers"
        )
    if not np.isfinite(given.astype(float)).all():
        raise UsageError(f"{what} hold NaN or infinity: remove these examples")
    return _with_room(given.astype(float), what).reshape(length, outputs)


def _with_room(given: np.ndarray, what: str) -> np.ndarray:
    """UsageError for numbers whose squares are too large for JAX's default precision."""
    most, largest = most_squared(), float(np.abs(given).max(initial=0))
    if largest > most:
        raise UsageError(
            f"{what} hold {largest:.3g}: at most {most:.3g} in size, for {jnp.result_type(float)} "
            "holds no squares of larger ones; divide them by their standard deviation"
        )
    return given


def most_squared() -> float:
    """The largest number whose square leaves `ROOM` in JAX's default precision."""
    return float(np.sqrt(jnp.finfo(jnp.result_type(float)).max / ROOM))


def _classes(given: np.ndarray, outputs: int, what: str) -> np.ndarray:
    if outputs < 2:
        raise UsageError(
            f"{what} are classes, but the model has one output: give it one per class, or targets "
            "-1.0 and 1.0"
        )
    if given.ndim != 1 or given.dtype.kind not in "iub":
        raise UsageError(f"{what} of shape {given.shape} and type {given.dtype}: expected classes")
    classes = given.astype(int)
    beyond = classes[(classes < 0) | (classes >= outputs)]
    if len(beyond):
        raise UsageError(
            f"{what} hold class {beyond[0]}: the model's {outputs} outputs stand for classes 0 to "
            f"{outputs - 1}"
        )
    return np.eye(outputs)[classes]


def losses_of(
    outputs: Float[np.ndarray, "n k"], targets: Float[np.ndarray, "n k"], loss: Loss
) -> Float[np.ndarray, " n"]:
    """The loss of every example: the summed squared error, or the cross-entropy."""
    if loss == "squared":
        return np.sum((outputs - targets) ** 2, axis=1)
    highest = outputs.max(axis=1, keepdims=True)
    log_sum = highest[:, 0] + np.log(np.sum(np.exp(outputs - highest), axis=1))
    return log_sum - np.sum(outputs * targets, axis=1)


def batch_loss(outputs: Array, targets: Array, loss: Loss) -> Array:
    """The same in JAX, for training."""
    if loss == "squared":
        return jnp.sum((outputs - targets) ** 2, axis=-1)
    return jax.nn.logsumexp(outputs, axis=-1) - jnp.sum(outputs * targets, axis=-1)


def slopes_of(
    outputs: Float[np.ndarray, "n k"], targets: Float[np.ndarray, "n k"], loss: Loss
) -> Float[np.ndarray, "n k"]:
    """outputs - targets, or the predicted chances less the classes: what training pulls at."""
    if loss == "squared":
        return outputs - targets
    shifted = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True) - targets


def rank_correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's; 0 where one side does not vary: it ranks nothing."""
    from scipy.stats import rankdata

    a, b = (rankdata(side) - (len(side) + 1) / 2 for side in (left, right))
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > TINY else 0.0
