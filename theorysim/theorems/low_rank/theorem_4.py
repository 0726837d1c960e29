"""Fine-tuning at xi = 1 on orthogonal features takes a number of steps linear in d.

Theorem 4 of Dayi and Chen (2024): T = O~(lambda_max^4 / (lambda_min^4 gamma^2) d k^3 / epsilon^4)
steps, times k where mu_1 = 0, reach <u_T, u>^2 >= 1 - epsilon. Measured are V_k / S_k^2, the steps
per dimension of Theorem 7, over k. The time of recovery over d and epsilon, on the reduced chain,
takes minutes: `python -m validation.recovery_time` measures it.
"""

from __future__ import annotations

from theorysim.claims import Reading, Theorem
from theorysim.theorems.low_rank._recovery import (
    Setting,
    even,
    neuron_claims,
    neuron_reading,
    odd,
    recovery_space,
)

ODD = Setting(True, lambda x: 1.0, odd)
EVEN = Setting(True, lambda x: 1.0, even)

theorem = Theorem(
    space=recovery_space(),
    simulate=ODD.complexity,
    claims=neuron_claims(3),
    printed="in k, mu_1 != 0",
    readings=(neuron_reading("in k, mu_1 = 0", EVEN, 4),),
    wrong=Reading("1 / k", claims=neuron_claims(-1)),
    keys=64,
    instances=16,
    teeth=16,
)
