"""Whether a violation is too large to be rounding, where no other look at it is affordable."""

from __future__ import annotations

import jax
import numpy as np

from theorysim.claims.instance import field_values, size_items
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.confirm.traced import traced

# A violation of this part of the largest number at hand is rounding only if an intermediate result
# is 7e7 times as large as all of them, and all its digits are lost; or if a result that has lost
# all of them is magnified as much.
FAR = float(np.sqrt(np.finfo(np.float64).eps))

# The measured rounding, which such a violation must exceed by far, too: it comes from a few
# perturbations, and was never seen more than a few times too small.
MEASURED = 1e3


def look_at_size(case: Case, suspect: Suspect) -> Finding | None:
    """What other errors leave of a violation, if it is far beyond all rounding.

    Compared with 1, the instance, what it makes of 1 if it is divided by, the constants of the
    formulas and both sides along the path. In
    other precisions than double, and with integers that are multiplied, size says nothing.
    """
    program = traced(case, size_items(suspect.instance))
    if program.narrow or program.multiplies_integers:
        return None
    points = suspect.points
    numbers = [*jax.tree.leaves(dict(field_values(suspect.instance))), points.lhs, points.rhs]
    sizes = [np.abs(np.asarray(n, float)).ravel() for n in numbers]
    finite = [size[np.isfinite(size)] for size in sizes]
    fields = np.concatenate(finite[:-2]) if finite[:-2] else np.zeros(0)
    magnified = float(np.max(1 / fields[fields > 0], initial=0.0))
    largest = max(
        magnified, 1.0, program.largest, *(float(np.max(size, initial=0.0)) for size in finite)
    )
    with np.errstate(invalid="ignore"):
        other = points.non_rounding_error[0]
        room = case.claim.slack(points.lhs, points.rhs)[0] + other
        least = np.maximum(FAR * largest, MEASURED * (points.error[0] - other))
    far = suspect.violated & (room < -least)
    if not far.any():
        return None
    column = suspect.worst(far)
    return Finding(
        Answer.VIOLATED, f"by its size ({-room[column]:.0e} beside {largest:.0e})", column
    )
