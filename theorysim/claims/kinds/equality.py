"""Two sides that are equal at every point."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from theorysim.claims.evidence import (
    COARSEST_EQUALITY,
    EQUALITY_RESOLUTION,
    RESOLVED_SHARE,
    Points,
)
from theorysim.claims.kinds.base import Side
from theorysim.claims.kinds.pointwise import Pointwise, States


@dataclass(frozen=True, eq=False)
class Equality(Pointwise):
    """lhs = rhs: both agree within an error that would have shown what a mutant makes of them."""

    kind: ClassVar[str] = "equal"
    has_contrasts: ClassVar[bool] = True
    relation: ClassVar[str | None] = "equal"
    labels: ClassVar[tuple[str, str]] = ("simulation side", "theory side")

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """-|lhs - rhs|."""
        return -abs(lhs - rhs)

    def states(self, points: Points) -> States:
        """Where both sides agree within the error, where they do not."""
        with np.errstate(invalid="ignore"):
            room = self.slack(points.lhs, points.rhs)
            agrees = (room >= -points.error) | (points.lhs == points.rhs)
            return agrees & points.applies, (room < -points.error) & points.applies

    def is_close(self, points: Points) -> np.ndarray:
        """Where an agreement says something, whatever the mutants are."""
        return points.error <= EQUALITY_RESOLUTION * points.scale

    def resolved_rows(
        self, points: Points, holds: np.ndarray, contrasts: tuple[Points, ...]
    ) -> np.ndarray:
        """Where both sides are known well, and mutants are refuted where they change the sides.

        Well is to within COARSEST_EQUALITY of them at enough points; where no mutant changes them,
        to within EQUALITY_RESOLUTION. A change below that need not show. A mutant must be refuted
        at enough of the points that it changes: one of many says nothing of the others.
        """
        apart, changed = np.ones(len(points.lhs), bool), np.zeros(len(points.lhs), bool)
        for other in contrasts:
            changes = _changes(points, other)
            refuted = self.states(_with_error_of(other, points))[1]
            apart &= _enough(refuted & changes, changes)
            changed |= changes.any(axis=1)
        share = np.where(changed[:, None], COARSEST_EQUALITY * _size(points, contrasts), 0)
        known = points.error <= np.maximum(share, EQUALITY_RESOLUTION * points.scale)
        return apart & _enough(known & points.applies, points.applies)

    def tightness(self, points: Points, resolved: np.ndarray) -> float:
        """An equality bounds nothing."""
        return math.nan

    def precision(self, points: Points, good: np.ndarray, contrasts: tuple[Points, ...]) -> str:
        """The largest error relative to the sides."""
        size = _size(points, contrasts)[good]
        error = np.where(points.applies, points.error, 0)[good]
        largest = np.max(error / np.where(size > 0, size, 1))
        if _against_zero(points)[good].all():
            return f"zero to within {largest:.0e} of what the mutants make of it"
        return f"equal to within {largest:.0e} of the sides"


def _enough(some: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Per instance, whether enough of the points are among some; also where there are none."""
    return some.sum(1) >= RESOLVED_SHARE * of.sum(1)


def _against_zero(points: Points) -> np.ndarray:
    """Per instance, whether a side is zero at every point, so that the sides have no scale."""
    return np.all((points.lhs == 0) | (points.rhs == 0) | ~points.applies, axis=1)


def _size(points: Points, contrasts: tuple[Points, ...]) -> np.ndarray:
    """How large the sides are, at their largest point: of mutants, where a side is zero throughout.

    One column.
    """

    def largest(table: Points) -> np.ndarray:
        known = table.applies & np.isfinite(table.scale)
        return np.max(np.where(known, table.scale, 0), axis=1)

    own = largest(points)
    of_mutants = np.max([0 * own, *map(largest, contrasts)], axis=0)
    return np.where(_against_zero(points), of_mutants, own)[:, None]


def _with_error_of(mutant: Points, points: Points) -> Points:
    """The mutant with errors not below those of the equality that it is to differ from."""
    own = points.error
    if own.shape != mutant.error.shape:
        own = np.max(own, axis=1, keepdims=True)
    return replace(mutant, error=np.maximum(mutant.error, own))


def _changes(points: Points, mutant: Points) -> np.ndarray:
    """At which points the mutant changes a side by more than the resolution of equalities."""
    if mutant.lhs.shape != points.lhs.shape:
        return mutant.applies
    scale = EQUALITY_RESOLUTION * np.maximum(points.scale, mutant.scale)
    with np.errstate(invalid="ignore"):
        moved = np.abs(mutant.lhs - points.lhs) + np.abs(mutant.rhs - points.rhs)
        undefined = np.isnan(moved) & ~np.isnan(points.lhs + points.rhs)
        return ((moved > scale) | undefined) & points.applies


def equal(
    name: str, lhs: Side, rhs: Side, *, where: Side | None = None, statement: str = ""
) -> Equality:
    """lhs = rhs at every point."""
    return Equality(name, lhs, rhs, where, statement)
