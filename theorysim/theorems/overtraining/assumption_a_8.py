"""A learning rate can be as small as Assumption A.8 asks.

Assumption A.8 of Springer et al. (2025): 4 eta (lam + 2) Gamma < 1, with Gamma the largest feature
of pre-training and fine-tuning. Instances take a share of the largest learning rate.
"""

from __future__ import annotations

from theorysim.claims import Assumption, Printed, Theorem, strict
from theorysim.theorems.overtraining._finetuning import fine_tuning_space, small_rate

ASSUMPTION = Assumption(
    "Assumption A.8",
    Printed("Assumption A.8, Appendix A.3.1", "4 eta (lam + 2) Gamma < 1"),
    {"Assumption A.8": strict(small_rate)},
)

theorem = Theorem(
    space=fine_tuning_space(),
    simulate=lambda x, key: (),
    source=ASSUMPTION.source,
    claims=ASSUMPTION.can_be_met(),
    survivors={
        claim.name: "a witness either exists or not: draws cannot refute existence"
        for claim in ASSUMPTION.can_be_met()
    },
)
