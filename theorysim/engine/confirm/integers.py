"""Instances whose integers leave the range of their type: what is computed with them means nothing.

JAX wraps them around in silence. In Monte Carlo arithmetic an arbitrary integer stands in for each
that overflows, so that both sides change by more than any rounding.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from theorysim.chunks import Chunked
from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, size_items
from theorysim.engine.confirm.other_roundings import perturbed_sides
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.confirm.traced import traced

# Instances that are run side by side, in one compiled length.
BATCH = 256

# A change of the sides by more than this part, and than the measured rounding ten times, is none of
# rounding: a thousandth is far above what double precision loses, far below a wrapped integer.
CHANGE = 1e-3
ROUNDINGS = 10.0


def without_overflow(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement:
    """The measurement of stacked instances, without an error (NaN) where integers overflow.

    Looked for only where integers that come from fields are multiplied.
    """
    sizes = size_items(instances)
    if not traced(case, sizes).multiplies_fields:
        return measurement
    sides = perturbed_sides(case.theorem, case.reading, sizes, count=1)
    program = Chunked(sides, BATCH, case.theorem.id)
    x = jax.tree.map(np.asarray, instances)
    changed = _changed(measurement, program((np.zeros(len(keys)), x, keys))[case.claim.name])
    rounding = np.where(changed, np.nan, np.asarray(measurement.rounding))
    return dataclasses.replace(measurement, rounding=rounding)


def _changed(plain: Measurement, perturbed: list[np.ndarray]) -> np.ndarray:
    """Per instance, whether some point is another one."""
    count = len(plain.lhs)
    lhs, rhs = (np.asarray(side).reshape(count, -1) for side in (plain.lhs, plain.rhs))
    applies = np.asarray(plain.applies, bool).reshape(count, -1)
    with np.errstate(invalid="ignore"):
        distance = np.abs(perturbed[0][:, 0] - lhs) + np.abs(perturbed[1][:, 0] - rhs)
        allowed = CHANGE * (np.abs(lhs) + np.abs(rhs))
        allowed += ROUNDINGS * np.asarray(plain.rounding).reshape(count, 1)
        return np.any(applies & (distance > allowed), axis=1)
