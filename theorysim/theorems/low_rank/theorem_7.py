"""Under Conditions 1 to 3, steps of size delta / (d V_k) recover u in T = alpha d V_k steps.

Theorem 7 of Dayi and Chen (2024): delta = min(S epsilon^3 / (4 mu log(dV)^2), 1), alpha = 4 log(dV)
/ (epsilon delta S), eta = delta / (d V), T = ceil(alpha d V) and T_weak = ceil(4 d V / (delta S)),
which the proof has as ceil(2 d V / (delta S)). Decided is what the schedule asks of the drift: at
the slowest speed that Condition 3 allows, h = S, the flow must reach the weak level 1/2 within eta
T_weak and 1 - epsilon within eta T. Noise is measured in Theorems 4 to 6; `requirements` are the printed
steps. Proposition 9 takes delta = epsilon^3 S / (4 C log(dV)) and says that then alpha delta^2 <=
epsilon^2 / (C log(dV)).
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Theorem, at_least, at_most
from theorysim.theorems.low_rank._schedule import alpha, logarithm, schedule_space


def _delta(x: Instance):
    return jnp.minimum(x.signal * x.epsilon**3 / (4 * x.constant * logarithm(x) ** 2), 1.0)


def _simulate(share: float):
    """The flow's overlap after eta T_weak and eta T, from beta / sqrt(d), where h = S."""

    def simulate(x: Instance, key):
        start = jnp.arctanh(x.beta / jnp.sqrt(x.dimension))
        weak = 4 * share / x.signal
        whole = alpha(x, _delta(x)) * _delta(x)
        return {
            "weak": jnp.tanh(start + x.signal * weak),
            "gap": 2 / (1 + jnp.exp(2 * (start + x.signal * whole))),
        }

    return simulate


def _claims(level: float, factor: float):
    return (
        at_least("C1: |m| >= 1/2 after T_weak", lambda r: r.sim["weak"], lambda r: level),
        at_most("C2: 1 - |m_T| <= epsilon", lambda r: r.sim["gap"], lambda r: factor * r.x.epsilon),
    )


def _demanded(x: Instance):
    return jnp.log10(alpha(x, _delta(x)) * x.dimension * x.variance)


theorem = Theorem(
    space=schedule_space(beta=Real(0.01, 1, log=True)),
    simulate=_simulate(1.0),
    claims=_claims(0.5, 1.0),
    requirements={"log10 of T": _demanded},
    readings=(Reading("T_weak of the proof", Printed("", ""), simulate=_simulate(0.5)),),
    mutants=(Mutant("within 1 / (10 S)", simulate=_simulate(0.025), claims=_claims(0.5, 1e-6)),),
)
