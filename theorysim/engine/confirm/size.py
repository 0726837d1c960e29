"""Whether a violation is too large to be rounding, where no other look at it is affordable."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import jax
import numpy as np

from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, field_values, size_items
from theorysim.engine.confirm.other_roundings import AGAIN, spread_of_origins, spread_of_rows
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.confirm.traced import traced

# A violation of this part of the largest number at hand is rounding only if an intermediate result
# is 7e7 times as large as all of them, and all its digits are lost; or if a result that has lost
# all of them is magnified as much.
FAR = float(np.sqrt(np.finfo(np.float64).eps))

# The measured rounding, and what comes of moving the origins of numbers (inputs, rounded constants,
# draws), which such a violation must exceed by far, too: unstable recurrences and ties show in it.
MEASURED = 1e3


def look_at_size(case: Case, suspect: Suspect) -> Finding | None:
    """What other errors leave of a violation, if it is far beyond all rounding."""
    points = suspect.points
    largest = _largest(case, suspect.instance, points.lhs, points.rhs)
    if largest is None:
        return None
    with np.errstate(invalid="ignore"):
        other = points.non_rounding_error[0]
        room = case.claim.slack(points.lhs, points.rhs)[0] + other
        least = np.maximum(FAR * largest, MEASURED * (points.error[0] - other))
    far = suspect.violated & (room < -least)
    if not far.any():
        return None
    far &= room < -MEASURED * spread_of_origins(case, suspect)
    if not far.any():
        return None
    column = suspect.worst(far)
    return Finding(
        Answer.VIOLATED, f"by its size ({-room[column]:.0e} beside {largest:.0e})", column
    )


def with_rounding_by_size(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement:
    """The measurement of one stacked instance with the rounding that only size would exclude."""
    largest = _largest(case, instances, measurement.lhs, measurement.rhs)
    if largest is None:
        return replace(measurement, rounding=np.full(len(keys), np.inf))
    moved = [
        spread_of_rows(case, measurement, instances, keys, turn, origins=True)
        for turn in range(1 + AGAIN)
    ]
    own = np.reshape(measurement.rounding, (len(keys), -1))
    rounding = MEASURED * reduce(np.fmax, moved, own)
    return replace(measurement, rounding=np.maximum(FAR * largest, rounding))


def _largest(case: Case, instance: Instance, *sides: np.ndarray) -> float | None:
    """The largest number at hand, with which a violation is compared.

    Of 1, the instance, what it makes of 1 if it is divided by, the constants of the formulas and
    both sides along the path. None in other precisions than double, and with integers that are
    multiplied or may leave their range: there size says nothing.
    """
    program = traced(case, size_items(instance))
    if program.narrow or program.multiplies_integers or program.grows_integers:
        return None
    numbers = [*jax.tree.leaves(dict(field_values(instance))), *sides]
    sizes = [np.abs(np.asarray(n, float)).ravel() for n in numbers]
    finite = [size[np.isfinite(size)] for size in sizes]
    own = finite[: -len(sides)]
    fields = np.concatenate(own) if own else np.zeros(0)
    magnified = float(np.max(1 / fields[fields > 0], initial=0.0))
    found = (float(np.max(size, initial=0.0)) for size in finite)
    return max(magnified, 1.0, program.largest, *found)
