"""A learning rate can be as small as Assumption A.8 asks.

Assumption A.8 of Springer et al. (2025): 4 eta (lam + 2) Gamma < 1, with Gamma the largest feature
of pre-training and fine-tuning. Instances take a share of the largest learning rate.
"""

from theorysim import claims
from theorysim.theorems.overtraining._finetuning import fine_tuning_space, small_rate

ASSUMPTION = claims.Assumption(
    "Assumption A.8",
    claims.Printed("Assumption A.8, Appendix A.3.1", "4 eta (lam + 2) Gamma < 1"),
    {"Assumption A.8": claims.strict(small_rate)},
)

theorem = claims.Theorem(
    space=fine_tuning_space(),
    simulate=lambda x, key: (),
    source=ASSUMPTION.source,
    claims=ASSUMPTION.can_be_met(),
    survivors=claims.unrefutable(ASSUMPTION.can_be_met()),
)
