"""Fine-tuning at xi = 1 on separated features takes a number of steps linear in d.

Theorem 6 of Dayi and Chen (2024), informally Theorem 2: with Assumption 4,
T = O~(lambda_max^4 / (lambda_min^4 gamma^2) d k^3 / epsilon^4) steps of size
eta = lambda_max^4 delta / (d k^2) reach <u_T, u>^2 >= 1 - epsilon. The power of lambda_max in eta
is decided on the population's flow, which must recover u within the time eta T; the number of steps
is measured on the reduced chain, at the corrected learning rate.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank import _recovery_time as time
from theorysim.theorems.low_rank._recovery import recovery_space
from theorysim.theorems.low_rank.assumption_4 import ASSUMPTION_4, SEPARATED

RUNS = time.Recovery(
    SEPARATED,
    rate=lambda x: 45 * time.readout_ratio(x) * x.epsilon**3 / (x.dimension * x.k**2.5),
    fast=lambda x: 0.4 * x.k**-0.5,
)


def _enlarged(x: claims.Instance) -> claims.Instance:
    return x.replace(readout=x.size * x.readout)


def _flow_time(x: claims.Instance, key):
    """From an overlap of 1 / sqrt(d) to a square of 1 - epsilon."""
    return SEPARATED.flow_time(_enlarged(x), 1 / jnp.sqrt(x.dimension), jnp.sqrt(1 - x.epsilon))


def _within(power: int):
    """eta T with eta = lambda_max^power delta / (d k^2) and T = alpha lambda_max^4 d k^2.

    delta alpha = log(lambda_max^4 d k^2) sqrt(k) / (lambda_min^2 gamma epsilon).
    """

    def duration(r):
        readout = r.x.size * r.x.readout
        largest, least = jnp.max(readout), jnp.min(readout)
        logarithm = jnp.log(largest**4 * r.x.dimension * r.x.k**2)
        progress = logarithm * r.x.k**0.5 / (least**2 * r.x.gamma * r.x.epsilon)
        return largest ** (power + 4.0) * progress

    return (claims.at_most("the flow recovers u within eta T", lambda r: r.sim, duration),)


def _fast_enough(x: claims.Instance):
    """Margin of |h(0)| >= gamma lambda_min^2 / sqrt(k) (Lemma 2)."""
    large = _enlarged(x)
    at_zero = SEPARATED.start_speed(SEPARATED.problem(large))
    return at_zero - x.gamma * jnp.min(large.readout) ** 2 / x.k**0.5


def _variance(x: claims.Instance):
    """Margin of V = lambda_max^4 k^2 >= 1."""
    return jnp.max(_enlarged(x).readout) ** 4 * x.k**2 - 1


STEPS = claims.Printed("Theorem 6, Section 2.2.2", "T = O~(... d k^3 / epsilon^4)")

theorem = claims.Theorem(
    space=recovery_space(size=claims.Real(0.3, 3, log=True), gamma=claims.Real(0.01, 1, log=True)),
    simulate=_flow_time,
    claims=_within(4),
    assumes=(ASSUMPTION_4,),
    hypotheses={
        "V >= 1 (Condition 2)": _variance,
        "|h(0)| >= gamma lambda_min^2 / sqrt(k)": _fast_enough,
    },
    aliases=("theorem-2",),
    source=claims.Printed("Theorem 6, Section 2.2.2", "eta = lambda_max^4 delta / (d k^2)"),
    note="with lambda_max^4 in the numerator of eta small readouts do not move in T steps",
    readings=(
        claims.corrected(
            "lambda_max^4 in the denominator of eta, as in Theorem 4",
            name="eta corrected",
            claims=_within(-4),
            note="lambda_max^4 belongs into the denominator of eta",
        ),
        RUNS.reading("in d", STEPS, RUNS.over_d, time.in_d()),
        RUNS.reading("in epsilon", STEPS, RUNS.over_epsilon, time.in_epsilon()),
        RUNS.reading("in k", STEPS, RUNS.over_k, time.in_k(3)),
    ),
    mutants=(
        claims.Mutant("lambda_max^4 in the numerator of eta", claims=_within(4)),
        claims.Mutant("square root of d", of=("in d",), claims=time.in_d(0.5)),
        claims.Mutant("epsilon^-3", of=("in epsilon",), claims=time.in_epsilon(-3)),
    ),
    keys=4,
    instances=16,
)
