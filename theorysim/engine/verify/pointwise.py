"""From measurements to verdicts: what each kind of claim needs to hold or to be violated.

A point *holds* only if its slack exceeds its error, is *violated* only if the slack is below minus
the error; what lies between is unresolved. NaN is never resolved and keeps the claim from holding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.errors import Measurement
from theorysim.engine.verify.asymptotic import judge_constant, judge_exponent, judge_limit
from theorysim.engine.verify.points import (
    EQUALITY_RESOLUTION,
    FALSE_ALARM,
    RESOLVED_SHARE,
    Judgement,
    Points,
    slack,
    tabulate,
)
from theorysim.engine.verify.report import ClaimReport
from theorysim.errors import UsageError
from theorysim.numerics.statistics import clopper_pearson, required_trials

# Equality attained in a non-strict inequality counts as a tie if only rounding blurs it and the
# rounding is below the square root of the precision, relative to the sides.
TIE_RESOLUTION = np.sqrt(np.finfo(np.float64).eps)


def judge(
    claim: Claim,
    measurement: Measurement | None,
    wrong: Measurement | None,
    ladders: Mapping[str, Sequence[tuple[float, Measurement]]],
) -> Judgement:
    """The verdict on a claim from its measurements on all instances (and on all rungs).

    `measurement` is None where no instance satisfies the hypotheses; `wrong` measures the same
    claim under the wrong reading on the same instances, if it changes it.
    """
    empty = ClaimReport(claim.name, str(claim.kind), claim.statement, Verdict.VACUOUS)
    if measurement is None:
        return Judgement(replace(empty, note="no instance satisfies the hypotheses"))
    if claim.kind is Kind.WITH_PROBABILITY:
        return _judge_probability(claim, empty, measurement)
    if claim.kind is Kind.SCALES_AS:
        return judge_exponent(claim, empty, ladders)
    if claim.kind is Kind.TENDS_TO:
        return judge_limit(claim, empty, ladders)
    if claim.kind is Kind.EXISTS_CONSTANT:
        return judge_constant(claim, empty, measurement, ladders)
    return _judge_points(claim, empty, measurement, wrong)


def _states(claim: Claim, points: Points) -> tuple[np.ndarray, np.ndarray]:
    """Per point: whether the claim holds there, whether it is violated there."""
    room = slack(claim.kind, points.lhs, points.rhs)
    with np.errstate(invalid="ignore"):
        if claim.kind is Kind.EQUAL:
            agrees = (room >= -points.error) | (points.lhs == points.rhs)
            return agrees & points.given, (room < -points.error) & points.given
        tie = (np.abs(room) <= points.error) & (points.blur == 0)
        tie &= points.error <= TIE_RESOLUTION * points.scale
        holds = (room > points.error) | (tie & (not claim.strict))
        return holds & points.given, (room < -points.error) & points.given


def violated_rows(claim: Claim, measurement: Measurement) -> np.ndarray:
    """Per instance, whether a pointwise claim is violated at one of its points."""
    return np.any(_states(claim, tabulate(measurement))[1], axis=1)


def _resolved_rows(
    claim: Claim, points: Points, holds: np.ndarray, wrong: Measurement | None
) -> np.ndarray:
    """Per instance, whether an agreement (a positive slack) there says something."""
    spoken = np.maximum(points.given.sum(1), 1)
    if claim.kind is not Kind.EQUAL:
        return holds.sum(1) >= RESOLVED_SHARE * spoken
    if wrong is not None and _changes(points, wrong):
        return np.any(_states(claim, _as_blurred(tabulate(wrong), points))[1], axis=1)
    fine = points.error <= EQUALITY_RESOLUTION * points.scale
    return (fine & points.given).sum(1) >= RESOLVED_SHARE * spoken


def _as_blurred(wrong: Points, points: Points) -> Points:
    """The wrong reading with errors not below those of the equality that it is to be told from."""
    own = points.error
    if own.shape != wrong.error.shape:
        own = np.max(own, axis=1, keepdims=True)
    return replace(wrong, error=np.maximum(wrong.error, own))


def _changes(points: Points, wrong: Measurement) -> bool:
    other = tabulate(wrong)
    same = other.lhs.shape == points.lhs.shape
    return not (
        same
        and np.array_equal(other.lhs, points.lhs, equal_nan=True)
        and np.array_equal(other.rhs, points.rhs, equal_nan=True)
    )


def _judge_points(
    claim: Claim, empty: ClaimReport, measurement: Measurement, wrong: Measurement | None
) -> Judgement:
    points = tabulate(measurement)
    holds, violated = _states(claim, points)
    undefined = points.given & ~(holds | violated) & ~np.isfinite(points.error)
    undefined |= points.given & np.isnan(points.lhs + points.rhs) & ~violated
    spoken = points.given.any(1)
    if not spoken.any():
        return Judgement(replace(empty, note="no point meets the claim's own condition"))
    bad, blank = violated.any(1), undefined.any(1)
    good = spoken & ~bad & ~blank & _resolved_rows(claim, points, holds, wrong)
    note, unresolved = "", False
    if bad.any():
        verdict, note = Verdict.VIOLATED, f"{bad.sum()} of {spoken.sum()} instances violate it"
    elif blank.any():
        verdict = Verdict.INCONCLUSIVE
        note = f"{blank.sum()} of {spoken.sum()} instances gave no finite number or error"
    elif good.sum() >= RESOLVED_SHARE * spoken.sum():
        verdict = Verdict.HOLDS
        note = _precision(claim, points, good)
    else:
        verdict, unresolved = Verdict.INCONCLUSIVE, True
        note = f"only {good.sum()} of {spoken.sum()} instances can tell"
    row, column = _decisive(claim, points, violated, undefined)
    report = replace(
        empty,
        verdict=verdict,
        **_numbers(claim, points, row, column),
        tightness=_tightness(claim, points, holds | violated),
        checked=int(spoken.sum()),
        resolved=int((good | bad).sum()),
        note=note,
        path=_path(measurement, row),
        scatter=_scatter(claim, points, violated),
    )
    return Judgement(report, row, unresolved)


def _precision(claim: Claim, points: Points, good: np.ndarray) -> str:
    if claim.kind is not Kind.EQUAL:
        return ""
    relative = np.where(points.given & (points.scale > 0), points.error, 0)[good]
    scale = np.max(np.where(points.given, points.scale, 0)[good], axis=1, keepdims=True)
    return f"equal to within {np.max(relative / np.where(scale > 0, scale, 1)):.0e} of the sides"


def _score(claim: Claim, points: Points) -> np.ndarray:
    """Relative room per point, infinite where the claim says nothing."""
    room = slack(claim.kind, points.lhs, points.rhs)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = (room + np.where(room < 0, points.error, 0)) / points.scale
    relative = np.where(points.scale > 0, relative, room)
    return np.where(points.given & ~np.isnan(relative), relative, np.inf)


def _decisive(
    claim: Claim, points: Points, violated: np.ndarray, undefined: np.ndarray
) -> tuple[int, int]:
    if undefined.any() and not violated.any():
        row, column = np.unravel_index(np.argmax(undefined), undefined.shape)
    else:
        score = _score(claim, points)
        score = np.where(violated, score, np.inf) if violated.any() else score
        row, column = np.unravel_index(np.argmin(score), score.shape)
    return int(row), int(column)


def _numbers(claim: Claim, points: Points, row: int, column: int) -> dict:
    lhs, rhs = points.lhs[row, column], points.rhs[row, column]
    return {
        "lhs": float(lhs),
        "rhs": float(rhs),
        "slack": float(slack(claim.kind, lhs, rhs)),
        "error": float(points.error[row, column]),
        "error_parts": {name: float(part[row, column]) for name, part in points.parts.items()},
    }


def _tightness(claim: Claim, points: Points, resolved: np.ndarray) -> float:
    """Largest ratio of the bounded side to its bound over the resolved points."""
    if claim.kind is Kind.EQUAL:
        return float("nan")
    bounded, bound = points.lhs, points.rhs
    if claim.kind in (Kind.AT_LEAST, Kind.DECREASING):
        bounded, bound = bound, bounded
    where = resolved & (bound > 0) & (bounded >= 0)
    if not where.any():
        return float("nan")
    return float(np.max(bounded[where] / bound[where]))


def _path(measurement: Measurement, row: int) -> dict[str, np.ndarray]:
    return {
        "lhs": np.asarray(measurement.lhs)[row],
        "rhs": np.asarray(measurement.rhs)[row],
        "given": np.asarray(measurement.given)[row],
    }


def _scatter(claim: Claim, points: Points, violated: np.ndarray) -> dict[str, np.ndarray]:
    """Both sides at the worst point of every instance."""
    column = np.argmin(_score(claim, points), axis=1)[:, None]
    return {
        "lhs": np.take_along_axis(points.lhs, column, 1)[:, 0],
        "rhs": np.take_along_axis(points.rhs, column, 1)[:, 0],
        "violated": np.any(violated, axis=1, keepdims=True)[:, 0],
    }


def _judge_probability(claim: Claim, empty: ClaimReport, measurement: Measurement) -> Judgement:
    """Clopper-Pearson bounds per instance; runs whose outcome rounding decides count both ways."""
    lhs = np.asarray(measurement.lhs)
    rows, keys = lhs.shape[:2]
    as_event = replace(claim, kind=Kind.AT_MOST)
    points = tabulate(measurement)
    holds, violated = _states(as_event, points)
    given = np.asarray(measurement.given).reshape(rows, keys, -1)
    failed = violated.reshape(rows, keys, -1).any(2)
    certain = (holds.reshape(rows, keys, -1) | ~given).all(2)
    probability = np.asarray(measurement.probability)
    if probability.shape != (rows,):
        raise UsageError(f"claim {claim.name!r}: the printed probability must be one number")
    spoken = given.any((1, 2)) & ~(probability <= 0)  # NaN is spoken of
    blank = spoken & (np.isnan(probability) | (points.given & np.isnan(points.error)).any(1))
    if not spoken.any():
        return Judgement(replace(empty, note="the printed probability is nowhere positive"))
    confidence = 1 - FALSE_ALARM / rows
    low = clopper_pearson(certain.sum(1), np.full(rows, keys), confidence)[0]
    high = clopper_pearson((~failed).sum(1), np.full(rows, keys), confidence)[1]
    good, bad = spoken & (low >= probability), spoken & (high < probability)
    frequency = (~failed).mean(1)
    row = int(np.argmin(np.where(spoken, frequency - probability, np.inf)))
    unclear = spoken & ~good & ~bad
    if bad.any():
        verdict, note = Verdict.VIOLATED, f"{bad.sum()} of {spoken.sum()} instances fail too often"
    elif blank.any():
        verdict, note = Verdict.INCONCLUSIVE, f"{blank.sum()} instances gave no number"
    elif good.sum() >= RESOLVED_SHARE * spoken.sum():
        verdict, note = Verdict.HOLDS, f"{keys} keys per instance"
    else:
        needed = required_trials(float(np.max(probability[unclear])), confidence)
        verdict = Verdict.INCONCLUSIVE
        note = f"{keys} keys per instance cannot tell; {needed:.3g} keys without a failure would"
    report = replace(
        empty,
        verdict=verdict,
        lhs=float(frequency[row]),
        rhs=float(probability[row]),
        slack=float(frequency[row] - probability[row]),
        error=float(max(frequency[row] - low[row], high[row] - frequency[row])),
        error_parts={"sampling": float(high[row] - low[row]) / 2},
        checked=int(spoken.sum()),
        resolved=int((good | bad).sum()),
        note=note,
        scatter={"lhs": frequency, "rhs": probability, "violated": bad},
    )
    return Judgement(report, row)
