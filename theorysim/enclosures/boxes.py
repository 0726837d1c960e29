"""Boxes of real numbers that a formula ranges over, and how they are bisected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.relation import Formula
from theorysim.errors import UsageError

Point = tuple[float, ...]


@dataclass(frozen=True)
class Coordinate:
    """A real number that ranges over an interval; `log` bisects at the geometric mean."""

    name: str
    low: float
    high: float
    log: bool = False

    def share(self, low: float, high: float) -> float:
        """Roughly, the part of the coordinate that a piece takes."""
        if self.low == self.high:
            return 1.0
        if self.log:
            return math.log(high / low) / math.log(self.high / self.low)
        return (high - low) / (self.high - self.low)

    def middle(self, low: float, high: float) -> float:
        """Well between both ends, in few digits, so that it stands for a decimal."""
        if low == high:
            return low
        middle = math.sqrt(low) * math.sqrt(high) if self.log else low / 2 + high / 2
        reach = min(middle - low, high - middle) / 2
        rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
        return next((number for number in rounded if abs(number - middle) <= reach), middle)


@dataclass(frozen=True, eq=False)
class Problem:
    """A formula over a box.

    `arrange(interpreter, numbers)` makes inputs from a number per coordinate; `fixed` names what
    does not range.
    """

    formula: Formula
    coordinates: tuple[Coordinate, ...]
    arrange: Callable[[Interpreter, list[Any]], list[Any]]
    fixed: Mapping[str, float]


@dataclass(frozen=True)
class Box:
    """A piece of a problem's box; `path` has a 0 for every lower half that led to it, else a 1.

    Its ends are floats that stand for exact numbers, as those of an instance do.
    """

    problem: Problem
    ends: tuple[tuple[float, float], ...]
    path: str = ""

    def shares(self) -> list[float]:
        """Roughly, the part of each coordinate that it takes."""
        return [c.share(*ends) for c, ends in zip(self.problem.coordinates, self.ends)]

    def middle(self) -> Point:
        """A point well inside."""
        return tuple(c.middle(*ends) for c, ends in zip(self.problem.coordinates, self.ends))

    def named(self, point: Point) -> dict[str, float]:
        """A point by the names of its numbers."""
        names = (coordinate.name for coordinate in self.problem.coordinates)
        return {**self.problem.fixed, **dict(zip(names, point))}

    def halves(self, coordinate: int) -> Iterator[Box]:
        """Both parts below and above the middle of a coordinate."""
        low, high = self.ends[coordinate]
        middle = self.middle()[coordinate]
        for side, half in (("0", (low, middle)), ("1", (middle, high))):
            ends = (*self.ends[:coordinate], half, *self.ends[coordinate + 1 :])
            yield Box(self.problem, ends, self.path + side)

    def pinned(self, point: Point, coordinates: list[int]) -> Box:
        """The face on which some coordinates have the values of a point."""
        ends = list(self.ends)
        for i in coordinates:
            ends[i] = (point[i], point[i])
        return Box(self.problem, tuple(ends), self.path)

    def is_divisible(self, coordinate: int) -> bool:
        """Whether a float lies between both ends."""
        low, high = self.ends[coordinate]
        return low < self.middle()[coordinate] < high


def check_coordinate(coordinate: Coordinate) -> Coordinate:
    """The coordinate, if its interval can be bisected.

    Raises:
        UsageError: naming the interval.
    """
    name, low, high = coordinate.name, coordinate.low, coordinate.high
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise UsageError(f"{name}: expected low <= high, both finite, but [{low}, {high}] arrived")
    if coordinate.log and low <= 0:
        raise UsageError(f"{name}: a log scale needs positive numbers, but {low} arrived")
    return coordinate
