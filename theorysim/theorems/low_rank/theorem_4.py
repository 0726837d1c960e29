"""Fine-tuning at xi = 1 on orthogonal features takes a number of steps linear in d.

Theorem 4 of Dayi and Chen (2024): T = O~(lambda_max^4 / (lambda_min^4 gamma^2) d k^3 / epsilon^4)
steps, times k where mu_1 = 0, reach <u_T, u>^2 >= 1 - epsilon. Measured is the time of recovery on
the reduced chain at the printed learning rate, of order lambda_min^2 epsilon^3 / (lambda_max^4 d
k^2), over sqrt(k) where mu_1 = 0, for ReLU and the absolute value.
"""

from theorysim import claims
from theorysim.theorems.low_rank import _recovery_time as time
from theorysim.theorems.low_rank._recovery import Setting, even, odd, recovery_space


def _rate(power: float):
    """eta, of order epsilon^3 / (d k^power)."""
    return lambda x: 45 * time.readout_ratio(x) * x.epsilon**3 / (x.dimension * x.k**power)


def _one(x: claims.Instance) -> float:
    return 1.0


# The event, |h(0)| >= gamma (mu_1 != 0) or gamma / sqrt(k), with a gamma of half of the signs.
ODD = time.Recovery(Setting(True, _one, odd), _rate(2), fast=lambda x: 0.2)
EVEN = time.Recovery(Setting(True, _one, even), _rate(2.5), fast=lambda x: 0.4 * x.k**-0.5)

SOURCE = claims.Printed("Theorem 4, Section 2.2.1", "T = O~(... d k^3 / epsilon^4)")

theorem = claims.Theorem(
    space=recovery_space(),
    simulate=ODD.over_d,
    claims=time.in_d(),
    hypotheses=ODD.event(),
    printed="in d",
    source=SOURCE,
    readings=(
        ODD.reading("in epsilon", SOURCE, ODD.over_epsilon, time.in_epsilon()),
        ODD.reading(
            "in k, mu_1 != 0",
            claims.Printed("Theorem 4, Section 2.2.1", "T = O~(... d k^3) if mu_1 != 0"),
            ODD.over_k,
            time.in_k(3),
        ),
        EVEN.reading(
            "in k, mu_1 = 0",
            claims.Printed("Theorem 4, Section 2.2.1", "T = O~(... d k^3), times k otherwise"),
            EVEN.over_k,
            time.in_k(4),
        ),
    ),
    mutants=(
        *time.MUTANTS,
        claims.Mutant("linear in k", of=("in k, mu_1 != 0", "in k, mu_1 = 0"), claims=time.in_k(1)),
    ),
    keys=4,
    instances=16,
)
