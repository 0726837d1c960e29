"""Two sides that are equal at every point."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from theorysim.claims.evidence import (
    EQUALITY_RESOLUTION,
    RESOLVED_SHARE,
    Measurement,
    Points,
    tabulate,
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

    def resolved_rows(
        self, points: Points, holds: np.ndarray, contrasts: tuple[Measurement, ...]
    ) -> np.ndarray:
        """Where every mutant that changes the sides is refuted; where none does, small errors.

        A change below the resolution of equalities need not show.
        """
        fine = (points.error <= EQUALITY_RESOLUTION * points.scale) & points.applies
        small = fine.sum(1) >= RESOLVED_SHARE * np.maximum(points.applies.sum(1), 1)
        apart, changed = np.ones(len(small), bool), np.zeros(len(small), bool)
        for contrast in contrasts:
            other = tabulate(contrast)
            changes = _changes(points, other)
            refuted = np.any(self.states(_with_error_of(other, points))[1], axis=1)
            apart &= refuted | ~changes
            changed |= changes
        return np.where(changed, apart, small)

    def tightness(self, points: Points, resolved: np.ndarray) -> float:
        """An equality bounds nothing."""
        return math.nan

    def precision(self, points: Points, good: np.ndarray) -> str:
        """The largest error relative to the sides."""
        relative = np.where(points.applies & (points.scale > 0), points.error, 0)[good]
        scale = np.max(np.where(points.applies, points.scale, 0)[good], axis=1, keepdims=True)
        largest = np.max(relative / np.where(scale > 0, scale, 1))
        return f"equal to within {largest:.0e} of the sides"


def _with_error_of(mutant: Points, points: Points) -> Points:
    """The mutant with errors not below those of the equality that it is to differ from."""
    own = points.error
    if own.shape != mutant.error.shape:
        own = np.max(own, axis=1, keepdims=True)
    return replace(mutant, error=np.maximum(mutant.error, own))


def _changes(points: Points, mutant: Points) -> np.ndarray:
    """Per instance, whether the mutant changes a side by more than the resolution of equalities."""
    if mutant.lhs.shape != points.lhs.shape:
        return np.ones(len(points.lhs), bool)
    scale = EQUALITY_RESOLUTION * np.maximum(points.scale, mutant.scale)
    with np.errstate(invalid="ignore"):
        moved = np.abs(mutant.lhs - points.lhs) + np.abs(mutant.rhs - points.rhs)
        undefined = np.isnan(moved) & ~np.isnan(points.lhs + points.rhs)
        return np.any(((moved > scale) | undefined) & points.applies, axis=1)


def equal(
    name: str, lhs: Side, rhs: Side, *, where: Side | None = None, statement: str = ""
) -> Equality:
    """lhs = rhs at every point."""
    return Equality(name, lhs, rhs, where, statement)
