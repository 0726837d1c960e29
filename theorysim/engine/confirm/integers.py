"""Instances whose integers leave the range of their type: what is computed with them means nothing.

JAX wraps them around in silence. Here an arbitrary integer stands in for each that overflows, so
that both sides change by more than any rounding.
"""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import jax
import numpy as np

from theorysim.chunks import Chunked
from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.engine.confirm.other_roundings import distances, sides_of_run, threads_of_sides
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.confirm.traced import traced
from theorysim.engine.measure.batch import shared_length
from theorysim.engine.measure.making import made_of
from theorysim.jaxprs.monte_carlo_arithmetic import with_arbitrary_overflows
from theorysim.kept import Program

# Instances that are run side by side, at most.
BATCH = 256

# A change of the sides by more than this part, and than the measured rounding ten times, is none of
# rounding: a thousandth is far above what double precision loses, far below a wrapped integer.
CHANGE = 1e-3
ROUNDINGS = 10.0


def without_overflow(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement:
    """The measurement of stacked instances, without an error (NaN) where integers overflow.

    Looked for only where integers may grow as far; the same measurement where none do.
    """
    sizes = size_items(instances)
    if not traced(case, sizes).grows_integers:
        return measurement
    sides, most = _other_sides(case.theorem, case.reading, sizes), shared_length(len(keys))
    program = Chunked(sides, min(most, BATCH), case.theorem.id, threads_of_sides(case, sizes))
    x = jax.tree.map(np.asarray, instances)
    changed = _changed(measurement, program((x, keys))[case.claim.name])
    if not changed.any():
        return measurement
    rounding = np.array(measurement.rounding, float)
    rounding[changed] = np.nan
    return dataclasses.replace(measurement, rounding=rounding)


@lru_cache(maxsize=64)
def _other_sides(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Program:
    """The sides of a reading's claims with arbitrary integers for those that overflow."""
    across = jax.vmap(with_arbitrary_overflows(sides_of_run(theorem, reading)))
    known_by = made_of(theorem, (reading,), sizes, "arbitrary overflows")
    return Program(lambda rows: across(*rows), known_by)


def _changed(plain: Measurement, perturbed: list[np.ndarray]) -> np.ndarray:
    """Per instance, whether some point is another one."""
    count = len(plain.lhs)
    lhs, rhs = (np.asarray(side).reshape(count, -1) for side in (plain.lhs, plain.rhs))
    applies = np.asarray(plain.applies, bool).reshape(count, -1)
    distance = distances(perturbed[0], lhs) + distances(perturbed[1], rhs)
    with np.errstate(invalid="ignore"):
        allowed = CHANGE * (np.abs(lhs) + np.abs(rhs))
        allowed += ROUNDINGS * np.asarray(plain.rounding).reshape(count, -1)
        return np.any(applies & (distance > allowed), axis=1)
