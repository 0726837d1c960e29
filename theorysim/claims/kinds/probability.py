"""An event that happens with a printed probability over the keys of the simulation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from theorysim.claims.evidence import (
    FALSE_ALARM,
    RESOLVED_SHARE,
    Evidence,
    Judgement,
    tabulate,
)
from theorysim.claims.kinds.base import Attack, Claim, Side
from theorysim.claims.kinds.inequality import AtMost
from theorysim.claims.run import Run
from theorysim.claims.verdict import Verdict
from theorysim.errors import UsageError

# What a formula for a probability loses to rounding, of itself: 1 + 2^-52 may be 1, which is met.
ROUNDED = 16 * float(np.finfo(np.float64).eps)


def _one(run: Run) -> float:
    return 1.0


@dataclass(frozen=True, eq=False)
class Probable(Claim):
    """P(lhs <= rhs at every point of a run) >= probability; both sides lead with the keys."""

    probability: Side = _one

    kind: ClassVar[str] = "with_probability"
    attack: ClassVar[Attack] = Attack.RESAMPLE
    averages_keys: ClassVar[bool] = True
    labels: ClassVar[tuple[str, str]] = ("frequency", "printed probability")

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """rhs - lhs: the room of the event."""
        return rhs - lhs

    def printed_probability(self, run: Run) -> Any:
        """The probability that is printed, one number per instance.

        Raises:
            UsageError: for an array.
        """
        probability = jnp.asarray(self.probability(run), float)
        if probability.shape:
            raise UsageError(f"claim {self.name!r}: the printed probability must be one number")
        return probability

    def judge(self, evidence: Evidence) -> Judgement:
        """Clopper-Pearson bounds per instance; what rounding decides counts both ways."""
        from theorysim.numerics.statistics import clopper_pearson  # slow, and rarely needed

        measurement = evidence.measurement
        rows, keys = np.asarray(measurement.lhs).shape[:2]
        probability = np.asarray(measurement.probability)
        points = tabulate(measurement)
        holds, violated = AtMost(self.name, self.lhs, self.rhs).states(points)
        applies = np.asarray(measurement.applies).reshape(rows, keys, -1)
        failed = violated.reshape(rows, keys, -1).any(2)
        certain = (holds.reshape(rows, keys, -1) | ~applies).all(2)
        judged = applies.any((1, 2)) & ~(probability <= 0)  # NaN is judged, and has no number
        unknown = np.isnan(probability) | (points.applies & np.isnan(points.error)).any(1)
        blank = judged & unknown
        if not judged.any():
            return Judgement(Verdict.VACUOUS, "the printed probability is nowhere positive")
        confidence = 1 - FALSE_ALARM / rows
        low = clopper_pearson(certain.sum(1), np.full(rows, keys), confidence)[0]
        high = clopper_pearson((~failed).sum(1), np.full(rows, keys), confidence)[1]
        least = probability - ROUNDED * np.abs(probability)
        good, bad = judged & (low >= probability), judged & (high < least)
        frequency = (~failed).mean(1)
        told = bad if bad.any() else judged
        row = int(np.argmin(np.where(told, frequency - probability, np.inf)))
        if bad.any():
            verdict = Verdict.VIOLATED
            note = f"{bad.sum()} of {judged.sum()} instances fail too often"
        elif blank.any():
            verdict, note = (
                Verdict.INCONCLUSIVE,
                f"{blank.sum()} of {judged.sum()} instances gave no number",
            )
        elif good.sum() >= RESOLVED_SHARE * judged.sum():
            verdict, note = Verdict.HOLDS, f"{keys} keys per instance"
        else:
            unclear = judged & ~good & ~bad
            verdict = Verdict.INCONCLUSIVE
            advice = _keys_that_decide(frequency[unclear], probability[unclear], confidence)
            note = f"{keys} keys per instance are too few{advice}"
        return Judgement(
            verdict,
            note,
            lhs=float(frequency[row]),
            rhs=float(probability[row]),
            slack=float(frequency[row] - probability[row]),
            error=float(max(frequency[row] - low[row], high[row] - frequency[row])),
            error_parts={"sampling": float(high[row] - low[row]) / 2},
            checked=int(judged.sum()),
            resolved=int((good | bad).sum()),
            scatter={"lhs": frequency, "rhs": probability, "violated": bad},
            row=row,
        )


def _keys_that_decide(
    frequency: Float[np.ndarray, " n"], probability: Float[np.ndarray, " n"], confidence: float
) -> str:
    """How many keys would decide at the median instance, if its frequency stays as it is.

    Nothing where no number of keys would.
    """
    from theorysim.numerics.statistics import deciding_trials, required_trials

    if np.all(frequency == 1):
        needed = required_trials(float(np.max(probability)), confidence)
        return f"; {needed:.3g} keys without a failure would decide" if np.isfinite(needed) else ""
    each = map(partial(deciding_trials, confidence=confidence), frequency, probability)
    needed = float(np.median(list(each)))
    if not np.isfinite(needed):
        return ""
    return f"; about {needed:.2g} keys would decide at the frequencies that were measured"


def with_probability(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    at_least: Side,
    where: Side | None = None,
    statement: str = "",
) -> Probable:
    """P(lhs <= rhs at every point of the run) >= at_least, over the keys of the simulation.

    Both sides lead with the axis of keys.
    """
    return Probable(name, lhs, rhs, where, statement, probability=at_least)
