"""Whether an instance meets its hypotheses by more than rounding.

There 1 - c >= cos x where both are 1, though c > 1 - cos x; and sqrt(x)^2 > x by a rounding of the
root.
"""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from theorysim.claims.instance import Instance, SizeItems, field_values, size_items
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.enclosures import Formula
from theorysim.engine.certify.formulas import hypotheses_formula
from theorysim.engine.confirm import many_bits
from theorysim.engine.confirm.other_roundings import FEW_OPERATIONS, is_met_or_tied
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.measure.making import made_of
from theorysim.jaxprs.directions import AXIS, LANES
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.jaxprs.structure import every_operation
from theorysim.jaxprs.work import work
from theorysim.kept import Program


def are_met(case: Case, x: Instance, key: np.ndarray | Array) -> bool:
    """Whether hypotheses that are met in double precision are met for certain.

    With many bits none may fail, and strict ones must hold: a margin of exactly 0 is left open by
    all bits, and meets only those that are not. Where no enclosure tells, as of a root beside 0,
    they must be met in all lanes of Monte Carlo arithmetic; of long programs that is not asked.
    """
    if not case.reading.hypotheses:
        return True
    formula = _formula(case.theorem, case.reading, size_items(x))
    if work(formula.program) > many_bits.FIRST.most_work:
        return _are_met_in_lanes(case, x)
    holds = False
    for bits in many_bits.FIRST.precisions:
        values = many_bits.values_with_bits(case, formula, x, key, bits, many_bits.FIRST.most_work)
        if values is None or not all(m.is_finite() for m in values.every_margin):
            return _are_met_in_lanes(case, x)
        if any(m < 0 for m in values.every_margin):
            return False
        holds = all(m > 0 for m in values.open_margins)
        if holds and all(m >= 0 for m in values.margins):
            break
    return holds


@lru_cache(maxsize=256)
def _formula(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Formula:
    return hypotheses_formula(theorem, reading, dict(sizes))


def _are_met_in_lanes(case: Case, x: Instance) -> bool:
    sizes = size_items(x)
    program = _formula(case.theorem, case.reading, sizes).program
    if sum(1 for _ in every_operation(program.jaxpr)) > FEW_OPERATIONS:
        return True
    return bool(_in_lanes(case.theorem, case.reading, sizes)(x).all())


@lru_cache(maxsize=64)
def _in_lanes(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Program:
    """In which lanes an instance meets the hypotheses."""

    def met(lane: Array, x: Instance) -> Bool[Array, ""]:
        del lane  # tells lanes apart, and enters nothing else
        margins, scale = reading.hypotheses.values(), _scale(x)
        every = [jnp.all(is_met_or_tied(margin, margin(x), scale)) for margin in margins]
        return jnp.all(jnp.stack(every))

    moved = perturb_rounding(met, lanes=True)

    def across(x: Instance) -> Bool[Array, " lanes"]:
        repeated = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], LANES, axis=0), x)
        return jax.vmap(moved, axis_name=AXIS)(1.0 + jnp.arange(LANES), repeated)

    return Program(across, made_of(theorem, (reading,), sizes, "hypotheses in other roundings"))


def _scale(x: Instance) -> Array:
    """The largest number of an instance, and 1."""
    fields = [jnp.asarray(leaf, float) for leaf in jax.tree.leaves(dict(field_values(x)))]
    largest = [jnp.max(jnp.abs(leaf), initial=0.0) for leaf in fields]
    return jnp.max(jnp.stack([jnp.ones(()), *largest, *map(float, dict(size_items(x)).values())]))
