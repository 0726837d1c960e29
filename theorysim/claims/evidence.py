"""What a claim is judged by: both sides on all instances with their errors, as tables of points."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Shaped

from theorysim.claims.run import BATCHES
from theorysim.claims.verdict import Verdict

# Chance that a true claim is refuted by Monte-Carlo noise, shared among all its comparisons.
FALSE_ALARM = 1e-3

# Averages have no error where the tails of their samples, beyond so many median deviations (two
# standard deviations of a normal law), fall so slowly that the variance is infinite: shape 1/2.
# Fewer excesses tell no shape.
TAIL = 3.0
HEAVY_SHAPE = 0.5
LEAST_EXCESSES = 20

# A formula that is not linear in its averages is biased, by so many times what the jackknife says:
# of the bias of |m|^p, where m is noise, it says the part p/2.
BIASES = 4.0

# An instance whose largest deviations are so many times smaller than those of all together has
# missed what makes them: among 64 keys one such event makes an eighth of what 64 would.
MISSED = 8.0

# What is computed from a mean is clear where it is so many standard errors from 0, at each of many
# points.
SURELY = 6.0

# A claim holds once this share of its instances (and of the points of each) is resolved.
RESOLVED_SHARE = 0.5

# An agreement of two sides is resolved if the error is below this share of them: it would have
# seen a lost factor of 1.001. Mutants that change the sides by more must be refuted, too.
EQUALITY_RESOLUTION = 1e-3

# An agreement within an error above this share of the sides is none, even if every mutant is
# coarser still. Half of one side is a quarter of both: a lost factor of 2 or 1/2 would have shown.
COARSEST_EQUALITY = 0.25


class Edge(NamedTuple):
    """The distance of a condition from 0, in the shape of the points, and what it errs by.

    That is `error` (of limits, integrations, and of what averages bias) and `sampling`, a standard
    error. One number per instance, an infinite distance, where there is no condition.
    """

    distance: Shaped[Any, "*points"]
    error: Shaped[Any, "*points"]
    sampling: Shaped[Any, "*points"]


@dataclass(frozen=True)
class Measurement:
    """Both sides of a claim for one instance (with a leading axis: for many), and their errors.

    `lhs`, `rhs`, `applies` (whether the claim speaks of the point), `limit`, `sampling` (a standard
    error), `skewness` (of the batches behind it) and `bias` (what the jackknife says of the
    slack's) have the shape of the points; so has `rounding`, or it is one number per instance, as
    `integrator` is, the largest along the path. `edge` is how far the points are from where the
    claim's condition changes. `extremes` are the largest deviations of the samples behind averages
    from their medians, in units of the median deviation. `probability` is the printed one, 0 for
    claims that print none. `by_key` says whether there are other points where there are other keys.
    """

    lhs: Shaped[Any, "*points"]
    rhs: Shaped[Any, "*points"]
    applies: Shaped[Any, "*points"]
    edge: Edge
    probability: Shaped[Any, "*instances"]
    rounding: Shaped[Any, "..."]
    integrator: Shaped[Any, "*instances"]
    limit: Shaped[Any, "*points"]
    sampling: Shaped[Any, "*points"]
    skewness: Shaped[Any, "*points"]
    bias: Shaped[Any, "*points"]
    extremes: Shaped[Any, "*instances largest"]
    by_key: Shaped[Any, "*instances"]

    def rows(self, rows: np.ndarray) -> Measurement:
        """The measurement of some instances."""
        return jax.tree.map(lambda leaf: leaf[rows], self)

    def with_rounding_of_path(self) -> Measurement:
        """The measurement of many with the largest roundings of their paths at all their points."""
        rounding = np.reshape(self.rounding, (len(self.lhs), -1))
        return replace(self, rounding=np.max(rounding, axis=1, initial=0.0))


jax.tree_util.register_dataclass(
    Measurement,
    data_fields=[part.name for part in dataclasses.fields(Measurement)],
    meta_fields=[],
)

# The rungs of a ladder in one variable, in order, each with what was measured there.
Ladder = Sequence[tuple[float, Measurement]]


@dataclass(frozen=True)
class Evidence:
    """What was measured of a claim: on all instances, on every ladder, and of its mutants.

    `contrasts` measure the same claim on the same instances under mutants that share its
    simulation: what an agreement must exclude.
    """

    measurement: Measurement
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    contrasts: tuple[Measurement, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim, with the numbers of the instance (`row`) that decided it.

    `lhs`, `rhs`, `slack` (negative where violated) and `error` belong to the decisive point: the
    worst violation, else the point with the least slack. `checked` and `resolved` count instances.
    `tightness` is the ratio of the smaller to the larger admissible side at the worst resolved
    instance (1 is attained). `ties` of the points along a path are equal at every instance, by
    construction; neither the decisive point nor the tightness is taken from them. `path` holds
    both sides along the decisive instance, `scatter` both sides at the worst point of every
    instance. `undersampled` asks for more instances. `confirmation` says by what means a violation
    was confirmed.
    """

    verdict: Verdict
    note: str = ""
    lhs: float = np.nan
    rhs: float = np.nan
    slack: float = np.nan
    error: float = np.nan
    error_parts: Mapping[str, float] = field(default_factory=dict)
    tightness: float = np.nan
    ties: int = 0
    checked: int = 0
    resolved: int = 0
    path: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    scatter: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    row: int | None = None
    undersampled: bool = False
    confirmation: str = ""


@dataclass(frozen=True)
class Points:
    """A claim's points as a table: one row per instance, one column per key and path point."""

    lhs: Shaped[np.ndarray, "rows columns"]
    rhs: Shaped[np.ndarray, "rows columns"]
    applies: Shaped[np.ndarray, "rows columns"]
    error: Shaped[np.ndarray, "rows columns"]
    non_rounding_error: Shaped[np.ndarray, "rows columns"]
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)

    def if_spoken_of(self) -> Points:
        """The points as if the claim spoke of those of which it is open whether it does."""
        if "condition" not in self.parts:
            return self
        parts = {name: part for name, part in self.parts.items() if name != "condition"}
        other = sum(part for name, part in parts.items() if name != "rounding")
        return replace(self, error=parts["rounding"] + other, non_rounding_error=other, parts=parts)

    @property
    def in_doubt(self) -> np.ndarray:
        """Of which it is open whether the claim speaks."""
        return np.isnan(self.parts.get("condition", np.zeros_like(self.lhs)))

    @cached_property
    def scale(self) -> np.ndarray:
        """|lhs| + |rhs|."""
        return np.abs(self.lhs) + np.abs(self.rhs)


# What it means that a source of errors gave no number.
NO_NUMBER = {
    "sampling": "heavy tails: the variance of what is averaged is infinite, or so many keys do not "
    "show it",
    "rounding": "integers leave the range of their type, or a perturbed run is undefined",
    "limit": "a path does not converge geometrically: its end tells no distance to the limit",
    "condition": "whether the claim speaks of a point lies within the error of its condition",
}


def why_undefined(points: Points, undefined: np.ndarray) -> str:
    """Why some points have no error, in words, or "": a side or a source of errors is no number."""
    sides = {
        "a side is not a number (NaN)": np.isnan(points.lhs) | np.isnan(points.rhs),
        "a side is infinite": np.isinf(points.lhs) | np.isinf(points.rhs),
    }
    left = undefined & ~np.any(list(sides.values()), axis=0)
    parts = {
        text: np.isnan(points.parts[part]) & left
        for part, text in NO_NUMBER.items()
        if part in points.parts
    }
    return "; ".join(text for text, here in {**sides, **parts}.items() if (here & undefined).any())


def heavy_tails(extremes: Float[np.ndarray, "rows largest"]) -> bool:
    """Whether samples, all instances together, have tails of infinite variance.

    Measured over 200 seeds of 16 to 64 instances and 64 to 512 keys: true of Pareto 1.2 always, of
    Pareto 1.8 in two to nine of ten, of a lognormal of sigma 1 in three of a hundred at 16 x 64.
    """
    if not extremes.shape[-1]:
        return False
    from theorysim.numerics.statistics import pareto_shape

    # Smaller deviations are missing where an instance has more of them than are kept.
    threshold = max(TAIL, float(np.max(np.min(extremes, axis=-1), initial=0.0)))
    beyond = extremes[np.isfinite(extremes) & (extremes > threshold)] - threshold
    return len(beyond) >= LEAST_EXCESSES and pareto_shape(beyond) > HEAVY_SHAPE


def in_doubt(measurement: Measurement) -> Bool[np.ndarray, "rows columns"]:
    """Of which points it is open whether the claim speaks: its condition errs by more than it is.

    One column where the claim has no condition. What is infinite errs by nothing.
    """
    rows = np.shape(measurement.lhs)[0]
    distance, error, sampling = (np.asarray(p).reshape(rows, -1) for p in measurement.edge)
    with np.errstate(invalid="ignore"):
        own = BATCHES * np.finfo(distance.dtype).eps * np.where(np.isinf(distance), 0, distance)
        extremes = np.asarray(measurement.extremes)
        if np.any(sampling) and heavy_tails(extremes):
            error = np.where(sampling > 0, np.nan, error)
        error = error + SURELY * shared_errors(sampling, own, extremes)
        return ~(distance >= error) & ~np.isinf(distance)


def tabulate(measurement: Measurement, share: bool = True) -> Points:
    """The measurement as a table with its total error per point.

    Of averages that is what other instances share with it, too, unless each is to have its own.
    """
    rows = np.shape(measurement.lhs)[0]
    table = {
        name: np.asarray(getattr(measurement, name)).reshape(rows, -1)
        for name in ("lhs", "rhs", "applies", "limit", "sampling", "skewness", "bias")
    }
    doubt, extremes = in_doubt(measurement), np.asarray(measurement.extremes)
    eps = np.finfo(table["lhs"].dtype).eps
    with np.errstate(invalid="ignore"):
        own = eps * (np.abs(table["lhs"]) + np.abs(table["rhs"]))
        if share:
            table["sampling"] = shared_errors(table["sampling"], BATCHES * own, extremes)
    with np.errstate(invalid="ignore"):
        parts = {
            "rounding": np.asarray(measurement.rounding).reshape(rows, -1) + own,
            "integrator": np.asarray(measurement.integrator).reshape(rows, 1) + 0 * own,
            "limit": table["limit"],
            "sampling": _sampling_error(table) + BIASES * table["bias"],
        }
        if heavy_tails(extremes):
            parts["sampling"] = np.where(table["sampling"] > 0, np.nan, parts["sampling"])
        other = parts["integrator"] + parts["limit"] + parts["sampling"]
        if doubt.any():
            parts["condition"] = np.where(doubt, np.nan, 0 * own)
            other = other + parts["condition"]
        error = parts["rounding"] + other
    applies = table["applies"].astype(bool) | doubt
    return Points(table["lhs"], table["rhs"], applies, error, other, parts)


def _sampling_error(table: Mapping[str, np.ndarray]) -> np.ndarray:
    """What averages may err by; zero, and without the slow import, where none was taken."""
    if not np.any(table["sampling"]):
        return np.zeros_like(table["sampling"])
    from theorysim.numerics.statistics import student_quantile

    comparisons = max(int(np.sum(table["applies"] & (table["sampling"] > 0))), 1)
    quantile = student_quantile(1 - FALSE_ALARM / (2 * comparisons), BATCHES - 1)
    return _widen(quantile, table["skewness"]) * table["sampling"]


def shared_errors(
    sampling: Float[np.ndarray, "rows columns"],
    rounding: Float[np.ndarray, "rows columns"],
    extremes: Float[np.ndarray, "rows largest"],
) -> Float[np.ndarray, "rows columns"]:
    """Standard errors; those of instances that missed what others met are as large as theirs.

    An event that no key of an instance met, though keys of others did, was missed there: a mean is
    then no better known than those. Where there is no error above rounding, it is the largest of
    the others, else it is so many times larger as the deviations of all are.
    """
    largest = np.max(np.where(np.isfinite(sampling), sampling, 0), axis=0, initial=0.0)
    shared = np.where(sampling <= rounding, np.maximum(largest, sampling), sampling)
    return shared * _missed(extremes)[:, None]


def _missed(extremes: Float[np.ndarray, "rows largest"]) -> Float[np.ndarray, " rows"]:
    """By how many times the deviations of all instances exceed those of one that missed some."""
    if not extremes.size:
        return np.ones(len(extremes))
    own = np.sqrt(np.mean(np.where(np.isfinite(extremes), extremes, 0) ** 2, axis=1))
    ratio = np.sqrt(np.mean(own**2)) / np.where(own > 0, own, 1)
    return np.where((ratio > MISSED) & (own > 0), ratio, 1.0)


def _widen(quantile: float, skewness: np.ndarray) -> np.ndarray:
    """Student's quantile with Johnson's correction for skewed batches, taken on both sides.

    Without it the mean of a square (256 draws, 16 instances) was refuted in 15 of 1000 cases
    at a nominal 1.
    """
    return quantile + np.abs(skewness) / (6 * np.sqrt(BATCHES)) * (1 + 2 * quantile**2)
