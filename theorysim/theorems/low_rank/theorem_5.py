"""Fine-tuning at xi = xi_bar sqrt(k) on orthogonal features takes a number of steps linear in d.

Theorem 5 of Dayi and Chen (2024), informally Theorem 1: T = O~(lambda_max^4 / (lambda_min^4 gamma^2
xi_bar^2) d k^4 / epsilon^4) steps, divided by k where mu_1 != 0, reach <u_T, u>^2 >= 1 - epsilon,
whatever the activation's information exponent. Measured is the time of recovery on the reduced
chain at the printed learning rate, of order epsilon^3 / (d k^(7/2)), times sqrt(k) where mu_1 != 0.
"""

from __future__ import annotations

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Theorem
from theorysim.theorems.low_rank._recovery import Setting, even, odd, recovery_space
from theorysim.theorems.low_rank._recovery_time import (
    Schedule,
    growth_in_d,
    growth_in_epsilon,
    growth_in_k,
)


def _scale(x: Instance):
    return x.xi_bar * x.k**0.5


ODD = Schedule(Setting(True, _scale, odd), constant=360, power=3, least=0.08, order=1)
EVEN = Schedule(Setting(True, _scale, even), constant=360, power=3.5, least=0.08, order=0.5)

theorem = Theorem(
    space=recovery_space(xi_bar=Real(0.3, 0.6)),
    simulate=ODD.steps_in_d,
    claims=growth_in_d(),
    hypotheses=ODD.hypotheses(),
    printed="in d",
    aliases=("theorem-1",),
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
