"""Claims that say something of every point by itself: equalities and inequalities."""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from theorysim.claims.evidence import (
    RESOLVED_SHARE,
    Evidence,
    Judgement,
    Measurement,
    Points,
    tabulate,
    why_undefined,
)
from theorysim.claims.kinds.base import Attack, Claim
from theorysim.claims.verdict import Verdict

BY_OWN = "violate it, unless they err as others do, more than their own keys show"

# Per point: whether the claim holds there, whether it is violated there.
States = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Pointwise(Claim):
    """A claim that one point can violate: what the falsifier searches and confirms.

    A point *holds* only if its slack exceeds its error, is *violated* only if the slack is below
    minus the error; what lies between is unresolved. NaN is never resolved and keeps the claim
    from holding.
    """

    attack: ClassVar[Attack] = Attack.SEARCH

    @abc.abstractmethod
    def states(self, points: Points) -> States:
        """Per point, whether the claim holds there and whether it is violated there."""

    @abc.abstractmethod
    def resolved_rows(
        self, points: Points, holds: np.ndarray, contrasts: tuple[Points, ...]
    ) -> np.ndarray:
        """Per instance, whether an agreement (a positive slack) there says something."""

    @abc.abstractmethod
    def tightness(self, points: Points, resolved: np.ndarray) -> float:
        """Largest ratio of the bounded side to its bound over the resolved points."""

    @abc.abstractmethod
    def precision(self, points: Points, good: np.ndarray, contrasts: tuple[Points, ...]) -> str:
        """What a claim that holds adds on how closely it was checked."""

    def is_close(self, points: Points) -> np.ndarray:
        """Per point that holds, whether that says more than that its error is large."""
        return np.ones(points.lhs.shape, bool)

    def ties(self, points: Points) -> np.ndarray:
        """Which columns tell nothing of how tight the claim is; they are all checked alike."""
        return np.zeros(points.lhs.shape[1], bool)

    def violated_rows(self, measurement: Measurement) -> np.ndarray:
        """Per instance, whether the claim is violated at one of its points."""
        return np.any(self.states(tabulate(measurement))[1], axis=1)

    def judge(self, evidence: Evidence) -> Judgement:
        """The verdict on all points of all instances."""
        points = self._without_idle_doubts(tabulate(evidence.measurement))
        holds, violated = self.states(points)
        undefined = points.applies & ~(holds | violated) & ~np.isfinite(points.error)
        with np.errstate(invalid="ignore"):  # infinities of both signs have no sum
            undefined |= points.applies & np.isnan(points.lhs + points.rhs) & ~violated
        applies = np.any(points.applies, axis=1)
        if not applies.any():
            return Judgement(Verdict.VACUOUS, "no point meets the claim's own condition")
        bad, blank = np.any(violated, axis=1), np.any(undefined, axis=1)
        contrasts = tuple(map(tabulate, evidence.contrasts))
        resolved = self.resolved_rows(points, holds, contrasts)
        good = applies & ~bad & ~blank & resolved
        verdict, note = self._verdict(applies, bad, blank, good)
        if verdict is Verdict.HOLDS and (own := self._violated_by_own_errors(evidence.measurement)):
            verdict, note = Verdict.INCONCLUSIVE, f"{own} of {applies.sum()} instances {BY_OWN}"
        if verdict is Verdict.HOLDS:
            note = self.precision(points, good, contrasts)
        elif verdict is Verdict.INCONCLUSIVE and blank.any():
            note = ": ".join(filter(None, [note, why_undefined(points, undefined)]))
        ties = self.ties(points)
        telling = replace(points, applies=points.applies & ~ties)
        room = self.relative_room(telling)
        row, column = _decisive(room, violated, undefined)
        lhs, rhs = points.lhs[row, column], points.rhs[row, column]
        with np.errstate(invalid="ignore"):  # nor a difference
            slack = float(self.slack(lhs, rhs))
        return Judgement(
            verdict,
            note,
            lhs=float(lhs),
            rhs=float(rhs),
            slack=slack,
            error=float(points.error[row, column]),
            error_parts={name: float(part[row, column]) for name, part in points.parts.items()},
            tightness=self.tightness(points, (holds | violated) & ~ties),
            ties=int(np.sum(ties)),
            checked=int(applies.sum()),
            resolved=int((good | bad).sum()),
            path=_path(evidence.measurement, row),
            scatter=_scatter(telling, room, violated),
            row=row,
            undersampled=verdict is Verdict.INCONCLUSIVE and not blank.any(),
        )

    def _violated_by_own_errors(self, measurement: Measurement) -> int:
        """How many instances violate the claim unless they err as others do.

        They may have missed what the keys of others met, or be exact where others are not.
        """
        if not np.any(measurement.sampling):
            return 0
        return int(np.sum(np.any(self.states(tabulate(measurement, share=False))[1], axis=1)))

    def _without_idle_doubts(self, points: Points) -> Points:
        """Points without those that hold anyway, of which it is open whether the claim speaks.

        They are left in where it surely speaks of none, and where nothing tells how they agree.
        """
        doubtful = points.in_doubt
        if not np.any(points.applies & ~doubtful):
            return points
        spoken_of = points.if_spoken_of()
        idle = doubtful & self.states(spoken_of)[0] & self.is_close(spoken_of)
        return replace(points, applies=points.applies & ~idle)

    def _verdict(
        self, applies: np.ndarray, bad: np.ndarray, blank: np.ndarray, good: np.ndarray
    ) -> tuple[Verdict, str]:
        total = applies.sum()
        if bad.any():
            return Verdict.VIOLATED, f"{bad.sum()} of {total} instances violate it"
        if blank.any():
            note = f"{blank.sum()} of {total} instances gave no finite number or error"
            return Verdict.INCONCLUSIVE, note
        if good.sum() >= RESOLVED_SHARE * total:
            return Verdict.HOLDS, ""
        return Verdict.INCONCLUSIVE, f"only {good.sum()} of {total} instances are resolved"

    def relative_room(self, points: Points) -> np.ndarray:
        """Room per point as a part of both sides, infinite where the claim says nothing."""
        with np.errstate(invalid="ignore", divide="ignore"):
            room = self.slack(points.lhs, points.rhs)
            relative = (room + np.where(room < 0, points.error, 0)) / points.scale
        relative = np.where(points.scale > 0, relative, room)
        return np.where(points.applies & ~np.isnan(relative), relative, np.inf)


def _decisive(room: np.ndarray, violated: np.ndarray, undefined: np.ndarray) -> tuple[int, int]:
    """Row and column of the point that decides: undefined, or of the least relative room."""
    if undefined.any() and not violated.any():
        row, column = np.unravel_index(np.argmax(undefined), undefined.shape)
    else:
        score = np.where(violated, room, np.inf) if violated.any() else room
        row, column = np.unravel_index(np.argmin(score), score.shape)
    return int(row), int(column)


def _scatter(points: Points, room: np.ndarray, violated: np.ndarray) -> dict[str, np.ndarray]:
    """Both sides at the worst point of every instance of which the claim says something."""
    column = np.argmin(room, axis=1)[:, None]
    spoken_of = np.any(points.applies, axis=1)
    return {
        "lhs": np.take_along_axis(points.lhs, column, 1)[spoken_of, 0],
        "rhs": np.take_along_axis(points.rhs, column, 1)[spoken_of, 0],
        "violated": np.any(violated, axis=1)[spoken_of],
    }


def _path(measurement: Measurement, row: int) -> dict[str, np.ndarray]:
    sides = {"lhs": measurement.lhs, "rhs": measurement.rhs, "applies": measurement.applies}
    return {name: np.asarray(np.asarray(side)[row]) for name, side in sides.items()}
