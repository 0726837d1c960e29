"""Confidence bounds, on the host; with scipy.special, because scipy.stats is slow to import."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Num
from scipy import special


def student_quantile(probability: float, degrees: float) -> float:
    """Quantile of Student's t distribution."""
    return float(special.stdtrit(degrees, probability))


def clopper_pearson(
    successes: Num[np.ndarray, "*n"], trials: Num[np.ndarray, "*n"], confidence: float
) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Exact two-sided binomial bounds (low, high) for the chance of success.

    The interval covers the truth with at least the given confidence, half of the rest on each side.
    """
    k, n = np.asarray(successes, float), np.asarray(trials, float)
    tail = (1 - confidence) / 2
    low = np.where(k > 0, special.betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
    high = np.where(k < n, special.betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
    return low, high


def required_trials(probability: float, confidence: float) -> float:
    """Successes without a failure after which `clopper_pearson` proves at least `probability`."""
    if probability <= 0:
        return 0.0
    if probability >= 1:
        return float("inf")
    return float(np.ceil(np.log((1 - confidence) / 2) / np.log(probability)))


def deciding_trials(frequency: float, probability: float, confidence: float) -> float:
    """Trials after which `clopper_pearson` tells a chance from `probability`, to a factor of 1.1.

    If the frequency of successes stays as it is; infinite where it is the probability itself, or
    needs more than 1e15 trials.
    """
    trials = np.ceil(np.geomspace(1, 1e15, 363))
    low, high = clopper_pearson(np.round(frequency * trials), trials, confidence)
    deciding = trials[(high < probability) | (low >= probability)]
    return float(deciding[0]) if len(deciding) else float("inf")


def pareto_shape(excesses: Float[np.ndarray, " n"]) -> float:
    """Shape of the generalised Pareto law behind excesses over a threshold (n >= 5, positive).

    The tail falls as x^(-1 / shape): moments of order 1 / shape and above are infinite; it is 0 for
    exponential tails and negative for bounded ones. The estimate is the posterior mean of Zhang and
    Stephens (2009, Technometrics 51, 316), which diagnoses importance weights in Vehtari et al.
    (2024, "Pareto smoothed importance sampling"), without the shrinkage added there.

    Raises:
        ValueError: for fewer than five excesses, or some that are not positive and finite.
    """
    y = np.sort(np.asarray(excesses, float))
    if len(y) < 5 or not (y[0] > 0 and np.isfinite(y[-1])):
        raise ValueError(f"a tail needs five excesses or more, positive and finite, got {y}")
    count = 30 + int(np.sqrt(len(y)))
    quartile = y[int(len(y) / 4 + 0.5) - 1]
    # Trial values of -shape / scale, each with its likelihood at the best shape.
    trial = (1 - np.sqrt(count / (np.arange(count) + 0.5))) / (3 * quartile) + 1 / y[-1]
    shape = np.log1p(-trial[:, None] * y).mean(1)
    weight = special.softmax(len(y) * (np.log(-trial / shape) - shape - 1))
    return float(np.log1p(-np.sum(weight * trial) * y).mean())


class Slope(NamedTuple):
    """A fitted slope with its confidence interval."""

    value: Float[np.ndarray, "*n"]
    low: Float[np.ndarray, "*n"]
    high: Float[np.ndarray, "*n"]


def loglog_slope(
    x: Float[np.ndarray, " rungs"],
    y: Float[np.ndarray, "*n rungs"],
    weights: Float[np.ndarray, "*n rungs"] | None = None,
    confidence: float = 0.99,
) -> Slope:
    """Slope of log y over log x by weighted least squares, one per leading index of y.

    The interval is Student's, from the scatter about the line (weights are relative inverse
    variances of log y); two rungs leave no scatter and give an infinite one.

    Raises:
        ValueError: for fewer than two rungs or values that are not positive.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if x.ndim != 1 or len(x) < 2 or y.shape[-1] != len(x):
        raise ValueError(f"expected at least two rungs, got x of shape {x.shape} and y {y.shape}")
    if np.any(x <= 0) or np.any(y <= 0):
        raise ValueError("a log-log slope needs positive values")
    w = np.broadcast_to(1.0 if weights is None else weights, y.shape)
    w = w / w.sum(-1, keepdims=True)
    across = np.log(x) - (w * np.log(x)).sum(-1, keepdims=True)
    up = np.log(y) - (w * np.log(y)).sum(-1, keepdims=True)
    spread = (w * across**2).sum(-1)
    value = (w * across * up).sum(-1) / spread
    degrees = len(x) - 2
    if degrees == 0:
        return Slope(value, np.full_like(value, -np.inf), np.full_like(value, np.inf))
    residual = (w * (up - value[..., None] * across) ** 2).sum(-1) / degrees
    half = student_quantile((1 + confidence) / 2, degrees) * np.sqrt(residual / spread)
    return Slope(value, value - half, value + half)


def loglog_drift(x: Float[np.ndarray, " rungs"], y: Float[np.ndarray, "*n rungs"]) -> float:
    """How far the slope of log y over log x at the last x is from the mean slope; its sign, too.

    Both are of the parabola through the averages of log y over leading indices: zero for a power,
    whatever its scatter is on average; log x + c / x and the like leave what is still to change.

    Raises:
        ValueError: for fewer than three rungs or values that are not positive.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    if len(x) < 3 or y.shape[-1] != len(x):
        raise ValueError(f"expected three rungs or more, got x of shape {x.shape} and y {y.shape}")
    if np.any(x <= 0) or np.any(y <= 0):
        raise ValueError("a log-log slope needs positive values")
    along = np.log(x) - np.mean(np.log(x))
    up = np.mean(np.log(y).reshape(-1, len(x)), axis=0)
    curvature, slope, _ = np.polyfit(along, up, 2)
    return float(slope + 2 * curvature * along[-1] - np.polyfit(along, up, 1)[0])
