"""The instances of a space as enclosures: one instance exactly, or a box of them.

A float of an instance stands for the decimal that it is printed as where that has at most eight
digits, else for its own bits. Fields with a structure say which exact member a printed value stands
for (`Field.normalised`): a unit vector is the printed vector divided by its length.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from flint import arb

from theorysim.claims.fields import Box, Field, Interval, Options
from theorysim.claims.instance import Instance, field_values
from theorysim.claims.space import Space
from theorysim.enclosures import MAX_PRECISION, Coordinate, Outcome, decide, trace
from theorysim.enclosures.arithmetic import exact_number, short_decimal
from theorysim.enclosures.interpreter import Interpreter, object_array
from theorysim.errors import InstanceError, UsageError

# So many combinations of integers and choices are certified side by side; more need a smaller box.
MOST_COMBINATIONS = 256


def enclose(interpreter: Interpreter, field: Field, value: Any) -> np.ndarray:
    """A field's value as exactly as the current precision allows; integers as they are."""
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        return array
    numbers = array.ravel().tolist()
    balls = object_array([arb(exact_number(number)) for number in numbers], array.shape)
    made = field.normalised(balls)
    if made is balls:
        return object_array([_number(interpreter, number) for number in numbers], array.shape)
    return object_array([interpreter.arithmetic.lift(ball) for ball in made.flat], array.shape)


def _number(interpreter: Interpreter, number: float) -> Any:
    if short_decimal(number) is not None:
        return interpreter.decimal(number)
    return interpreter.arithmetic.lift(arb(exact_number(number)))


def check_order(space: Space, instance: Instance) -> None:
    """Refuse a value whose order is met to within rounding only.

    Raises:
        InstanceError: naming the field.
    """
    for name, field in space.fields.items():
        if _misses_order(name, field, field_values(instance)[name]):
            raise InstanceError(
                f"{name} ({field.describe()}): its order is missed by rounding: "
                "round its numbers apart"
            )


def _misses_order(name: str, field: Field, value: Any) -> bool:
    """Whether a margin of a value's order is certainly negative."""
    margins = trace(
        lambda value: (0, 0, None, [field.order(value)], []),
        [value],
        "equal",
        False,
        f"field {name!r}",
    )
    decision = decide(
        margins, lambda interpreter: [enclose(interpreter, field, value)], MAX_PRECISION
    )
    return decision.outcome is Outcome.OUTSIDE


def spell(value: Any) -> Any:
    """A value with every number spelled exactly: a decimal, or the bits of a float."""
    if isinstance(value, list):
        return [spell(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: spell(entry) for name, entry in value.items()}
    if not isinstance(value, float):
        return str(value)
    return repr(value) if short_decimal(value) is not None else value.hex()


def order_margins(space: Space, x: Instance) -> list[Any]:
    """What a point of the box must satisfy to be an instance."""
    values = field_values(x)
    margins = [jnp.ravel(field.order(values[name])) for name, field in space.fields.items()]
    return [margin for margin in margins if margin.size]


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
            else object_array(
                [next(left) for _ in range(field.count(self.sizes))], self.shape(name)
            )
            for name, field in self.space.fields.items()
        }

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a field's value."""
        return self.space.fields[name].shape(self.sizes)

    def arrays(self, interpreter: Interpreter, numbers: list[Any]) -> list[np.ndarray]:
        """The fields' values for an interpreter, in order."""
        return [
            enclose(interpreter, self.space.fields[name], value) if name in self.fixed else value
            for name, value in self.values(numbers).items()
        ]

    def instance(self, point: tuple[float, ...]) -> dict[str, Any]:
        """A point as the JSON data of an instance."""
        values = {}
        for name, value in self.values(list(point)).items():
            field = self.space.fields[name]
            values[name] = field.to_json(np.asarray(value, field.dtype()))
        return {"sizes": dict(self.sizes), "values": values}

    def what_matters(self, needs: tuple[bool, ...]) -> str:
        """Pieces that differ only in what does not enter a formula are the same to it."""
        entering = [
            (name, np.asarray(self.fixed[name]).tolist())
            for name, needed in zip(self.space.fields, needs)
            if needed and name in self.fixed
        ]
        return repr((dict(self.sizes), entering))

    def names(self) -> dict[str, float]:
        """What does not range, by name."""
        scalars = {name: v for name, v in self.fixed.items() if np.ndim(v) == 0}
        return {**self.sizes, **scalars}


def pieces(space: Space, box: Mapping[str, Any]) -> list[Piece]:
    """The box of a space, or a part of it, with its discrete values enumerated.

    `box` maps fields whose entries range to (low, high) or a number, integers, choices and sizes
    likewise, fields that have no box to one value. Sizes that it leaves out take their defaults.

    Raises:
        UsageError: for an unknown name, an interval out of range, a field that has no box, and for
            too many combinations.
    """
    unknown = set(box) - set(space.sizes) - set(space.fields)
    if unknown:
        names = [*space.sizes, *space.fields]
        raise UsageError(f"{min(unknown)!r} is not a size or field; there are {names}")
    found = []
    for sizes in _combinations(_size_values(space, box)):
        own = {name: field.box(sizes) for name, field in space.fields.items()}
        discrete = {
            name: _discrete(name, space.fields[name], own[name], box, sizes)
            for name in own
            if not isinstance(own[name], Interval)
        }
        coordinates = tuple(_coordinates(space, own, box, sizes))
        found += [Piece(space, sizes, fixed, coordinates) for fixed in _combinations(discrete)]
        if len(found) > MOST_COMBINATIONS:
            raise UsageError(
                f"more than {MOST_COMBINATIONS} combinations of integers and choices: "
                f"give a smaller box for {', '.join(discrete)}"
            )
    return found


def describe_box(box: list[Piece]) -> dict[str, str]:
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
    if any(isinstance(entry, bool) for entry in pair.ravel()):
        raise UsageError(f"{name}: expected numbers, but {given} arrived")
    try:
        low, high = (given, given) if pair.shape == () else given
        ends = float(low), float(high)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: expected (low, high) or a number, but {given} arrived") from None
    if not -math.inf < ends[0] <= ends[1] < math.inf:
        raise UsageError(f"{name}: expected low <= high, both finite, but [{low}, {high}] arrived")
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


def _discrete(
    name: str, field: Field, own: Box | None, box: Mapping[str, Any], sizes: Mapping[str, int]
) -> list:
    if not isinstance(own, Options):
        if name not in box:
            raise UsageError(f"{name} ({field.describe()}) has no box: give one value for it")
        return [field.check(name, box[name], sizes)]
    every = own.values
    low, high = _ends(name, box.get(name, (min(every), max(every))))
    kept = [value for value in every if low <= value <= high]
    if not kept:
        raise UsageError(f"{name}: nothing of {field.describe()} lies in [{low:g}, {high:g}]")
    return kept


def _coordinates(
    space: Space,
    own: Mapping[str, Box | None],
    box: Mapping[str, Any],
    sizes: Mapping[str, int],
) -> Iterator[Coordinate]:
    for name, interval in own.items():
        if not isinstance(interval, Interval):
            continue
        field = space.fields[name]
        low, high = _ends(name, box.get(name, (interval.low, interval.high)))
        if not interval.low <= low <= high <= interval.high:
            raise UsageError(f"{name}: expected {field.describe()}, but [{low}, {high}] arrived")
        for place in np.ndindex(*field.shape(sizes)):
            index = f"[{', '.join(map(str, place))}]" if place else ""
            yield Coordinate(name + index, low, high, interval.log and low > 0)
