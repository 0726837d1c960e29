"""A tendency over the keys of an experiment: on average one side lies below the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from theorysim.claims.evidence import (
    BIASES,
    NO_NUMBER,
    SURELY,
    Evidence,
    Judgement,
    Measurement,
    heavy_tails,
    in_doubt,
    shared_errors,
)
from theorysim.claims.kinds.base import Attack, Claim, Side
from theorysim.claims.run import Run
from theorysim.claims.verdict import Verdict
from theorysim.errors import UsageError

# Chance that an experiment that shows nothing is called one that shows something, or its contrary.
EMPIRICAL_ALARM = 0.01

# Fewer runs tell little of their spread: Student's quantile is above 5 for four.
LEAST_KEYS = 5


@dataclass(frozen=True, eq=False)
class OnAverage(Claim):
    """E lhs < E rhs at every point, over the keys, with which both sides lead.

    The runs of a few keys are compared by Student's test of their differences, whose model is that
    differences are nearly normal: means of many samples, or of whole trainings. Where many show
    heavy tails, nothing is decided. What each run errs by (its limits, its integrations,
    means within it) is no spread: a mean difference must exceed it, too.
    """

    kind: ClassVar[str] = "on_average"
    attack: ClassVar[Attack] = Attack.RESAMPLE
    averages_keys: ClassVar[bool] = True
    labels: ClassVar[tuple[str, str]] = ("mean of the left side", "mean of the right side")

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """rhs - lhs."""
        return rhs - lhs

    def sides(self, run: Run) -> tuple[Float[Array, "*points"], Float[Array, "*points"]]:
        """Both sides, with as many axes each, unless one is a number.

        Raises:
            UsageError: where the axis of runs of one side would meet another axis of the other.
        """
        axes = [jnp.ndim(side) for side in (self.lhs(run), self.rhs(run))]
        if axes[0] != axes[1] and 0 not in axes:
            raise UsageError(
                f"claim {self.name!r}: its sides have {axes[0]} and {axes[1]} axes; expected as "
                "many, the axis of runs first, or a number on one side"
            )
        return super().sides(run)

    def judge(self, evidence: Evidence) -> Judgement:
        """Holds where every point's mean difference is surely positive, violated where one is not.

        To hold, each point passes by itself, at the full level; a violation may stand at any of
        them, which share it. Runs that agree exactly are judged by their common sign.
        """
        means = _Means.of(evidence.measurement)
        points = int(means.applies.sum())
        if not points:
            return Judgement(Verdict.VACUOUS, "no point to which the claim applies at every key")
        alone, bad = means.bound(EMPIRICAL_ALARM), means.contrary()
        good = means.applies & (means.room > alone) & means.is_enough
        unclear = int((means.applies & ~good).sum())
        if means.undefined.any():
            verdict, note = Verdict.INCONCLUSIVE, "some runs gave no number"
        elif (bad.any() or not unclear) and heavy_tails(np.asarray(evidence.measurement.extremes)):
            verdict, note = Verdict.INCONCLUSIVE, NO_NUMBER["sampling"]
        elif bad.any():
            verdict, note = Verdict.VIOLATED, f"the contrary{_at(int(bad.sum()), points)}"
        elif (means.in_doubt & ~good).any() or not (means.applies & ~means.in_doubt).any():
            verdict, note = Verdict.INCONCLUSIVE, NO_NUMBER["condition"]
        elif not unclear:
            verdict, note = Verdict.HOLDS, f"{means.keys} runs{_at(points, points)}"
        else:
            verdict = Verdict.INCONCLUSIVE
            note = f"{means.keys} runs do not show it{_at(unclear, points)}"
        place = means.least_clear(bad if bad.any() else means.applies)
        return Judgement(
            verdict,
            note,
            lhs=float(means.lhs[place]),
            rhs=float(means.rhs[place]),
            slack=float(means.room[place]),
            error=float(alone[place]),
            error_parts={"sampling": float(alone[place])},
            checked=int(means.applies.any(1).sum()),
            resolved=int((good | bad).any(1).sum()),
            row=int(place[0]),
        )

    def violated_rows(self, measurement: Measurement) -> Bool[np.ndarray, " rows"]:
        """Per instance, whether the contrary is shown at one of the points of all."""
        return np.any(_Means.of(measurement).contrary(), axis=1)


def _at(some: int, points: int) -> str:
    """Where, if there are several points."""
    return "" if points == 1 else f" at {some} of {points} points"


@dataclass(frozen=True)
class _Means:
    """Means over the keys of both sides and of their difference, and the error of that."""

    lhs: Float[np.ndarray, "rows points"]
    rhs: Float[np.ndarray, "rows points"]
    room: Float[np.ndarray, "rows points"]
    spread: Float[np.ndarray, "rows points"]
    shared: Float[np.ndarray, "rows points"]
    systematic: Float[np.ndarray, "rows points"]
    applies: Bool[np.ndarray, "rows points"]
    in_doubt: Bool[np.ndarray, "rows points"]
    undefined: Bool[np.ndarray, "rows points"]
    keys: int

    @classmethod
    def of(cls, measurement: Measurement) -> _Means:
        rows, keys = np.shape(measurement.lhs)[:2]
        names = ("lhs", "rhs", "applies", "limit", "sampling", "bias")
        lhs, rhs, applies, limit, sampling, bias = (
            np.asarray(getattr(measurement, name)).reshape(rows, keys, -1) for name in names
        )
        with np.errstate(invalid="ignore"):
            room = rhs - lhs
            own = keys * np.finfo(room.dtype).eps * (np.abs(lhs) + np.abs(rhs)).mean(1)
            spread = room.std(1, ddof=1) / np.sqrt(keys)
            shared = shared_errors(spread, own, np.asarray(measurement.extremes))
            each = (limit + SURELY * sampling + BIASES * bias).mean(1)
            systematic = each + np.asarray(measurement.integrator).reshape(rows, 1)
        doubt = np.broadcast_to(in_doubt(measurement), (rows, applies[0].size))
        doubt = doubt.reshape(applies.shape)
        applies = np.logical_and.reduce(applies | doubt, axis=1)
        finite = np.isfinite(systematic) & np.logical_and.reduce(np.isfinite(room), axis=1)
        return cls(
            lhs=lhs.mean(1),
            rhs=rhs.mean(1),
            room=room.mean(1),
            spread=spread,
            shared=shared,
            systematic=systematic,
            applies=applies,
            in_doubt=applies & np.logical_or.reduce(doubt, axis=1),
            undefined=applies & ~finite,
            keys=keys,
        )

    @property
    def is_enough(self) -> Bool[np.ndarray, "rows points"]:
        """Where all runs agree exactly there is no spread: the sign of so many may still tell."""
        told_by_signs = 2.0**-self.keys <= EMPIRICAL_ALARM / 2
        return (self.spread > 0) | told_by_signs

    def contrary(self) -> Bool[np.ndarray, "rows points"]:
        """At which points a mean difference is surely negative; all points share the level.

        One point is enough, so it must be so for what other instances met, too. To hold, every
        instance has what it met itself.
        """
        points = max(int(self.applies.sum()), 1)
        bound = self._quantile(EMPIRICAL_ALARM / points) * self.shared + self.systematic
        bad = self.applies & (self.room < -bound)
        return bad & ~self.in_doubt & self.is_enough

    def bound(self, alarm: float) -> Float[np.ndarray, "rows points"]:
        """What a mean difference of zero exceeds with this chance, on either side."""
        return self._quantile(alarm) * self.spread + self.systematic

    def _quantile(self, alarm: float) -> float:
        from theorysim.numerics.statistics import student_quantile  # slow, and rarely needed

        return student_quantile(1 - alarm / 2, self.keys - 1)

    def least_clear(self, among: Bool[np.ndarray, "rows points"]) -> tuple[int, int]:
        """The point whose difference is least positive, in units of its error."""
        with np.errstate(invalid="ignore", divide="ignore"):
            clear = np.where(self.room == 0, 0, self.room / self.bound(EMPIRICAL_ALARM))
        clear = np.where(among & ~np.isnan(clear), clear, np.inf)
        row, column = np.unravel_index(np.argmin(clear), clear.shape)
        return int(row), int(column)


def on_average(
    name: str,
    lhs: Side | float,
    rhs: Side | float,
    *,
    where: Side | None = None,
    statement: str = "",
    printed: bool = True,
) -> OnAverage:
    """E lhs < E rhs at every point, over the keys of the simulation, with which both sides lead.

    It holds where a Student test says so at each point, to one in a hundred, and is violated where
    it says the contrary at one of them; else the runs do not show it. What is not `printed` is a
    check of ours, and does not count among what a figure is said to show.
    """
    return OnAverage(name, _side(lhs), _side(rhs), where, statement, printed=printed)


def _side(side: Side | float) -> Side:
    """A number as the function that gives it."""
    return side if callable(side) else lambda r: side
