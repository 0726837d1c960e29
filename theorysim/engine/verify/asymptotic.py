"""Verdicts on claims over a ladder: fitted exponents, limits and constants that stay bounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from theorysim.claims.claim import Claim
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.errors import Measurement
from theorysim.engine.verify.points import (
    EQUALITY_RESOLUTION,
    FALSE_ALARM,
    RESOLVED_SHARE,
    Judgement,
    Points,
    tabulate,
)
from theorysim.engine.verify.report import ClaimReport
from theorysim.numerics.statistics import loglog_slope, student_quantile

# A fitted exponent known to within this decides nothing finer: the printed exponents of the field
# are multiples of 1/2.
EXPONENT_RESOLUTION = 0.25

# Largest exponent of the last step of a quantity that has come to rest at a constant.
SETTLED = 0.01

# A limit counts as reached where the last error is below this share of the first distance.
LIMIT_RESOLUTION = 0.1

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
    """A quantity over a ladder (instances x rungs) with its errors, at its largest point each.

    `systematic` is the part of `error` that instances may share: all but sampling. `scale` is
    |lhs| + |rhs|. The quantity is NaN where the claim says nothing (not `given`) or is undefined.
    """

    rungs: np.ndarray
    quantity: np.ndarray
    error: np.ndarray
    systematic: np.ndarray
    scale: np.ndarray
    given: np.ndarray

    @property
    def spoken(self) -> np.ndarray:
        """Per instance, whether the claim speaks of it on every rung."""
        return np.all(self.given, axis=1)

    @property
    def undefined(self) -> np.ndarray:
        """Per instance, whether the quantity or its error is no finite number where it is given."""
        known = np.isfinite(self.quantity) & np.isfinite(self.error)
        return np.any(self.given & ~known, axis=1)

    @property
    def resolved(self) -> np.ndarray:
        """Per instance, whether the quantity exceeds its error on every rung."""
        with np.errstate(invalid="ignore"):
            above = np.all(self.quantity > self.error, axis=1)
        return self.spoken & ~self.undefined & above


# The quantity of a claim at each point, and the unit of its errors.
Quantity: TypeAlias = Callable[[Points], tuple[np.ndarray, np.ndarray]]


def _value(points: Points) -> tuple[np.ndarray, np.ndarray]:
    return points.lhs, np.ones_like(points.lhs)


def _distance(points: Points) -> tuple[np.ndarray, np.ndarray]:
    return np.abs(points.lhs - points.rhs), np.ones_like(points.lhs)


def _constant(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """The smallest c >= 0 with lhs <= c * rhs; infinite where none is, NaN for a negative scale."""
    positive = points.rhs > 0
    unit = np.where(positive, points.rhs, 1.0)
    without = np.where(points.lhs > points.error, np.inf, 0.0)
    value = np.where(positive, points.lhs / unit, np.where(points.rhs == 0, without, np.nan))
    return value, unit


def _climb(ladder: Sequence[tuple[float, Measurement]], quantity: Quantity) -> Climb:
    columns = [_rung(tabulate(measurement), quantity) for _, measurement in ladder]
    rows = min(len(column[0]) for column in columns)
    series = (np.stack([part[:rows] for part in parts], 1) for parts in zip(*columns, strict=True))
    return Climb(np.array([rung for rung, _ in ladder], float), *series)


def _rung(points: Points, quantity: Quantity) -> tuple[np.ndarray, ...]:
    """Per instance, at the point of the largest quantity (an undefined one first)."""
    with np.errstate(invalid="ignore"):
        value, unit = quantity(points)
    value = np.where(points.given, value, -np.inf)
    column = np.argmax(value, axis=1)[:, None]
    shared = points.error - points.parts["sampling"]
    best, *rest = (
        np.take_along_axis(values, column, 1)[:, 0]
        for values in (value, points.error / unit, shared / unit, points.scale)
    )
    given = np.any(points.given, axis=1)
    return np.where(given, best, np.nan), *rest, given


def _fit(rungs: np.ndarray, series: np.ndarray, systematic: np.ndarray | None = None) -> Fit:
    """Log-log slope per instance (all positive); spread between them, change without the lowest.

    The half width also holds what systematic errors of the quantity can make of the mean slope.
    """
    confidence = 1 - FALSE_ALARM
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
        relative = systematic / series
        half_width += float(np.mean(relative @ np.abs(across)) / np.sum(across**2))
    return Fit(mean, half_width, tuple(steps.tolist()), len(series))


def judge_exponent(
    claim: Claim, empty: ClaimReport, ladders: Mapping[str, Sequence[tuple[float, Measurement]]]
) -> Judgement:
    """The printed power against the fitted one, which decides down to its half width."""
    (variable, ladder), *_ = ladders.items()
    climb = _climb(ladder, _value)
    known = climb.resolved
    fit = _fit(climb.rungs, climb.quantity[known], climb.systematic[known])
    difference = fit.exponent - claim.exponent
    room = {"equal": -abs(difference), "at_most": -difference, "at_least": difference}
    slack_ = room[claim.relation]
    if not fit.rows or np.isnan(fit.half_width):
        verdict, note = Verdict.INCONCLUSIVE, "no instance has a positive quantity on all rungs"
    elif slack_ < -fit.half_width:
        verdict, note = Verdict.VIOLATED, ""
    elif climb.undefined.any():
        verdict, note = Verdict.INCONCLUSIVE, _blank(climb)
    elif fit.rows < RESOLVED_SHARE * climb.spoken.sum():
        verdict, note = Verdict.INCONCLUSIVE, _few(climb, fit.rows)
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
        checked=int(climb.spoken.sum()),
        resolved=fit.rows,
        note="; ".join(filter(None, [f"measured {measured}", note])),
        path={"rungs": climb.rungs, "quantity": climb.quantity},
    )
    return Judgement(report, 0)


def _blank(climb: Climb) -> str:
    return f"{climb.undefined.sum()} instances gave no finite number or error"


def _few(climb: Climb, resolved: int) -> str:
    return f"only {resolved} of {climb.spoken.sum()} instances can tell"


def judge_limit(
    claim: Claim, empty: ClaimReport, ladders: Mapping[str, Sequence[tuple[float, Measurement]]]
) -> Judgement:
    """Zero is approached if the distance falls along the ladder and the fall does not slow down.

    A distance that settles at a constant falls ever more slowly in log-log: the exponent between
    the last two rungs is then below half of the overall one, and in the end nearly zero.
    """
    (variable, ladder), *_ = ladders.items()
    climb = _climb(ladder, _distance)
    rungs, distance, error = climb.rungs, climb.quantity, climb.error
    reached = climb.spoken & (distance[:, -1] <= error[:, -1])
    direction = 1.0 if rungs[-1] > rungs[0] else -1.0
    fitted = climb.resolved & ~reached
    fit = _fit(rungs**direction, distance[fitted])
    told = int((reached & _telling(climb)).sum()) + fit.rows
    note = f"distance ~ {variable}^({direction * fit.exponent:.3f} +- {fit.half_width:.3f})"
    if fit.rows and (fit.exponent - fit.half_width >= 0 or fit.settles):
        verdict = Verdict.VIOLATED
    elif climb.undefined.any() or (climb.given.any(1) & ~climb.spoken).any():
        verdict, note = Verdict.INCONCLUSIVE, _blank(climb)
    elif (climb.spoken & ~reached & ~fitted).any():
        verdict, note = Verdict.INCONCLUSIVE, "some distances rise out of their errors"
    elif not told or told < RESOLVED_SHARE * climb.spoken.sum():
        verdict, note = Verdict.INCONCLUSIVE, _few(climb, told)
    elif not fit.rows:
        verdict, note = Verdict.HOLDS, "the limit is reached to within the error"
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
        checked=int(climb.spoken.sum()),
        resolved=told,
        note=note,
        path={"rungs": rungs, "quantity": distance},
    )
    return Judgement(report, worst)


def _telling(climb: Climb) -> np.ndarray:
    """Per instance, whether the last error would have shown a distance that stays.

    It is far below the first distance, or a small share of the sides.
    """
    first = np.where(climb.quantity[:, 0] > climb.error[:, 0], climb.quantity[:, 0], 0.0)
    enough = np.maximum(LIMIT_RESOLUTION * first, EQUALITY_RESOLUTION * climb.scale[:, -1])
    return climb.error[:, -1] <= enough


def judge_constant(
    claim: Claim,
    empty: ClaimReport,
    measurement: Measurement,
    ladders: Mapping[str, Sequence[tuple[float, Measurement]]],
) -> Judgement:
    """Whether the smallest constant that serves all instances stays bounded on every ladder."""
    base = tabulate(measurement)
    here, *_, given = _rung(base, _constant)
    largest = np.where(given & ~np.isnan(here), here, -np.inf)
    row = int(np.argmax(largest))
    verdicts, notes = [], [f"smallest constant {largest[row]:.4g} here"]
    paths, slack_ = {}, np.inf
    for variable, ladder in ladders.items():
        climb = _climb(ladder, _constant)
        verdict, constants, growth = _boundedness(climb)
        verdicts.append(verdict)
        slack_ = min(slack_, -growth)
        listed = ", ".join(f"{constant:.3g}" for constant in constants)
        notes.append(f"over {variable} {', '.join(f'{r:g}' for r in climb.rungs)}: {listed}")
        paths |= {f"{variable}_rungs": climb.rungs, f"{variable}_constants": constants}
    order = (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HOLDS)
    report = replace(
        empty,
        verdict=min(verdicts, key=order.index),
        lhs=float(largest[row]),
        rhs=float("nan"),
        slack=float(slack_),
        error=GROWTH_RESOLUTION,
        error_parts={"ladder": GROWTH_RESOLUTION},
        checked=int(given.sum()),
        resolved=int((given & ~np.isnan(here)).sum()),
        note="; ".join(notes),
        path=paths,
    )
    return Judgement(report, row)


def _boundedness(climb: Climb) -> tuple[Verdict, np.ndarray, float]:
    """Whether the smallest constant of all instances stays bounded; it per rung, and its growth.

    It must do so with its errors added, and grow even with its errors subtracted.
    """
    known = np.where(np.isnan(climb.quantity), -np.inf, climb.quantity)
    with np.errstate(invalid="ignore"):  # an infinite constant with an infinite error
        low, constants, high = (
            np.max(known + shift, axis=0) for shift in (-climb.error, 0.0, climb.error)
        )
    verdict, growth = _bounded(climb.rungs, constants)
    if verdict is Verdict.VIOLATED and (
        np.isposinf(constants).any() or _bounded(climb.rungs, low)[0] is Verdict.VIOLATED
    ):
        return verdict, constants, growth
    blank = climb.undefined.any() or not climb.given.any(0).all()
    if verdict is Verdict.HOLDS and not blank and _bounded(climb.rungs, high)[0] is Verdict.HOLDS:
        return verdict, constants, growth
    return Verdict.INCONCLUSIVE, constants, growth


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
