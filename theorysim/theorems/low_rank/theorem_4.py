"""Fine-tuning at xi = 1 on orthogonal features takes a number of steps linear in d.

Theorem 4 of Dayi and Chen (2024): T = O~(lambda_max^4 / (lambda_min^4 gamma^2) d k^3 / epsilon^4)
steps, times k where mu_1 = 0, reach <u_T, u>^2 >= 1 - epsilon. Measured is the time of recovery on
the reduced chain at the printed learning rate, of order epsilon^3 / (d k^2), over sqrt(k) where
mu_1 = 0.
"""

from __future__ import annotations

from theorysim.claims import Mutant, Printed, Reading, Theorem
from theorysim.theorems.low_rank._recovery import Setting, even, odd, recovery_space
from theorysim.theorems.low_rank._recovery_time import (
    Schedule,
    growth_in_d,
    growth_in_epsilon,
    growth_in_k,
)

ODD = Schedule(Setting(True, lambda x: 1.0, odd), constant=45, power=2, least=0.2, order=0)
EVEN = Schedule(Setting(True, lambda x: 1.0, even), constant=45, power=2.5, least=0.4, order=-0.5)

theorem = Theorem(
    space=recovery_space(),
    simulate=ODD.steps_in_d,
    claims=growth_in_d(),
    hypotheses=ODD.hypotheses(),
    printed="in d",
    readings=(
        Reading(
            "in epsilon", Printed("", ""), simulate=ODD.steps_in_epsilon, claims=growth_in_epsilon()
        ),
        Reading("in k, mu_1 != 0", Printed("", ""), simulate=ODD.steps_in_k, claims=growth_in_k(3)),
        Reading(
            "in k, mu_1 = 0",
            Printed("", ""),
            simulate=EVEN.steps_in_k,
            claims=growth_in_k(4),
            hypotheses=EVEN.hypotheses(),
        ),
    ),
    mutants=(Mutant("square root of d", claims=growth_in_d(0.5)),),
    keys=4,
    instances=16,
)
