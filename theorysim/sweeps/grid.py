"""The grid of a sweep: named axes, zipped axes, static sizes and seeds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from theorysim.errors import UsageError
from theorysim.sweeps.statistics import NO_STATISTICS, Statistics

SEED = "seed"
KEY = "key"

# Positions along an axis are 32-bit integers, which JAX has with and without x64.
LONGEST = 2**31 - 1


@dataclass(frozen=True)
class Axis:
    """A dimension of the grid and the arguments that vary along it (several for a zipped axis)."""

    name: str
    columns: Mapping[str, np.ndarray]

    @property
    def length(self) -> int:
        """Number of positions."""
        return len(next(iter(self.columns.values())))

    def coordinates(self) -> dict[str, tuple[str, np.ndarray]]:
        """What labels the positions; a column of vectors labels nothing."""
        return {name: (self.name, c) for name, c in self.columns.items() if c.ndim == 1}


@dataclass(frozen=True)
class Seeds:
    """How many seeds each point gets, and how their keys are made.

    Key s is `fold_in(jax.random.key(seed), s)` at every point (common random numbers: noise does
    not hide differences between points), or, `independent`, is folded in addition with the
    index of the sizes and the index of the point.
    """

    count: int
    seed: int = 0
    independent: bool = False
    statistics: Statistics = NO_STATISTICS

    def __post_init__(self):
        if not 1 <= self.count <= LONGEST:
            raise UsageError(f"{self.count} seeds: expected 1 to {LONGEST}")
        if self.count < 2 and "standard_error" in self.statistics.names:
            raise UsageError("a standard error needs at least 2 seeds")

    def key(self, index: Int[Array, ""], sizes: int, point: Int[Array, ""]) -> Key[Array, ""]:
        """The key of a cell."""
        key = jax.random.key(self.seed)
        if self.independent:
            key = jax.random.fold_in(jax.random.fold_in(key, sizes), point)
        return jax.random.fold_in(key, index)


@dataclass(frozen=True)
class Grid:
    """Static sizes (outermost, one compilation for each of their combinations), axes and seeds."""

    sizes: tuple[Axis, ...]
    axes: tuple[Axis, ...]
    seeds: Seeds | None

    @property
    def keeps_seeds(self) -> bool:
        """Whether the seeds are an axis, because no statistics replace them."""
        return self.seeds is not None and not self.seeds.statistics

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the traced axes, seeds last."""
        lengths = tuple(axis.length for axis in self.axes)
        return (*lengths, self.seeds.count) if self.seeds and self.keeps_seeds else lengths

    @property
    def size_shape(self) -> tuple[int, ...]:
        """Lengths of the axes of sizes."""
        return tuple(axis.length for axis in self.sizes)

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of all dimensions: sizes, axes, seeds."""
        names = tuple(axis.name for axis in (*self.sizes, *self.axes))
        return (*names, SEED) if self.keeps_seeds else names

    def combinations(self) -> list[dict[str, int]]:
        """The sizes of each compilation, in the order of their index."""
        positions = itertools.product(*(range(axis.length) for axis in self.sizes))
        return [
            {
                name: int(column[position])
                for axis, position in zip(self.sizes, combination)
                for name, column in axis.columns.items()
            }
            for combination in positions
        ]

    def columns(self) -> tuple[dict[str, np.ndarray], ...]:
        """The values of the arguments along each traced axis."""
        return tuple(dict(axis.columns) for axis in self.axes)

    def point_index(self, position: tuple[Int[Array, ""], ...]) -> Int[Array, ""]:
        """The index of a point among all points of its sizes, in C order (modulo 2^32)."""
        index = jnp.zeros((), jnp.uint32)
        for place, axis in zip(position, self.axes):
            index = index * jnp.uint32(axis.length) + place.astype(jnp.uint32)
        return index


def grid(
    axes: Mapping[str, Any],
    sizes: Mapping[str, Any],
    seeds: Seeds | None,
) -> Grid:
    """A checked grid.

    Args:
        axes: values by argument name; a mapping as value is a zipped axis of that name.
        sizes: lists of integers by argument name; a mapping as value zips them.

    Raises:
        UsageError: for an empty axis, a position given twice, zipped columns of different lengths,
            a name given twice, values that are not numbers, sizes that are not integers.
    """
    outer = tuple(_axis(name, values) for name, values in sizes.items())
    inner = tuple(_axis(name, values) for name, values in axes.items())
    for axis in outer:
        for name, column in axis.columns.items():
            if column.dtype.kind not in "iu" or column.ndim > 1:
                raise UsageError(f"size {name!r}: expected integers, but {column.tolist()} arrived")
    names = [name for axis in (*outer, *inner) for name in {axis.name, *axis.columns}]
    names += [SEED, KEY] if seeds else []
    for name in names:
        if "/" in name:
            raise UsageError(f"axis {name!r}: a name must not contain a slash")
        if names.count(name) > 1:
            raise UsageError(f"{name!r} is given twice: names of axes and arguments must differ")
    return Grid(outer, inner, seeds)


def _axis(name: str, values: Any) -> Axis:
    columns = values if isinstance(values, Mapping) else {name: values}
    if not columns:
        raise UsageError(f"the zipped axis {name!r} has no columns")
    arrays = {column: _column(column, given) for column, given in columns.items()}
    lengths = {column: len(array) for column, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise UsageError(f"the zipped axis {name!r} has columns of different lengths: {lengths}")
    axis = Axis(name, arrays)
    _refuse_repeated(axis)
    return axis


def _refuse_repeated(axis: Axis) -> None:
    """Refuse an axis on which a position comes twice: a label would name two points."""
    entries = [np.ascontiguousarray(c + 0).reshape(axis.length, -1) for c in axis.columns.values()]
    if not all(part.shape[1] for part in entries):
        return
    raw = np.concatenate([part.view(np.uint8).reshape(axis.length, -1) for part in entries], axis=1)
    whole = np.ascontiguousarray(raw).view(np.dtype((np.void, raw.shape[1])))[:, 0]
    _, first = np.unique(whole, return_index=True)
    if len(first) < axis.length:
        place = min(set(range(axis.length)) - set(first.tolist()))
        values = {name: column[place].tolist() for name, column in axis.columns.items()}
        raise UsageError(f"axis {axis.name!r}: {values} is given twice; leave one out")


def _column(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "biufc":
        raise UsageError(f"axis {name!r}: expected numbers, but {array.dtype} arrived")
    if array.ndim < 1 or not 1 <= len(array) <= LONGEST:
        raise UsageError(
            f"axis {name!r}: expected a list of 1 to {LONGEST} values, but shape {array.shape} "
            "arrived; bind a constant with functools.partial"
        )
    return array
