"""Fine-tuning at xi = xi_bar sqrt(k) on orthogonal features takes a number of steps linear in d.

Theorem 5 of Dayi and Chen (2024), informally Theorem 1: T = O~(lambda_max^4 / (lambda_min^4 gamma^2
xi_bar^2) d k^4 / epsilon^4) steps, divided by k where mu_1 != 0, reach <u_T, u>^2 >= 1 - epsilon,
whatever the activation's information exponent. Measured is the time of recovery on the reduced
chain at the printed learning rate, of order lambda_min^2 epsilon^3 / (lambda_max^4 d k^(7/2)),
times sqrt(k) where mu_1 != 0, for ReLU and the absolute value.
"""

from theorysim import claims
from theorysim.theorems.low_rank import _recovery_time as time
from theorysim.theorems.low_rank._recovery import Setting, even, growing_scale, odd, recovery_space


def _rate(power: float):
    """eta, of order epsilon^3 / (d k^power)."""
    return lambda x: 360 * time.readout_ratio(x) * x.epsilon**3 / (x.dimension * x.k**power)


# The event, |h(0)| >= gamma k (mu_1 != 0) or gamma sqrt(k), with a gamma of half of the signs.
ODD = time.Recovery(Setting(True, growing_scale, odd), _rate(3), fast=lambda x: 0.08 * x.k)
EVEN = time.Recovery(Setting(True, growing_scale, even), _rate(3.5), fast=lambda x: 0.08 * x.k**0.5)

SOURCE = claims.Printed("Theorem 5, Section 2.2.1", "T = O~(... d k^4 / epsilon^4)")

theorem = claims.Theorem(
    space=recovery_space(xi_bar=claims.Real(0.3, 0.6)),
    simulate=ODD.over_d,
    claims=time.in_d(),
    hypotheses=ODD.event(),
    printed="in d",
    aliases=("theorem-1",),
    source=SOURCE,
    readings=(
        ODD.reading("in epsilon", SOURCE, ODD.over_epsilon, time.in_epsilon()),
        ODD.reading(
            "in k, mu_1 != 0",
            claims.Printed("Theorem 5, Section 2.2.1", "T = O~(... d k^4), over k if mu_1 != 0"),
            ODD.over_k,
            time.in_k(3),
        ),
        EVEN.reading("in k, mu_1 = 0", SOURCE, EVEN.over_k, time.in_k(4)),
    ),
    mutants=(
        *time.MUTANTS,
        claims.Mutant("linear in k", of=("in k, mu_1 != 0",), claims=time.in_k(1)),
        claims.Mutant("as many for every k", of=("in k, mu_1 = 0",), claims=time.in_k(0)),
    ),
    keys=4,
    instances=16,
)
