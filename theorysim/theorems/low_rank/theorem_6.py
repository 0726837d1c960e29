"""Fine-tuning at xi = 1 on separated features takes a number of steps linear in d.

Theorem 6 of Dayi and Chen (2024), informally Theorem 2: with Assumption 4,
T = O~(lambda_max^4 / (lambda_min^4 gamma^2) d k^3 / epsilon^4) steps of size
eta = lambda_max^4 delta / (d k^2) reach <u_T, u>^2 >= 1 - epsilon. The power of lambda_max in eta
is decided on the population's flow, which must recover u within the time eta T; the number of steps
is measured on the reduced chain, at the corrected learning rate.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Printed, Reading, Real, Theorem, at_most
from theorysim.theorems.low_rank._recovery import Setting, odd, recovery_space
from theorysim.theorems.low_rank._recovery_time import (
    Schedule,
    growth_in_d,
    growth_in_epsilon,
    growth_in_k,
)

SEPARATED = Setting(False, lambda x: 1.0, odd)
SCHEDULE = Schedule(SEPARATED, constant=45, power=2.5, least=0.4, order=-0.5)


def _enlarged(x: Instance) -> Instance:
    return x.replace(readout=x.size * x.readout)


def _flow_time(x: Instance, key):
    return SEPARATED.flow_time(_enlarged(x), key)


def _time(power: int):
    """eta T with eta = lambda_max^power delta / (d k^2) and T = alpha lambda_max^4 d k^2.

    delta alpha = log(lambda_max^4 d k^2) sqrt(k) / (lambda_min^2 gamma epsilon).
    """

    def time(r):
        readout = r.x.size * r.x.readout
        largest, least = jnp.max(readout), jnp.min(readout)
        logarithm = jnp.log(largest**4 * r.x.dimension * r.x.k**2)
        progress = logarithm * r.x.k**0.5 / (least**2 * r.x.gamma * r.x.epsilon)
        return largest ** (power + 4.0) * progress

    return time


def _fast_enough(x: Instance):
    """Margin of |h(0)| >= gamma lambda_min^2 / sqrt(k) (Lemma 2)."""
    large = _enlarged(x)
    at_zero = SEPARATED.start_speed(SEPARATED.problem(large))
    return at_zero - x.gamma * jnp.min(large.readout) ** 2 / x.k**0.5


def _variance(x: Instance):
    """Margin of V = lambda_max^4 k^2 >= 1."""
    return jnp.max(_enlarged(x).readout) ** 4 * x.k**2 - 1


EVENT = {
    "V >= 1 (Condition 2)": _variance,
    "|h(0)| >= gamma lambda_min^2 / sqrt(k)": _fast_enough,
    "Assumption 4": SEPARATED.separated,
}


def _flow_claims(power: int, factor: float = 1.0):
    return (
        at_most(
            "the flow recovers u within eta T",
            lambda r: r.sim,
            lambda r: factor * _time(power)(r),
        ),
    )


theorem = Theorem(
    space=recovery_space(size=Real(0.3, 3, log=True), gamma=Real(0.01, 1, log=True)),
    simulate=_flow_time,
    claims=_flow_claims(4),
    hypotheses=EVENT,
    aliases=("theorem-2",),
    readings=(
        Reading(
            "eta corrected",
            Corrected(""),
            claims=_flow_claims(-4),
            primary=True,
            note="lambda_max^4 belongs into the denominator of eta, as in Theorem 4",
        ),
        Reading(
            "in d",
            Printed("", ""),
            simulate=SCHEDULE.steps_in_d,
            claims=growth_in_d(),
            hypotheses=SCHEDULE.hypotheses(),
        ),
        Reading(
            "in epsilon",
            Printed("", ""),
            simulate=SCHEDULE.steps_in_epsilon,
            claims=growth_in_epsilon(),
            hypotheses=SCHEDULE.hypotheses(),
        ),
        Reading(
            "in k",
            Printed("", ""),
            simulate=SCHEDULE.steps_in_k,
            claims=growth_in_k(3),
            hypotheses=SCHEDULE.hypotheses(),
        ),
    ),
    mutants=(Mutant("a thousandth of the time", claims=_flow_claims(-4, 1e-3)),),
    keys=4,
    instances=16,
)
