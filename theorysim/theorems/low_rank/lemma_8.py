"""On the good event the overlap grows at a rate of eta S until it is no longer weak.

Lemma 8 of Dayi and Chen (2024), Appendix B, with h(0) > 0: on the events of Eqs. 14 and 15 and
before m leaves [0, r], r < 1 / sqrt(2), the statement has m_t >= beta / (2 sqrt(d)) + t eta S / 2
and the proof t eta S / 4. Checked path by path on the reduced chain with beta / sqrt(d) = m_0, as
long as the path so far lies in the event: |M| and the cubic sum at most m_0 / 10, eta sum (S / 4 -
eta |L|^2) at least -m_0 / 5. Condition 3 gives S, a share of |h(0)| / 2; the
noise in M is what a gradient has beyond the population's, which is Proposition 1's.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Run, Size, Theorem, at_least
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_overlap import keeps_sign, speed
from theorysim.theorems.low_rank._recovery import Setting, odd, recovery_space

STEPS = 1000
WEAK = 0.7
SETTING = Setting(True, lambda x: x.scale, odd)


def _rate(x: Instance):
    return x.delta / x.dimension


def simulate(x: Instance, key):
    """The path before each step, the drift of its bound and how far it is inside the event."""
    given, activation = SETTING.reduced(x), SETTING.activation()
    start = chain.begin(given, x.start)
    path = chain.trace(given, activation.value, start, x.dimension, _rate(x), STEPS, key)
    signal = x.share * SETTING.start_speed(given) / 2
    rate, m = _rate(x), path.state.overlap
    noise = path.towards + speed(given, activation, m) * path.state.rest**2
    margins = (
        x.start / 10 - jnp.abs(rate * _sums(noise)),
        x.start / 10 - rate**3 * _sums(path.square * jnp.abs(path.towards)),
        x.start / 5 + rate * _sums(signal / 4 - rate * path.square),
        WEAK - jnp.pad(m[:-1], (1, 0)),
        jnp.pad(m[:-1], (1, 0), constant_values=1.0),
    )
    inside = jnp.min(jnp.stack([jnp.cumsum(margin < 0) for margin in margins]) == 0, axis=0)
    return {"m": m, "grown": rate * signal * jnp.arange(STEPS), "inside": inside}


def _sums(increments):
    """Sums over the steps before each one."""
    return jnp.cumsum(jnp.pad(increments[:-1], (1, 0)))


def _condition_3(x: Instance):
    """Margin of h(m) >= |h(0)| / 2 on [0, 1]."""
    return keeps_sign(SETTING.problem(x), SETTING.activation(), points=17) - 0.5


def _not_small(x: Instance):
    return SETTING.start_speed(SETTING.problem(x)) - 0.1


def _claims(factor: float):
    def bound(r: Run):
        return r.x.start / 2 + factor * r.sim["grown"]

    return (
        at_least(
            "m_t", lambda r: r.sim["m"], bound, where=lambda r: r.sim["inside"].astype(float) - 0.5
        ),
    )


theorem = Theorem(
    space=recovery_space(
        k=Size(5, low=2, high=48),  # d is 50 at least
        scale=Real(0.5, 2, log=True),
        dimension=Real(50, 400, log=True),
        start=Real(0.05, 0.6, log=True),
        delta=Real(0.02, 0.3, log=True),
        share=Real(0.5, 1),
    ),
    simulate=simulate,
    claims=_claims(0.5),
    hypotheses={"Condition 3": _condition_3, "|h(0)| is not small": _not_small},
    readings=(Reading("proof", Printed("", ""), claims=_claims(0.25)),),
    mutants=(Mutant("t eta 4 S", claims=_claims(4.0)),),
    keys=4,
    instances=32,
)
