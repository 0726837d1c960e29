"""Quantities over a ladder of a size or a field, and the powers that fit them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from theorysim.claims.evidence import FALSE_ALARM, Ladder, Points, tabulate, why_undefined

# Largest exponent of the last step of a quantity that has come to rest at a constant.
SETTLED = 0.01

# The last exponent of a power is as large as the mean one; that of log n over n = 8..512 is 0.65 of
# it, and could go on fading until the quantity rests.
SUSTAINED = 0.75


@dataclass(frozen=True)
class Fit:
    """Exponents of a quantity over a ladder: mean over instances, half width of its interval."""

    exponent: float
    half_width: float
    steps: tuple[float, ...]  # exponents from each rung to the next
    last_half_width: float
    rows: int

    @property
    def last(self) -> float:
        """The exponent between the last two rungs."""
        return self.steps[-1]

    def sustains(self, printed: float = 0.0, surely: bool = False) -> bool:
        """Whether the last exponent is as far from a printed one as the mean: it does not fade.

        Surely, where the nearer end of its interval is: instances may scatter from rung to rung.
        """
        mean, last = self.exponent - printed, self.last - printed
        nearest = last * np.sign(mean) - surely * self.last_half_width
        return bool(nearest >= SUSTAINED * abs(mean))

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
    |lhs| + |rhs|. The quantity is NaN where the claim does not apply or is undefined; `why` says
    which errors have no number.
    """

    rungs: np.ndarray
    quantity: np.ndarray
    error: np.ndarray
    systematic: np.ndarray
    scale: np.ndarray
    applies: np.ndarray
    why: str

    @property
    def applies_throughout(self) -> np.ndarray:
        """Per instance, whether the claim speaks of it on every rung."""
        return np.all(self.applies, axis=1)

    @property
    def undefined(self) -> np.ndarray:
        """Per instance, whether the quantity or its error is not finite where it applies."""
        known = np.isfinite(self.quantity) & np.isfinite(self.error)
        return np.any(self.applies & ~known, axis=1)

    @property
    def resolved(self) -> np.ndarray:
        """Per instance, whether the quantity exceeds its error on every rung."""
        with np.errstate(invalid="ignore"):
            above = np.all(self.quantity > self.error, axis=1)
        return self.applies_throughout & ~self.undefined & above

    @property
    def moves(self) -> np.ndarray:
        """Per instance, whether the quantity leaves its first value beyond the errors of both."""
        away = np.abs(self.quantity - self.quantity[:, :1])
        return np.any(away > self.error + self.error[:, :1], axis=1)


# The quantity of a claim at each point, and the unit of its errors.
Quantity: TypeAlias = Callable[[Points], tuple[np.ndarray, np.ndarray]]


def climb(ladder: Ladder, quantity: Quantity) -> Climb:
    """The quantity of every instance on every rung, at the point where it is largest."""
    tables = [tabulate(measurement) for _, measurement in ladder]
    columns = [worst_point(table, quantity) for table in tables]
    rows = min(len(column[0]) for column in columns)
    series = (np.stack([part[:rows] for part in parts], 1) for parts in zip(*columns, strict=True))
    reasons = dict.fromkeys(why_undefined(table, table.applies) for table in tables)
    rungs = np.array([rung for rung, _ in ladder], float)
    return Climb(rungs, *series, why="; ".join(filter(None, reasons)))


def worst_point(points: Points, quantity: Quantity) -> tuple[np.ndarray, ...]:
    """Per instance, at the point of the largest quantity (an undefined one first)."""
    with np.errstate(invalid="ignore"):
        value, unit = quantity(points)
    value = np.where(points.applies, value, -np.inf)
    column = np.argmax(value, axis=1)[:, None]
    shared = points.error - points.parts["sampling"]
    best, *rest = (
        np.take_along_axis(values, column, 1)[:, 0]
        for values in (value, points.error / unit, shared / unit, points.scale)
    )
    applies = np.any(points.applies, axis=1)
    return np.where(applies, best, np.nan), *rest, applies


def fit_power(rungs: np.ndarray, series: np.ndarray, systematic: np.ndarray | None = None) -> Fit:
    """Log-log slope per instance (all positive); the spread between them, and the drift.

    The drift is what the slope at the last rung is away from the mean slope: rungs whose slopes
    still change are not asymptotic. The half width also holds what systematic errors of the
    quantity can make of the mean slope.
    """
    if not len(series):
        return Fit(np.nan, np.nan, (np.nan,), np.nan, 0)
    from theorysim.numerics.statistics import loglog_drift, loglog_slope, student_quantile

    confidence = 1 - FALSE_ALARM
    whole = loglog_slope(rungs, series, confidence=confidence)
    slopes = np.atleast_1d(whole.value)
    mean = float(np.mean(slopes))
    each = np.diff(np.log(series), axis=1) / np.diff(np.log(rungs))
    if len(slopes) > 1:
        quantile = student_quantile((1 + confidence) / 2, len(slopes) - 1) / np.sqrt(len(slopes))
        spread = float(quantile * np.std(slopes, ddof=1))
        last_spread = float(quantile * np.std(each[:, -1], ddof=1))
    else:
        spread = last_spread = float(np.max(np.atleast_1d(whole.high) - slopes))
    steps = np.mean(each, axis=0)
    half_width = spread + abs(loglog_drift(rungs, series))
    if systematic is not None:
        across = np.log(rungs) - np.mean(np.log(rungs))
        relative = systematic / series
        half_width += float(np.mean(relative @ np.abs(across)) / np.sum(across**2))
    return Fit(mean, half_width, tuple(steps.tolist()), last_spread, len(series))


def undefined_note(found: Climb) -> str:
    """How many instances gave no number, and why."""
    share = f"{found.undefined.sum()} of {len(found.quantity)} instances"
    return ": ".join(filter(None, [f"{share} gave no finite number or error", found.why]))


def unresolved_note(found: Climb, resolved: int) -> str:
    """How many instances are resolved."""
    return f"only {resolved} of {found.applies_throughout.sum()} instances are resolved"
