"""Fine-tuning at xi = xi_bar sqrt(k) on orthogonal features takes a number of steps linear in d.

Theorem 5 of Dayi and Chen (2024), informally Theorem 1: T = O~(lambda_max^4 / (lambda_min^4 gamma^2
xi_bar^2) d k^4 / epsilon^4) steps, divided by k where mu_1 != 0, reach <u_T, u>^2 >= 1 - epsilon,
whatever the activation's information exponent. Measured is the time of recovery on the reduced
chain at the printed learning rate, of order lambda_min^2 epsilon^3 / (lambda_max^4 d k^(7/2)),
times sqrt(k) where mu_1 != 0, for ReLU and the absolute value.
"""

from __future__ import annotations

from theorysim.claims import Instance, Mutant, Printed, Real, Theorem
from theorysim.theorems.low_rank._recovery import Setting, even, odd, recovery_space
from theorysim.theorems.low_rank._recovery_time import Recovery, readout_ratio


def _scale(x: Instance):
    """xi."""
    return x.xi_bar * x.k**0.5


def _rate(power: float):
    """eta, of order epsilon^3 / (d k^power)."""
    return lambda x: 360 * readout_ratio(x) * x.epsilon**3 / (x.dimension * x.k**power)


# The event, |h(0)| >= gamma k (mu_1 != 0) or gamma sqrt(k), with a gamma of half of the signs.
ODD = Recovery(Setting(True, _scale, odd), _rate(3), fast=lambda x: 0.08 * x.k)
EVEN = Recovery(Setting(True, _scale, even), _rate(3.5), fast=lambda x: 0.08 * x.k**0.5)

IN_D = ODD.over_d("in d", Printed("Theorem 5, Section 2.2.1", "T = O~(... d k^4 / epsilon^4)"))
IN_EPSILON = ODD.over_epsilon("in epsilon", Printed("Theorem 5", "T = O~(... / epsilon^4)"))
IN_K = ODD.over_k("in k, mu_1 != 0", Printed("Theorem 5", "T = O~(... d k^4) / k"), 3)
IN_K_EVEN = EVEN.over_k("in k, mu_1 = 0", Printed("Theorem 5", "T = O~(... d k^4)"), 4)

theorem = Theorem(
    space=recovery_space(xi_bar=Real(0.3, 0.6)),
    simulate=IN_D.simulate,
    claims=IN_D.claims,
    hypotheses=IN_D.hypotheses,
    source=IN_D.source,
    printed="in d",
    aliases=("theorem-1",),
    readings=(IN_EPSILON, IN_K, IN_K_EVEN),
    mutants=(
        Mutant("square root of d", claims=(IN_D.claims[0].with_exponent(0.5),)),
        Mutant(
            "epsilon^-3",
            of=("in epsilon",),
            claims=(IN_EPSILON.claims[0].with_exponent(-3.0),),
        ),
        Mutant(
            "linear in k",
            of=("in k, mu_1 != 0", "in k, mu_1 = 0"),
            claims=(IN_K.claims[0].with_exponent(1.0),),
        ),
    ),
    keys=4,
    instances=16,
)
