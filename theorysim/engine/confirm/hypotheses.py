"""Whether an instance meets its hypotheses by more than rounding.

There 1 - c >= cos x where both are 1, though c > 1 - cos x; and sqrt(x)^2 > x by a rounding of the
root.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.claims.margins import Margin
from theorysim.claims.theorem import Theorem
from theorysim.enclosures import Formula
from theorysim.engine.certify.formulas import hypotheses_formula
from theorysim.engine.confirm import many_bits
from theorysim.engine.confirm.conditions import is_clearly_met
from theorysim.engine.confirm.other_roundings import FEW_OPERATIONS
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.measure.making import made_of_margins
from theorysim.jaxprs.directions import LANES
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.jaxprs.structure import every_operation
from theorysim.jaxprs.work import work
from theorysim.kept import Program
from theorysim.precision import remembers_traces


class Met(Enum):
    """Whether an instance meets its hypotheses; of long programs that may not be asked."""

    FOR_CERTAIN = auto()
    NOT_ASKED = auto()
    NOT = auto()


class Itself:
    """A margin as a key: equal ones may compute otherwise, and some have no hash."""

    def __init__(self, margin: Margin):
        self.margin = margin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.margin is other.margin

    def __hash__(self) -> int:
        return id(self.margin)


def are_met(case: Case, x: Instance, key: np.ndarray | Array) -> Met:
    """Whether hypotheses that are met in double precision are met for certain.

    With many bits none may fail, and strict ones must hold: a margin of exactly 0 meets only those
    that are not. Entries whose enclosures are wide, or have none, as a root beside 0, must be met
    in all lanes of Monte Carlo arithmetic; of long programs that is not asked.
    """
    found = Met.FOR_CERTAIN
    for name in case.reading.hypotheses:
        one = _is_met(case, name, x, key)
        if one is Met.NOT:
            return one
        found = one if one is Met.NOT_ASKED else found
    return found


def _is_met(case: Case, name: str, x: Instance, key: np.ndarray | Array) -> Met:
    """Each by itself, and each of its entries: what has no enclosure says nothing of the others."""
    formula = _formula(case.theorem, name, Itself(case.reading.hypotheses[name]), size_items(x))
    known: list[bool] = []
    left: list[bool] = []
    if work(formula.program) <= many_bits.FIRST.most_work:
        for bits in (*many_bits.FIRST.precisions, *many_bits.MORE.precisions):
            values = many_bits.values_with_bits(
                case, formula, x, key, bits, many_bits.FIRST.most_work
            )
            if values is None:
                break
            if any(m < 0 for m in values.every_margin):
                return Met.NOT
            if any(m <= 0 or many_bits.is_nothing(m, bits) for m in values.open_margins):
                return Met.NOT
            closed = [m >= 0 or many_bits.is_nothing(m, bits) for m in values.margins]
            opened = [m > 0 for m in values.open_margins]
            if all(closed) and all(opened):
                return Met.FOR_CERTAIN
            # Closed entries come before what orders the fields of the space, which is closed, too.
            known, own = (opened, values.open_margins) if opened else (closed, values.margins)
            left = [not m.is_finite() for m in own]
    return _in_other_roundings(case, name, x, known, left)


@remembers_traces
def _formula(theorem: Theorem, name: str, margin: Itself, sizes: SizeItems) -> Formula:
    """Traced once for all readings that have this hypothesis under this name."""
    subject = f"hypothesis {name!r} of {theorem.id}"
    return hypotheses_formula(theorem, [margin.margin], dict(sizes), subject)


def _in_other_roundings(
    case: Case, name: str, x: Instance, known: list[bool], left: list[bool]
) -> Met:
    """What bits tell of the entries, as far as they do: which are `known` to be met, and which are
    `left`, having no enclosure; of none if both are empty. Only those may hold with equality."""
    sizes, margin = size_items(x), case.reading.hypotheses[name]
    program = _formula(case.theorem, name, Itself(margin), sizes).program
    if sum(1 for _ in every_operation(program.jaxpr)) > FEW_OPERATIONS:
        return Met.NOT_ASKED
    lanes = np.asarray(_margin_in_lanes(case.theorem, Itself(margin), sizes)(x))
    count = lanes.shape[1]
    clear = is_clearly_met(margin, lanes, np.array(left[:count] or [True]))
    return Met.FOR_CERTAIN if (clear | np.array(known[:count] or [False])).all() else Met.NOT


@lru_cache(maxsize=256)
def _margin_in_lanes(theorem: Theorem, margin: Itself, sizes: SizeItems) -> Program:
    """A margin of an instance, (1 + lanes, entries); one that is not moved comes first."""

    def entries(x: Instance) -> Float[Array, " entries"]:
        return jnp.ravel(jnp.asarray(margin.margin(x), float))

    moved = perturb_rounding(entries, lanes=True)

    def across(x: Instance) -> Float[Array, "lanes+1 entries"]:
        repeated = jax.tree.map(lambda leaf: jnp.repeat(leaf[None], LANES, axis=0), x)
        lanes = jax.vmap(moved)(1.0 + jnp.arange(LANES), repeated)
        return jnp.concatenate([entries(x)[None], lanes])

    what = "a hypothesis in other roundings"
    return Program(across, made_of_margins(theorem, [margin.margin], sizes, what))
