"""The sizes that Assumption A.21 asks for exist.

Assumption A.21 of Springer et al. (2025): accuracy, steps, batch size and real start. Item 3, the
number of steps, is printed without the learning rate but labelled as Assumption A.10, which has it;
both compare Gamma, a feature, with epsilon, a number. Item 4, the batch size, asks for nothing once
10 d K delta >= e^d. Every instance takes its sizes from one of three versions.
"""

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining._stage_space import stage_space

EXISTENCE = drawn.assumption(drawn.CORRECTED_UNDRAWN).can_be_met()

theorem = claims.Theorem(
    space=stage_space(**{**drawn.FIELDS, "failure": claims.Real(1e-12, 0.9, log=True)}),
    simulate=lambda x, key: (),
    claims=drawn.assumption(a_21.AS_PRINTED).can_be_met(),
    source=a_21.AS_PRINTED.source,
    note=f"{a_21.NO_RATE}; {drawn.NO_BATCH}",
    readings=(
        claims.Reading(
            "item 3 as A.10",
            a_21.AS_LABELLED.source,
            claims=drawn.assumption(a_21.AS_LABELLED).can_be_met(),
            note=a_21.NO_UNIT,
        ),
        claims.Reading(
            "corrected",
            drawn.CORRECTED_UNDRAWN.source,
            claims=EXISTENCE,
            primary=True,
            note=f"{a_21.FREE_OF_SCALE}; d + log(K / delta) in item 4",
        ),
    ),
    survivors=claims.unrefutable(EXISTENCE),
)
