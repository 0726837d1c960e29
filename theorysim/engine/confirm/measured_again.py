"""What an instance measures where its sides, and the printed probability, are given by many bits.

A witness, or an instance that misses a probability, is judged anew with that.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
from flint import arb

from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.enclosures import Formula, RelationValues
from theorysim.engine.confirm import hypotheses
from theorysim.engine.confirm.many_bits import (
    DROPPED,
    MORE,
    TINY,
    Effort,
    counts,
    values_with_bits,
)
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.confirm.traced import formula_of, probability_of, traced
from theorysim.jaxprs.work import work
from theorysim.precision import remembers_traces

# Of a witness, before a look that compiles two long programs; more bits only where it is open of
# which points the claim speaks.
WITNESS = Effort((636, *MORE.precisions), 1_000_000)

# Of a probability: no number of keys that is affordable tells such a difference.
NARROW = 1e-6

# Numbers of size 1e240 are then known to as good as all digits: what is no probability is told.
PRINTED_BITS = MORE.precisions[-1]

# Entries that the printed probabilities of all instances may take together: about a second.
PRINTED = 1_000_000


def measured_with_bits(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement | None:
    """The measurement of one stacked instance with the sides that many bits give it.

    Rounding is then the width of enclosures and what formulas drop that are made for floating
    point. It is infinite at points that are left open: where sides differ by no more than that, and
    are not equal for certain, or where it is unknown whether the claim speaks of them. It speaks of
    none where the hypotheses are not met for certain. A printed probability is the least that it
    may be. None where there are no enclosures, and of means and limits: their errors were measured
    in double precision.
    """
    x, key = jax.tree.map(lambda leaf: np.asarray(leaf)[0], (instances, keys))
    shape = np.shape(measurement.lhs)
    if hypotheses.are_met(case, x, key) is hypotheses.Met.NOT:
        return replace(measurement, applies=np.zeros(shape, bool), rounding=np.zeros(shape))
    found = _with_bits(case, x, key)
    if found is None:
        return None
    values, counted = found
    points = [_rounded(lhs, rhs) for lhs, rhs in zip(values.lhs, values.rhs, strict=True)]
    lhs, rhs, rounding = np.reshape(np.transpose(points), (3, *shape))
    unclear = np.reshape([one is None for one in counted], shape)
    printed = [float(value.lower()) for value in values.margins if value.is_finite()]
    return replace(
        measurement,
        lhs=lhs,
        rhs=rhs,
        applies=np.reshape([one is not False for one in counted], shape),
        rounding=np.where(unclear, np.inf, rounding),
        probability=np.array(printed) if printed else measurement.probability,
    )


def _with_bits(
    case: Case, x: Instance, key: np.ndarray
) -> tuple[RelationValues, list[bool | None]] | None:
    """Both sides at an instance, and of which points the claim speaks (None where that is open).

    None where no enclosure tells the sides.
    """
    sizes = size_items(x)
    facts = traced(case, sizes)
    if facts.obstacle or facts.estimates or facts.work > WITNESS.most_work:
        return None
    formula, found = formula_of(case, sizes), None
    for bits in WITNESS.precisions:
        values = values_with_bits(case, formula, x, key, bits, WITNESS.most_work)
        if values is None:
            break
        found = values, [counts(case, condition, bits) for condition in values.condition]
        if None not in found[1]:
            break
    return found


def _rounded(lhs: arb, rhs: arb) -> tuple[float, float, float]:
    """Two sides as floats, and what they may err by; infinite where they may be equal or not."""
    sides = float(lhs.mid()), float(rhs.mid())
    if lhs - rhs == 0:
        return *sides, 0.0
    apart = float((abs(lhs - sides[0]) + abs(rhs - sides[1])).abs_upper())
    # Beside `TINY` floats have fewer digits, or none.
    error = apart + DROPPED * (abs(sides[0]) + abs(sides[1])) + TINY
    return *sides, error if abs(sides[0] - sides[1]) > 2 * error else np.inf


def printed_with_bits(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement:
    """The measurement of stacked instances with the probabilities that many bits give them.

    Those that have no enclosure, or that would be too much work, stay as they were measured, and
    so does what differs by some roundings only. One whose enclosure is wide is no number.
    """
    sizes = size_items(instances)
    formula = _printed(case, sizes)
    if formula is None:
        return measurement
    found = np.array(np.broadcast_to(measurement.probability, (len(keys),)), float)
    rows = min(len(keys), PRINTED // work(formula.program)) if any(formula.needs) else 1
    for row in range(rows):
        x, key = jax.tree.map(lambda leaf, row=row: np.asarray(leaf)[row], (instances, keys))
        bits = PRINTED_BITS
        if (values := values_with_bits(case, formula, x, key, bits, PRINTED)) is not None:
            (ball,) = values.margins
            if ball.is_finite() and not abs(ball - found[row]) < DROPPED * abs(ball):
                found[row] = float(ball.mid()) if ball.rad() < NARROW else np.nan
    if not any(formula.needs):  # it is the same for all
        found[:] = found[0]
    return replace(measurement, probability=found)


@remembers_traces
def _printed(case: Case, sizes: SizeItems) -> Formula | None:
    """The printed probability as a program; None where it is no formula, but a number."""
    formula = probability_of(case, sizes)
    return formula if formula is not None and work(formula.program) else None
