"""One side bounds the other at every point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from theorysim.claims.evidence import RESOLVED_SHARE, Points
from theorysim.claims.kinds.base import Side
from theorysim.claims.kinds.pointwise import Pointwise, States

# Equality attained in a non-strict inequality counts as a tie if rounding is its only error, and is
# below the square root of the precision, relative to the sides.
TIE_RESOLUTION = np.sqrt(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Inequality(Pointwise):
    """lhs <= rhs where `upper`, else lhs >= rhs; equality is not allowed where `strict`."""

    upper: ClassVar[bool]
    ratio_limit: ClassVar[float] = 1.0

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """Bound minus bounded side."""
        bounded, bound = self.bounded_and_bound(lhs, rhs)
        return bound - bounded

    def bounded_and_bound(self, lhs: Any, rhs: Any) -> tuple[Any, Any]:
        """The side that must be the smaller one, and the other."""
        return (lhs, rhs) if self.upper else (rhs, lhs)

    def states(self, points: Points) -> States:
        """Where the slack exceeds the error (or ties in rounding), where it is below minus it."""
        with np.errstate(invalid="ignore"):
            room = self.slack(points.lhs, points.rhs)
            tie = (np.abs(room) <= points.error) & (points.non_rounding_error == 0)
            tie &= points.error <= TIE_RESOLUTION * points.scale
            holds = (room > points.error) | (tie & (not self.strict))
            return holds & points.applies, (room < -points.error) & points.applies

    def resolved_rows(
        self, points: Points, holds: np.ndarray, contrasts: tuple[Points, ...]
    ) -> np.ndarray:
        """Where enough of the points hold beyond their errors."""
        return holds.sum(1) >= RESOLVED_SHARE * np.maximum(points.applies.sum(1), 1)

    def ties(self, points: Points) -> np.ndarray:
        """Columns whose sides are equal at every instance, unless all columns are.

        A bound on a path ties where the path starts, whatever it claims of the rest.
        """
        with np.errstate(invalid="ignore"):
            equal = np.abs(self.slack(points.lhs, points.rhs)) <= points.error
        tied = np.all(equal | ~points.applies, axis=0) & (points.applies.sum(0) > 1)
        telling = ~tied & points.applies.any(axis=0)
        return tied & telling.any()

    def tightness(self, points: Points, resolved: np.ndarray) -> float:
        """Largest ratio of the bounded side to its bound over the resolved points."""
        bounded, bound = self.bounded_and_bound(points.lhs, points.rhs)
        where = resolved & (bound > 0) & (bounded >= 0)
        return float(np.max(bounded[where] / bound[where])) if where.any() else float("nan")

    def precision(self, points: Points, good: np.ndarray, contrasts: tuple[Points, ...]) -> str:
        """Nothing: the slack and its error are in the report."""
        return ""

    def reversed(self) -> Inequality:
        """A mutant: the opposite inequality between the same sides."""
        opposite = AtLeast if self.upper else AtMost
        return opposite(self.name, self.lhs, self.rhs, self.where, self.statement, self.strict)


@dataclass(frozen=True, eq=False)
class AtMost(Inequality):
    """lhs <= rhs."""

    kind: ClassVar[str] = "at_most"
    relation: ClassVar[str | None] = "at_most"
    upper: ClassVar[bool] = True
    labels: ClassVar[tuple[str, str]] = ("left side", "right side (upper bound)")


@dataclass(frozen=True, eq=False)
class AtLeast(Inequality):
    """lhs >= rhs."""

    kind: ClassVar[str] = "at_least"
    relation: ClassVar[str | None] = "at_least"
    upper: ClassVar[bool] = False
    labels: ClassVar[tuple[str, str]] = ("left side", "right side (lower bound)")


def at_most(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    strict: bool = False,
    where: Side | None = None,
    statement: str = "",
) -> AtMost:
    """lhs <= rhs at every point (`strict`: lhs < rhs)."""
    return AtMost(name, lhs, rhs, where, statement, strict)


def at_least(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    strict: bool = False,
    where: Side | None = None,
    statement: str = "",
) -> AtLeast:
    """lhs >= rhs at every point (`strict`: lhs > rhs)."""
    return AtLeast(name, lhs, rhs, where, statement, strict)
