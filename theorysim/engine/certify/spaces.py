"""The instances of a space as enclosures: one instance exactly, or a box of them.

A float of an instance stands for the decimal that it is printed as where that has at most eight
digits, else for its own bits. A unit vector is the printed vector divided by its length and an
orthogonal matrix the printed one after Gram-Schmidt on its rows, so that both are exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from theorysim.claims.fields import (
    Choice,
    Field,
    Integer,
    Ordered,
    Orthogonal,
    Real,
    Spectrum,
    UnitVector,
    extent,
)
from theorysim.claims.instance import Instance, field_values
from theorysim.claims.space import Space
from theorysim.enclosures.arrays import filled
from theorysim.enclosures.balls import arb, exact_number, short_decimal
from theorysim.enclosures.boxes import Coordinate
from theorysim.enclosures.interpreter import Machine
from theorysim.errors import InstanceError, UsageError

# So many combinations of integers and choices are certified side by side; more need a smaller box.
MOST_COMBINATIONS = 256


def enclosed(machine: Machine, field: Field, value: Any) -> np.ndarray:
    """A field's value as exactly as the current precision allows; integers as they are."""
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        return array
    numbers = array.ravel().tolist()
    if isinstance(field, (UnitVector, Orthogonal)):
        balls = filled([arb(exact_number(number)) for number in numbers], array.shape)
        made = _orthonormal(balls) if isinstance(field, Orthogonal) else _normalised(balls)
        return filled([machine.arithmetic.lift(ball) for ball in made.flat], array.shape)
    return filled([_number(machine, number) for number in numbers], array.shape)


def _number(machine: Machine, number: float) -> Any:
    if short_decimal(number) is not None:
        return machine.decimal(number)
    return machine.arithmetic.lift(arb(exact_number(number)))


def _normalised(vector: np.ndarray) -> np.ndarray:
    return vector / np.sum(vector * vector).sqrt()


def _orthonormal(matrix: np.ndarray) -> np.ndarray:
    rows: list[np.ndarray] = []
    for row in matrix:
        for earlier in rows:
            row = row - np.sum(row * earlier) * earlier
        rows.append(_normalised(row))
    return np.stack(rows)


def check_order(space: Space, instance: Instance) -> None:
    """Refuse a spectrum whose gaps are met to within rounding only.

    Raises:
        InstanceError: naming the field.
    """
    for name, field in space.fields.items():
        if isinstance(field, Spectrum):
            numbers = [exact_number(v) for v in np.asarray(field_values(instance)[name]).tolist()]
            gap = exact_number(field.gap)
            if any(high < gap * low for high, low in itertools.pairwise(numbers)):
                raise InstanceError(
                    f"{name}: the gap {field.gap:g} is missed by rounding: round its numbers apart"
                )


def spelled(value: Any) -> Any:
    """A value with every number spelled exactly: a decimal, or the bits of a float."""
    if isinstance(value, list):
        return [spelled(entry) for entry in value]
    if isinstance(value, int):
        return str(value)
    return repr(value) if short_decimal(value) is not None else value.hex()


def order_margins(space: Space, x: Instance) -> list[Any]:
    """What a point of the box must satisfy to be an instance: the order of its spectra."""
    margins = []
    for name, field in space.fields.items():
        if isinstance(field, (Ordered, Spectrum)):
            gap = field.gap if isinstance(field, Spectrum) else 1.0
            margins.append(jnp.ravel(field_values(x)[name][:-1] - gap * field_values(x)[name][1:]))
    return margins


@dataclass(frozen=True)
class Piece:
    """A box of instances: sizes and discrete values fixed, real numbers ranging.

    `fixed` holds values of whole fields; the coordinates fill the other fields in order.
    """

    space: Space
    sizes: Mapping[str, int]
    fixed: Mapping[str, Any]
    coordinates: tuple[Coordinate, ...]

    def values(self, numbers: list[Any]) -> dict[str, Any]:
        """The fields' values from a number per coordinate, as nested lists."""
        left = iter(numbers)
        return {
            name: self.fixed[name]
            if name in self.fixed
            else filled([next(left) for _ in range(field.count(self.sizes))], self.shape(name))
            for name, field in self.space.fields.items()
        }

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a field's value."""
        return self.space.fields[name].shape(self.sizes)

    def arrays(self, machine: Machine, numbers: list[Any]) -> list[np.ndarray]:
        """The fields' values for a machine, in order."""
        return [
            enclosed(machine, self.space.fields[name], value) if name in self.fixed else value
            for name, value in self.values(numbers).items()
        ]

    def instance(self, point: tuple[float, ...]) -> dict[str, Any]:
        """A point as the JSON data of an instance."""
        values = {name: np.asarray(v).tolist() for name, v in self.values(list(point)).items()}
        return {"sizes": dict(self.sizes), "values": values}

    def names(self) -> dict[str, float]:
        """What does not range, by name."""
        scalars = {name: v for name, v in self.fixed.items() if np.ndim(v) == 0}
        return {**self.sizes, **scalars}


def pieces(space: Space, box: Mapping[str, Any]) -> list[Piece]:
    """The box of a space, or a part of it, with its discrete values enumerated.

    `box` maps real fields to (low, high) or a number, integers, choices and sizes likewise, fields
    of other kinds to one value. Sizes that it leaves out take their defaults.

    Raises:
        UsageError: for an unknown name, an interval out of range, a field that has no box, and for
            too many combinations.
    """
    unknown = set(box) - set(space.sizes) - set(space.fields)
    if unknown:
        names = [*space.sizes, *space.fields]
        raise UsageError(f"{min(unknown)!r} is no size or field; there are {names}")
    found = []
    for sizes in _combinations(_size_values(space, box)):
        discrete = {
            name: _discrete(name, field, box, sizes)
            for name, field in space.fields.items()
            if not isinstance(field, (Real, Ordered, Spectrum))
        }
        coordinates = tuple(_coordinates(space, box, sizes))
        found += [Piece(space, sizes, fixed, coordinates) for fixed in _combinations(discrete)]
        if len(found) > MOST_COMBINATIONS:
            raise UsageError(
                f"more than {MOST_COMBINATIONS} combinations of integers and choices: "
                f"give a smaller box for {', '.join(discrete)}"
            )
    return found


def described(box: list[Piece]) -> dict[str, str]:
    """The box that pieces make up, as `--box` takes it; several discrete values with commas."""
    values: dict[str, list[str]] = {}
    for piece in box:
        fixed = {name: str(np.asarray(value).tolist()) for name, value in piece.fixed.items()}
        sizes = {name: str(size) for name, size in piece.sizes.items()}
        ranges = {c.name: f"{c.low!r}:{c.high!r}" for c in piece.coordinates}
        for name, text in {**sizes, **fixed, **ranges}.items():
            if text not in values.setdefault(name, []):
                values[name].append(text)
    return {name: ", ".join(texts) for name, texts in values.items()}


def _combinations(choices: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    if math.prod(map(len, choices.values())) > MOST_COMBINATIONS:
        raise UsageError(
            f"more than {MOST_COMBINATIONS} combinations of {', '.join(choices)}: "
            "give a smaller box for them"
        )
    for picked in itertools.product(*choices.values()):
        yield dict(zip(choices, picked))


def _ends(name: str, given: Any) -> tuple[float, float]:
    pair = np.asarray(given, dtype=object)
    try:
        low, high = (given, given) if pair.shape == () else given
        ends = float(low), float(high)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: expected (low, high) or a number, but {given} arrived") from None
    if not ends[0] <= ends[1]:
        raise UsageError(f"{name}: no interval [{low}, {high}]")
    return ends


def _size_values(space: Space, box: Mapping[str, Any]) -> dict[str, list[int]]:
    values = {}
    for name in space.sizes:
        if name in box:
            low, high = _ends(name, box[name])
            candidates = range(math.ceil(low), math.floor(high) + 1)
            if not candidates:
                raise UsageError(f"{name}: no integer lies in [{low:g}, {high:g}]")
            values[name] = [space.default_sizes(**{name: n})[name] for n in candidates]
        else:
            values[name] = [space.default_sizes()[name]]
    return values


def _discrete(name: str, field: Field, box: Mapping[str, Any], sizes: Mapping[str, int]) -> list:
    if isinstance(field, Integer):
        every: list = list(range(extent(field.low, sizes), extent(field.high, sizes) + 1))
    elif isinstance(field, Choice):
        every = [float(option) for option in field.options]
    elif name in box:
        return [field.check(name, box[name], sizes)]
    else:
        raise UsageError(f"{name} ({field.describe()}) has no box: give one value for it")
    low, high = _ends(name, box.get(name, (min(every), max(every))))
    kept = [value for value in every if low <= value <= high]
    if not kept:
        raise UsageError(f"{name}: nothing of {field.describe()} lies in [{low:g}, {high:g}]")
    return kept


def _coordinates(
    space: Space, box: Mapping[str, Any], sizes: Mapping[str, int]
) -> Iterator[Coordinate]:
    for name, field in space.fields.items():
        if not isinstance(field, (Real, Ordered, Spectrum)):
            continue
        low, high = _ends(name, box.get(name, (field.low, field.high)))
        if not field.low <= low <= high <= field.high:
            raise UsageError(f"{name}: expected {field.describe()}, but [{low}, {high}] arrived")
        log = low > 0 and (isinstance(field, Spectrum) or field.log)
        for place in np.ndindex(*field.shape(sizes)):
            index = f"[{', '.join(map(str, place))}]" if place else ""
            yield Coordinate(name + index, low, high, log)
