"""Verdicts on claims over a ladder: fitted exponents, limits and constants that stay bounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from theorysim.claims.claim import Claim
from theorysim.claims.verdict import Verdict
from theorysim.engine.judge_points import FALSE_ALARM, Judgement, tabulate
from theorysim.engine.measure import Measurement
from theorysim.engine.results import ClaimReport
from theorysim.numerics.statistics import loglog_slope, student_quantile

# A fitted exponent known to within this decides nothing finer: the printed exponents of the field
# are multiples of 1/2.
EXPONENT_RESOLUTION = 0.25

# Largest exponent of the last step of a quantity that has come to rest at a constant.
SETTLED = 0.01

# Smallest growth of a constant, as a power of its rung, that counts as growth.
GROWTH_RESOLUTION = 0.1


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


class Climb(NamedTuple):
    """A quantity over a ladder (instances x rungs; NaN where not given) with its errors.

    `systematic` is the part of `error` that instances may share: all but sampling.
    """

    rungs: np.ndarray
    quantity: np.ndarray
    error: np.ndarray
    systematic: np.ndarray


def _climb(claim: Claim, ladder: Sequence[tuple[float, Measurement]], absolute: bool) -> Climb:
    rungs = np.array([rung for rung, _ in ladder], float)
    quantity, errors, systematic = [], [], []
    for _, measurement in ladder:
        points = tabulate(measurement)
        value = np.abs(points.lhs - points.rhs) if absolute else points.lhs / points.rhs
        unit = 1.0 if absolute else np.abs(points.rhs)
        value = np.where(points.given, value, -np.inf)
        column = np.argmax(value, axis=1)[:, None]
        best = np.take_along_axis(value, column, 1)[:, 0]
        quantity.append(np.where(np.isneginf(best), np.nan, best))
        shared = points.error - points.parts["sampling"]
        for series, values in ((errors, points.error), (systematic, shared)):
            series.append(np.take_along_axis(values / unit, column, 1)[:, 0])
    rows = min(len(q) for q in quantity)
    return Climb(
        rungs, *(np.stack([q[:rows] for q in s], 1) for s in (quantity, errors, systematic))
    )


def _fit(rungs: np.ndarray, quantity: np.ndarray, systematic: np.ndarray | None = None) -> Fit:
    """Log-log slope per instance; spread between instances, change without the lowest rung.

    The half width also holds what systematic errors of the quantity can make of the mean slope.
    """
    confidence = 1 - FALSE_ALARM
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
    half_width = spread + curvature
    if systematic is not None:
        across = np.log(rungs) - np.mean(np.log(rungs))
        relative = systematic[usable] / series
        half_width += float(np.mean(relative @ np.abs(across)) / np.sum(across**2))
    return Fit(mean, half_width, tuple(steps.tolist()), len(series))


def judge_exponent(
    claim: Claim, empty: ClaimReport, ladders: Mapping[str, Sequence[tuple[float, Measurement]]]
) -> Judgement:
    """The printed power against the fitted one, which decides down to its half width."""
    (variable, ladder), *_ = ladders.items()
    rungs, quantity, error, systematic = _climb(claim, ladder, absolute=False)
    fit = _fit(rungs, np.where(quantity > error, quantity, np.nan), systematic)
    difference = fit.exponent - claim.exponent
    room = {"equal": -abs(difference), "at_most": -difference, "at_least": difference}
    slack_ = room[claim.relation]
    if not fit.rows or np.isnan(fit.half_width):
        verdict, note = Verdict.INCONCLUSIVE, "no instance has a positive quantity on all rungs"
    elif slack_ < -fit.half_width:
        verdict, note = Verdict.VIOLATED, ""
    elif slack_ > fit.half_width or fit.half_width <= EXPONENT_RESOLUTION:
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


def judge_limit(
    claim: Claim, empty: ClaimReport, ladders: Mapping[str, Sequence[tuple[float, Measurement]]]
) -> Judgement:
    """Zero is approached if the distance falls along the ladder and the fall does not slow down.

    A distance that settles at a constant falls ever more slowly in log-log: the exponent between
    the last two rungs is then below half of the overall one, and in the end nearly zero.
    """
    (variable, ladder), *_ = ladders.items()
    rungs, distance, error, _ = _climb(claim, ladder, absolute=True)
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


def judge_constant(
    claim: Claim,
    empty: ClaimReport,
    measurement: Measurement,
    ladders: Mapping[str, Sequence[tuple[float, Measurement]]],
) -> Judgement:
    """Whether the smallest constant that serves all instances stays bounded on every ladder."""
    base = tabulate(measurement)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(base.given, base.lhs / base.rhs, -np.inf)
    row = int(np.argmax(np.max(ratio, axis=1)))
    verdicts, notes = [], [f"smallest constant {np.max(ratio):.4g} here"]
    paths, slack_ = {}, np.inf
    for variable, ladder in ladders.items():
        rungs, quantity, *_ = _climb(claim, ladder, absolute=False)
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
