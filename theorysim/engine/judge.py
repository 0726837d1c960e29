"""From measurements to verdicts: what each kind of claim needs to hold or to be violated.

A point *holds* only if its slack exceeds its error, is *violated* only if the slack is below minus
the error; what lies between is unresolved. NaN is never resolved and keeps the claim from holding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.run import BATCHES
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure import Measurement
from theorysim.engine.results import ClaimReport
from theorysim.numerics.statistics import (
    clopper_pearson,
    loglog_slope,
    required_trials,
    student_quantile,
)

# Chance that a true claim is refuted by Monte-Carlo noise, shared among all its comparisons.
FALSE_ALARM = 1e-3

# A claim holds once this share of its instances (and of the points of each) tells true from false.
RESOLVED_SHARE = 0.5

# Where the wrong reading leaves an equality's sides as they are, an agreement counts as resolved if
# the error is below this share of the sides: it would have seen a lost factor of 1.001.
EQUALITY_RESOLUTION = 1e-3

# Equality attained in a non-strict inequality counts as a tie if only rounding blurs it and the
# rounding is below the square root of the precision, relative to the sides.
TIE_RESOLUTION = np.sqrt(np.finfo(np.float64).eps)

# A fitted exponent known to within this decides nothing finer: the printed exponents of the field
# are multiples of 1/2.
EXPONENT_RESOLUTION = 0.25

# Largest exponent of the last step of a quantity that has come to rest at a constant.
SETTLED = 0.01

# Smallest growth of a constant, as a power of its rung, that counts as growth.
GROWTH_RESOLUTION = 0.1


@dataclass(frozen=True)
class Judgement:
    """The verdict on one claim and the row (instance) that decided it."""

    report: ClaimReport
    row: int | None = None
    unresolved: bool = False


@dataclass(frozen=True)
class Points:
    """A claim's points as a table: one row per instance, one column per key and path point."""

    lhs: np.ndarray
    rhs: np.ndarray
    given: np.ndarray
    error: np.ndarray
    blur: np.ndarray  # the part of the error that is not rounding
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def scale(self) -> np.ndarray:
        return np.abs(self.lhs) + np.abs(self.rhs)


def slack(kind: Kind, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Signed room of a relation: negative where it is violated."""
    with np.errstate(invalid="ignore"):
        if kind in (Kind.AT_LEAST, Kind.DECREASING):
            return lhs - rhs
        if kind is Kind.EQUAL:
            return -np.abs(lhs - rhs)
        return rhs - lhs


def tabulate(measurement: Measurement) -> Points:
    """The measurement as a table with its total error per point."""
    rows = np.shape(measurement.lhs)[0]
    table = {
        name: np.asarray(getattr(measurement, name)).reshape(rows, -1)
        for name in ("lhs", "rhs", "given", "limit", "sampling", "skewness")
    }
    comparisons = max(int(np.sum(table["given"] & (table["sampling"] > 0))), 1)
    quantile = student_quantile(1 - FALSE_ALARM / (2 * comparisons), BATCHES - 1)
    eps = np.finfo(table["lhs"].dtype).eps
    with np.errstate(invalid="ignore"):
        own = eps * (np.abs(table["lhs"]) + np.abs(table["rhs"]))
        parts = {
            "rounding": np.asarray(measurement.rounding).reshape(rows, 1) + own,
            "integrator": np.asarray(measurement.integrator).reshape(rows, 1) + 0 * own,
            "limit": table["limit"],
            "sampling": _widened(quantile, table["skewness"]) * table["sampling"],
        }
        blur = parts["integrator"] + parts["limit"] + parts["sampling"]
        error = parts["rounding"] + blur
    return Points(table["lhs"], table["rhs"], table["given"].astype(bool), error, blur, parts)


def _widened(quantile: float, skewness: np.ndarray) -> np.ndarray:
    """Student's quantile with Johnson's correction for skewed batches, taken on both sides.

    Without it the mean of a square (256 draws, 16 instances) was refuted in 15 of 1000 cases
    at a nominal 1.
    """
    return quantile + np.abs(skewness) / (6 * np.sqrt(BATCHES)) * (1 + 2 * quantile**2)


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
        return _judge_exponent(claim, empty, ladders)
    if claim.kind is Kind.TENDS_TO:
        return _judge_limit(claim, empty, ladders)
    if claim.kind is Kind.EXISTS_CONSTANT:
        return _judge_constant(claim, empty, measurement, ladders)
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
        return violated_rows(claim, wrong)
    fine = points.error <= EQUALITY_RESOLUTION * points.scale
    return (fine & points.given).sum(1) >= RESOLVED_SHARE * spoken


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
        tightness=_tightness(claim, points, holds),
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


def _tightness(claim: Claim, points: Points, holds: np.ndarray) -> float:
    """Largest ratio of the bounded side to its bound over the resolved points."""
    if claim.kind is Kind.EQUAL:
        return float("nan")
    bounded, bound = points.lhs, points.rhs
    if claim.kind in (Kind.AT_LEAST, Kind.DECREASING):
        bounded, bound = bound, bounded
    where = holds & (bound > 0) & (bounded >= 0)
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
    holds, violated = _states(as_event, tabulate(measurement))
    given = np.asarray(measurement.given).reshape(rows, keys, -1)
    failed = violated.reshape(rows, keys, -1).any(2)
    certain = (holds.reshape(rows, keys, -1) | ~given).all(2)
    probability = np.asarray(measurement.probability).reshape(rows, -1)[:, 0]
    spoken = given.any((1, 2)) & (probability > 0)
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
    elif np.isnan(tabulate(measurement).error[spoken]).any():
        verdict, note = Verdict.INCONCLUSIVE, "some runs gave no number"
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


@dataclass(frozen=True)
class Fit:
    """Exponents of a quantity over a ladder: mean over instances, half width of its interval."""

    exponent: float
    half_width: float
    steps: tuple[float, ...]  # exponents from each rung to the next
    rows: int

    @property
    def last(self) -> float:
        """The exponent between the last two rungs."""
        return self.steps[-1]

    @property
    def settles(self) -> bool:
        """Whether the quantity has come to a constant: steps fade by halves and are nearly zero.

        A quantity that decays like one over a logarithm fades too, but not by halves.
        """
        before, last = np.abs(self.steps[-2:]) if len(self.steps) > 1 else (0.0, np.inf)
        return bool(last <= SETTLED and last <= before / 2)


def _climb(
    claim: Claim, ladder: Sequence[tuple[float, Measurement]], absolute: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rungs, the quantity (instances x rungs; NaN where not given) and its error."""
    rungs = np.array([rung for rung, _ in ladder], float)
    quantity, errors = [], []
    for _, measurement in ladder:
        points = tabulate(measurement)
        value = np.abs(points.lhs - points.rhs) if absolute else points.lhs / points.rhs
        error = points.error if absolute else points.error / np.abs(points.rhs)
        value = np.where(points.given, value, -np.inf)
        column = np.argmax(value, axis=1)[:, None]
        best = np.take_along_axis(value, column, 1)[:, 0]
        quantity.append(np.where(np.isneginf(best), np.nan, best))
        errors.append(np.take_along_axis(error, column, 1)[:, 0])
    rows = min(len(q) for q in quantity)
    stack = [np.stack([q[:rows] for q in series], axis=1) for series in (quantity, errors)]
    return rungs, stack[0], stack[1]


def _fit(rungs: np.ndarray, quantity: np.ndarray, confidence: float = 1 - FALSE_ALARM) -> Fit:
    """Log-log slope per instance, spread between instances, change without the lowest rung."""
    usable = np.all(np.isfinite(quantity) & (quantity > 0), axis=1)
    series = quantity[usable]
    if not len(series):
        return Fit(np.nan, np.nan, (np.nan,), 0)
    whole = loglog_slope(rungs, series, confidence=confidence)
    slopes = np.atleast_1d(whole.value)
    mean = float(np.mean(slopes))
    curvature = abs(float(np.mean(loglog_slope(rungs[1:], series[:, 1:]).value)) - mean)
    if len(slopes) > 1:
        quantile = student_quantile((1 + confidence) / 2, len(slopes) - 1)
        spread = float(quantile * np.std(slopes, ddof=1) / np.sqrt(len(slopes)))
    else:
        spread = float(np.max(np.atleast_1d(whole.high) - slopes))
    steps = np.mean(np.diff(np.log(series), axis=1), axis=0) / np.diff(np.log(rungs))
    return Fit(mean, spread + curvature, tuple(steps.tolist()), len(series))


def _judge_exponent(
    claim: Claim, empty: ClaimReport, ladders: Mapping[str, Sequence[tuple[float, Measurement]]]
) -> Judgement:
    (variable, ladder), *_ = ladders.items()
    rungs, quantity, error = _climb(claim, ladder, absolute=False)
    fit = _fit(rungs, np.where(quantity > error, quantity, np.nan))
    difference = fit.exponent - claim.exponent
    room = {"equal": -abs(difference), "at_most": -difference, "at_least": difference}
    slack_ = room[claim.relation]
    if not fit.rows or np.isnan(fit.half_width):
        verdict, note = Verdict.INCONCLUSIVE, "no instance has a positive quantity on all rungs"
    elif slack_ < -fit.half_width:
        verdict, note = Verdict.VIOLATED, ""
    elif fit.half_width <= EXPONENT_RESOLUTION:
        verdict, note = Verdict.HOLDS, ""
    else:
        verdict, note = Verdict.INCONCLUSIVE, "the exponent is not known well enough"
    measured = f"{variable}^({fit.exponent:.3f} +- {fit.half_width:.3f})"
    report = replace(
        empty,
        verdict=verdict,
        lhs=fit.exponent,
        rhs=claim.exponent,
        slack=slack_,
        error=fit.half_width,
        error_parts={"ladder": fit.half_width},
        checked=len(quantity),
        resolved=fit.rows,
        note="; ".join(filter(None, [f"measured {measured}", note])),
        path={"rungs": rungs, "quantity": quantity},
    )
    return Judgement(report, 0)


def _judge_limit(
    claim: Claim, empty: ClaimReport, ladders: Mapping[str, Sequence[tuple[float, Measurement]]]
) -> Judgement:
    """Zero is approached if the distance falls along the ladder and the fall does not slow down.

    A distance that settles at a constant falls ever more slowly in log-log: the exponent between
    the last two rungs is then below half of the overall one, and in the end nearly zero.
    """
    (variable, ladder), *_ = ladders.items()
    rungs, distance, error = _climb(claim, ladder, absolute=True)
    reached = distance[:, -1] <= error[:, -1]
    open_rows = ~reached & np.isfinite(distance).all(1)
    direction = 1.0 if rungs[-1] > rungs[0] else -1.0
    fit = _fit(rungs**direction, np.where(distance > error, distance, np.nan)[open_rows])
    undefined = np.isnan(distance).any(1)
    if undefined.all() or (undefined & ~np.isnan(distance).all(1)).any():
        verdict = Verdict.INCONCLUSIVE
    elif not fit.rows:
        verdict = Verdict.HOLDS if reached.any() else Verdict.INCONCLUSIVE
    elif fit.exponent - fit.half_width >= 0 or fit.settles:
        verdict = Verdict.VIOLATED
    elif fit.exponent + fit.half_width < 0 and fit.last <= fit.exponent / 2:
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.INCONCLUSIVE
    worst = int(np.nanargmax(np.where(np.isnan(distance[:, -1]), -1, distance[:, -1])))
    report = replace(
        empty,
        verdict=verdict,
        lhs=float(distance[worst, -1]),
        rhs=0.0,
        slack=-float(distance[worst, -1]),
        error=float(error[worst, -1]),
        error_parts={"ladder": fit.half_width, "numerical": float(error[worst, -1])},
        checked=len(distance),
        resolved=int(reached.sum()) + fit.rows,
        note=f"distance ~ {variable}^({direction * fit.exponent:.3f} +- {fit.half_width:.3f})"
        if fit.rows
        else "the limit is reached to within the error",
        path={"rungs": rungs, "quantity": distance},
    )
    return Judgement(report, worst)


def _judge_constant(
    claim: Claim,
    empty: ClaimReport,
    measurement: Measurement,
    ladders: Mapping[str, Sequence[tuple[float, Measurement]]],
) -> Judgement:
    base = tabulate(measurement)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(base.given, base.lhs / base.rhs, -np.inf)
    row = int(np.argmax(np.max(ratio, axis=1)))
    verdicts, notes = [], [f"smallest constant {np.max(ratio):.4g} here"]
    paths, slack_ = {}, np.inf
    for variable, ladder in ladders.items():
        rungs, quantity, _ = _climb(claim, ladder, absolute=False)
        constants = np.nanmax(quantity, axis=0) if np.isfinite(quantity).any() else quantity[0]
        verdict, growth = _bounded(rungs, constants)
        verdicts.append(verdict)
        slack_ = min(slack_, -growth)
        listed = ", ".join(f"{constant:.3g}" for constant in constants)
        notes.append(f"over {variable} {', '.join(f'{r:g}' for r in rungs)}: {listed}")
        paths |= {f"{variable}_rungs": rungs, f"{variable}_constants": constants}
    order = (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HOLDS)
    report = replace(
        empty,
        verdict=min(verdicts, key=order.index),
        lhs=float(np.max(ratio)),
        rhs=float("nan"),
        slack=float(slack_),
        error=GROWTH_RESOLUTION,
        error_parts={"ladder": GROWTH_RESOLUTION},
        checked=len(base.lhs),
        resolved=len(base.lhs),
        note="; ".join(notes),
        path=paths,
    )
    return Judgement(report, row)


def _bounded(rungs: np.ndarray, constants: np.ndarray) -> tuple[Verdict, float]:
    """Whether the smallest constant stays bounded as the ladder is climbed, and its growth."""
    if np.any(np.isposinf(constants)):
        return Verdict.VIOLATED, np.inf
    if not np.all(np.isfinite(constants)):
        return Verdict.INCONCLUSIVE, np.nan
    if np.all(constants <= 0):
        return Verdict.HOLDS, -np.inf
    distance = np.exp(np.abs(np.log(rungs / rungs[0])))
    fit = _fit(distance, np.maximum(constants, np.finfo(float).tiny)[None])
    growth, last = fit.exponent, fit.last
    if growth <= GROWTH_RESOLUTION or last <= GROWTH_RESOLUTION:
        return Verdict.HOLDS, growth
    if last >= growth / 2 and growth - fit.half_width > GROWTH_RESOLUTION:
        return Verdict.VIOLATED, growth
    return Verdict.INCONCLUSIVE, growth
