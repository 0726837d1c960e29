"""The sizes that Assumption A.21 asks for exist.

Assumption A.21 of Springer et al. (2025): accuracy, steps, batch size and real start. Item 3, the
number of steps, is printed without the learning rate but labelled as Assumption A.10, which has it;
both compare Gamma, a feature, with epsilon, a number. Every instance takes its sizes from one of
three versions. Batches are those of item 4, or up to ten times as large: as printed it asks for
nothing once 10 d K delta >= e^d, corrected it has the union bound d + log(K / delta).
"""

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining._stage_space import stage_space


def _met(sizes: a_21.Sizes) -> tuple[claims.Claim, ...]:
    return drawn.assumption(sizes).can_be_met()


CORRECTED = drawn.united(a_21.CORRECTED, drawn.CORRECTED.source.change)
EXISTENCE = _met(CORRECTED)

theorem = claims.Theorem(
    space=stage_space(failure=claims.Real(1e-12, 0.99, log=True), more_batch=claims.Real(0, 1)),
    simulate=lambda x, key: (),
    claims=_met(a_21.AS_PRINTED),
    source=a_21.AS_PRINTED.source,
    note=f"{a_21.NO_RATE}; {drawn.NO_BATCH}",
    readings=(
        claims.Reading(
            "item 3 as A.10",
            a_21.AS_LABELLED.source,
            claims=_met(a_21.AS_LABELLED),
            note=a_21.NO_UNIT,
        ),
        claims.Reading(
            "corrected",
            CORRECTED.source,
            claims=EXISTENCE,
            primary=True,
            note=a_21.FREE_OF_SCALE,
        ),
    ),
    survivors=claims.unrefutable(EXISTENCE),
)
