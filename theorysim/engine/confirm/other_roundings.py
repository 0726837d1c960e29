"""Whether a violation is still there in Monte Carlo arithmetic, where every rounding errs anew."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Wrapped
from jaxtyping import Array

from theorysim.chunks import Chunked
from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.compiled import jit
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.confirm.traced import traced
from theorysim.engine.measure.batch import instance_bytes
from theorysim.engine.measure.errors import (
    ROUNDING_SAFETY,
    replace_tolerance_scale,
    runs,
    simulation_keys,
)
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.memory import chunk_length

# How often the sides are computed with other roundings. A result that was rounded once errs alike
# in all of them with a chance of 2^-7.
LANES = 8

# Suspects that are run side by side, in one compiled length.
BATCH = 4

# Compiling costs most: some milliseconds for each operation of the program. Above the first number
# a violation's size is asked before, above the second one nothing else is.
FEW_OPERATIONS = 100
MOST_OPERATIONS = 5_000

MEANS = "in Monte Carlo arithmetic"


def is_costly(case: Case, instance: Instance) -> bool:
    """Whether compiling the claim for other roundings takes a good part of a verification.

    The instance may be stacked: its sizes are asked for.
    """
    return traced(case, size_items(instance)).operations > FEW_OPERATIONS


def look_with_other_roundings(case: Case, suspects: list[Suspect]) -> list[Finding]:
    """Whether each suspect violates its claim beyond what its roundings make of it.

    The estimate of rounding is that of a measurement: a multiple of the largest change of both
    sides along the whole path, here under other directions of every single rounding.
    """
    sizes = size_items(suspects[0].instance)
    operations = traced(case, sizes).operations
    if operations > MOST_OPERATIONS:
        why = f"it is too large ({operations} operations) to be run {MEANS}"
        return [Finding(Answer.UNKNOWN, why)] * len(suspects)
    padded = [*suspects, *[suspects[-1]] * (-len(suspects) % BATCH)]
    repeated = [suspect for suspect in padded for _ in range(LANES)]
    x = jax.tree.map(lambda *leaves: np.stack(leaves), *(s.instance for s in repeated))
    keys = np.stack([np.asarray(s.key) for s in repeated])
    lanes = np.tile(np.arange(1.0, 1 + LANES), len(padded))
    program = perturbed_sides(case.theorem, case.reading, sizes)
    found = program((lanes, x, keys))[case.claim.name]
    lhs, rhs = (np.asarray(side).reshape(len(padded), LANES, -1) for side in found)
    return [_judged(case, *row) for row in zip(suspects, lhs, rhs)]


def with_other_roundings(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement:
    """The measurement of stacked instances with the larger rounding: its own, or of these runs.

    Of claims that no second look at one instance decides. Programs that are too large keep theirs.
    """
    sizes = size_items(instances)
    if traced(case, sizes).operations > MOST_OPERATIONS:
        return measurement
    rows = len(keys)
    known = np.asarray(measurement.applies).reshape(rows, -1)
    spread = np.zeros(rows)
    for lane in range(1, 1 + LANES):
        found = _in_chunks(case, float(lane), instances, keys)
        plain = measurement.lhs, measurement.rhs
        moved = sum(
            np.max(
                np.abs(np.asarray(side) - np.reshape(own, (rows, -1))),
                axis=1,
                where=known,
                initial=0,
            )
            for side, own in zip(found, plain, strict=True)
        )
        spread = np.fmax(spread, moved)
    return replace(measurement, rounding=np.fmax(measurement.rounding, ROUNDING_SAFETY * spread))


def _in_chunks(case: Case, lane: float, instances: Instance, keys: np.ndarray) -> list[np.ndarray]:
    """Both sides of all instances in one lane, so many at once as a measurement takes."""
    sizes = size_items(instances)
    need = instance_bytes(case.theorem, (case.reading,), dict(sizes))
    rows = len(keys)
    chunk = chunk_length(need, rows, f"{case.theorem.id}, {case.reading.name}")
    program = Chunked(perturbed_sides(case.theorem, case.reading, sizes), chunk, case.theorem.id)
    x = jax.tree.map(np.asarray, instances)
    return program((np.full(rows, lane), x, keys))[case.claim.name]


@lru_cache(maxsize=64)
def perturbed_sides(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Wrapped:
    """The sides of a reading's claims without a ladder, of (lanes, instances, keys), all stacked.

    Compiled once, whichever claims are in doubt.
    """
    del sizes
    claims = [claim for claim in reading.claims if not claim.over]

    def sides(lane: Array, x: Instance, key_data: Array) -> dict[str, list[Array]]:
        del lane  # it enters the directions of all roundings
        keys = simulation_keys(jax.random.wrap_key_data(key_data), theorem.keys)
        x = replace_tolerance_scale(x, 1.0 if theorem.integrates else jnp.nan)
        run = runs((reading,), x, keys)[reading.name]
        return {claim.name: [jnp.ravel(side) for side in claim.sides(run)] for claim in claims}

    across = jax.vmap(perturb_rounding(sides))
    return jit(lambda rows: across(*rows))


def _judged(case: Case, suspect: Suspect, lhs: np.ndarray, rhs: np.ndarray) -> Finding:
    points = suspect.points
    known = points.applies[0] & ~np.isnan(points.lhs[0] + points.rhs[0])
    with np.errstate(invalid="ignore"):
        spread = sum(
            float(np.max(np.abs(lanes - plain)[:, known], initial=0.0))
            for lanes, plain in ((lhs, points.lhs), (rhs, points.rhs))
        )
        least = ROUNDING_SAFETY * spread + points.non_rounding_error[0]
        room = np.max(case.claim.slack(lhs, rhs), axis=0)
        violated = suspect.violated & (room < -least)
    if not violated.any():
        return Finding(Answer.VANISHED, MEANS)
    return Finding(Answer.VIOLATED, MEANS, suspect.worst(violated))
