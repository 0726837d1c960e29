"""Making a counterexample small: round numbers, zeros, identities, as long as it still violates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from theorysim.claims.fields.arrays import DIGITS, round_to
from theorysim.claims.space import Space
from theorysim.errors import InstanceError

Values = dict[str, np.ndarray]

# Numbers tried in place of a coordinate, simplest first.
SIMPLE = (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0, 10.0, 0.1, 4.0, 5.0, 0.25, 0.2, 0.01, 100.0)
# Fields with more coordinates than this are simplified as a whole.
COORDINATES = 16
# A number that could not be simplified may be, once others are: so often it is tried again.
PASSES = 3

# `violates(candidates)` tells for each whether it is feasible and violated by enough.
Violates = Callable[[Sequence[Values]], np.ndarray]


def shrink(space: Space, sizes: Mapping[str, int], values: Values, violates: Violates) -> Values:
    """The simplest instance that coordinate and pair passes reach from a violating one."""
    for _ in range(PASSES):
        before = values
        for name in space.fields:
            values = _simplest(space, sizes, values, _whole(space, sizes, values, name), violates)
            if values[name].size <= COORDINATES:
                for index in np.ndindex(values[name].shape):
                    moves = _coordinate(values, name, index)
                    values = _simplest(space, sizes, values, moves, violates)
        values = _simplest(space, sizes, values, _pairs(space, values), violates)
        if all(np.array_equal(before[name], values[name]) for name in values):
            break
    return values


def _simplest(
    space: Space,
    sizes: Mapping[str, int],
    values: Values,
    moves: Iterator[Values],
    violates: Violates,
) -> Values:
    """The first (simplest) move that still violates; the old values where none does."""
    candidates = [move for move in moves if _belongs(space, sizes, move)]
    if not candidates:
        return values
    kept = np.flatnonzero(violates(candidates))
    return candidates[kept[0]] if len(kept) else values


def _belongs(space: Space, sizes: Mapping[str, int], values: Values) -> bool:
    try:
        for name, field in space.fields.items():
            field.check(name, values[name], sizes)
    except InstanceError:
        return False
    return True


def _coordinate(values: Values, name: str, index: tuple[int, ...]) -> Iterator[Values]:
    """One coordinate replaced by simpler numbers than it is now."""
    old = values[name]
    now = float(old[index])
    simple = [s for s in SIMPLE if s != now]
    if now in SIMPLE:
        simple = list(SIMPLE[: SIMPLE.index(now)])
        shorter: list[float] = []
    else:
        shorter = [float(round_to(now, digits)) for digits in DIGITS]
        shorter = shorter[: shorter.index(now)] if now in shorter else shorter
    for number in [*simple, *shorter]:
        if old.dtype.kind in "iu" and number != int(number):
            continue
        new = np.array(old)
        new[index] = number
        yield {**values, name: new}


def _whole(space: Space, sizes: Mapping[str, int], values: Values, name: str) -> Iterator[Values]:
    """A whole field replaced."""
    old = values[name]
    for new in space.fields[name].simpler(old, sizes):
        if np.array_equal(new, old):
            return
        yield {**values, name: new}


def _pairs(space: Space, values: Values) -> Iterator[Values]:
    """Two scalars set to the same simple number."""
    scalars = [
        name for name in space.fields if not values[name].ndim and values[name].dtype.kind == "f"
    ]
    for first in range(len(scalars)):
        for second in range(first + 1, len(scalars)):
            for number in (1.0, 2.0):
                pair = {scalars[first]: np.asarray(number), scalars[second]: np.asarray(number)}
                if not all(float(values[name]) in SIMPLE for name in pair):
                    yield {**values, **pair}
