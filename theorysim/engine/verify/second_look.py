"""A second look at violations that only the extra draws show: their rounding, measured anew.

The rounding of an instance is estimated from four runs, and one estimate in some hundred is too
small by a factor of two or three. Among thousands of draws that alone refutes true equalities (one
of 2000 terms, summed forwards and backwards, on 0.6 % of the draws). So the draws that violate are
measured again in Monte Carlo arithmetic, and the larger estimate counts.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from theorysim.claims.evidence import Measurement
from theorysim.claims.kinds import Claim, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.errors import Measurements
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup


def look_again(setup: Setup, sample: Sample, found: Measurements) -> Measurements:
    """The measurements with the larger rounding wherever only extra draws violate a claim.

    Where one of the first draws violates it, nothing hangs on the others.
    """
    suspects = {
        (reading.name, claim.name): rows
        for reading in setup.readings
        for claim in reading.claims
        if len(rows := _suspects(sample, reading, claim, found[reading.name][claim.name]))
    }
    if not suspects:
        return found
    rows = np.unique(np.concatenate(list(suspects.values())))
    readings = [r for r in setup.readings if any(name == r.name for name, _ in suspects)]
    instances = jax.tree.map(lambda leaf: leaf[rows], sample.instances)
    again = measure_all(setup.of(*readings), instances, sample.keys[rows], monte_carlo=True)
    found = {name: dict(claims) for name, claims in found.items()}
    for (reading, claim), own in suspects.items():
        first = found[reading][claim]
        rounding = np.array(first.rounding)
        anew = again[reading][claim].rounding[np.searchsorted(rows, own)]
        rounding[own] = np.fmax(rounding[own], anew)
        found[reading][claim] = dataclasses.replace(first, rounding=rounding)
    return found


def _suspects(
    sample: Sample, reading: ResolvedReading, claim: Claim, found: Measurement
) -> np.ndarray:
    """The draws that violate a claim where none of the first ones does."""
    rows = sample.rows_of(reading, claim)
    if not isinstance(claim, Pointwise) or len(rows) <= sample.wanted:
        return rows[:0]
    violated = claim.violated_rows(found.rows(rows))
    return rows[:0] if violated[: sample.wanted].any() else rows[violated]
