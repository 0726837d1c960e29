"""Whether an instance meets its hypotheses by more than rounding.

There 1 - c >= cos x where both are 1, though c > 1 - cos x; and sqrt(x)^2 > x by a rounding of the
root.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.claims.margins import Margin
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


class Met(Enum):
    """Whether an instance meets its hypotheses; of long programs that may not be asked."""

    FOR_CERTAIN = auto()
    NOT = auto()
    NOT_ASKED = auto()


def are_met(case: Case, x: Instance, key: np.ndarray | Array) -> Met:
    """Whether hypotheses that are met in double precision are met for certain.

    With many bits none may fail, and strict ones must hold: a margin of exactly 0 meets only those
    that are not. Where enclosures are wide, or there are none, as of a root beside 0, they must be
    met in all lanes of Monte Carlo arithmetic; of long programs that is not asked.
    """
    if not case.reading.hypotheses:
        return Met.FOR_CERTAIN
    formula = _formula(case.theorem, case.reading, size_items(x))
    if work(formula.program) > many_bits.FIRST.most_work:
        return _in_other_roundings(case, x)
    for bits in (*many_bits.FIRST.precisions, *many_bits.MORE.precisions):
        values = many_bits.values_with_bits(case, formula, x, key, bits, many_bits.FIRST.most_work)
        if values is None or not all(m.is_finite() for m in values.every_margin):
            break
        if any(m < 0 for m in values.every_margin):
            return Met.NOT
        if any(m <= 0 or many_bits.is_nothing(m, bits) for m in values.open_margins):
            return Met.NOT
        met = (m >= 0 or many_bits.is_nothing(m, bits) for m in values.margins)
        if all(met) and all(m > 0 for m in values.open_margins):
            return Met.FOR_CERTAIN
    return _in_other_roundings(case, x)


@lru_cache(maxsize=256)
def _formula(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Formula:
    return hypotheses_formula(theorem, reading, dict(sizes))


def _in_other_roundings(case: Case, x: Instance) -> Met:
    sizes = size_items(x)
    program = _formula(case.theorem, case.reading, sizes).program
    if sum(1 for _ in every_operation(program.jaxpr)) > FEW_OPERATIONS:
        return Met.NOT_ASKED
    moved = _margins_in_lanes(case.theorem, case.reading, sizes)(x)
    for margin, lanes in zip(case.reading.hypotheses.values(), moved, strict=True):
        plain = partial(_plain, margin, x)
        if not is_met_or_tied(margin, np.asarray(lanes)[None], plain).all():
            return Met.NOT
    return Met.FOR_CERTAIN


def _plain(margin: Margin, x: Instance) -> Float[np.ndarray, "1 entries"]:
    """A margin in double precision, unmoved."""
    with jax.enable_x64(True):
        return np.reshape(margin(x), (1, -1))


@lru_cache(maxsize=64)
def _margins_in_lanes(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Program:
    """All margins of an instance, (lanes, entries) each."""

    def margins(lane: Array, x: Instance) -> list[Float[Array, " entries"]]:
        del lane  # tells lanes apart, and enters nothing else
        return [jnp.ravel(jnp.asarray(m(x), float)) for m in reading.hypotheses.values()]

    moved = perturb_rounding(margins, lanes=True)

    def across(x: Instance) -> list[Float[Array, "lanes entries"]]:
        repeated = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], LANES, axis=0), x)
        return jax.vmap(moved, axis_name=AXIS)(1.0 + jnp.arange(LANES), repeated)

    return Program(across, made_of(theorem, (reading,), sizes, "hypotheses in other roundings"))
