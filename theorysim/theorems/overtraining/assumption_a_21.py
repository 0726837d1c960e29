"""The sizes that Assumption A.21 asks for exist, if batches may be infinite.

Assumption A.21 of Springer et al. (2025): accuracy, steps, batch size and real start. Item 3, the
number of steps, is printed without the learning rate but labelled as Assumption A.10, which has it;
both compare Gamma, a feature, with epsilon, a number. Every instance takes its sizes from one of
three versions.
"""

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining._stage_space import stage_space

EXISTENCE = a_21.CORRECTED.assumption().can_be_met()

theorem = claims.Theorem(
    space=stage_space(),
    simulate=lambda x, key: (),
    claims=a_21.AS_PRINTED.assumption().can_be_met(),
    source=a_21.AS_PRINTED.source,
    note=a_21.NO_RATE,
    readings=(
        claims.Reading(
            "item 3 as A.10",
            a_21.AS_LABELLED.source,
            claims=a_21.AS_LABELLED.assumption().can_be_met(),
            note=a_21.NO_UNIT,
        ),
        claims.Reading(
            "corrected",
            a_21.CORRECTED.source,
            claims=EXISTENCE,
            primary=True,
            note=a_21.FREE_OF_SCALE,
        ),
    ),
    survivors=claims.unrefutable(EXISTENCE),
)
