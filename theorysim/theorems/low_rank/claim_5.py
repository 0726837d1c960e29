"""What the projection onto the sphere costs along a run, path by path.

Claim 5 of Dayi and Chen (2024), Appendix B: with Pi_j = |u_j - eta L_j|, L_j the gradient,
sum_(j<t) |(1 - 1/Pi_j)(m_j - eta <L_j, u>)| <= eta^3 sum |L_j|^2 |<L_j, u>| + eta^2 sum |L_j|^2,
with the steps 1 <= Pi <= sqrt(1 + eta^2 |L|^2) <= 1 + eta^2 |L|^2. Runs are those of the reduced
chain, which has the law of the run in d dimensions (`equation-4`). Half of the bound is enough.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Run, Theorem, at_most
from theorysim.theorems.low_rank._runs import chain_space, room, traced

STEPS = 100


def simulate(x: Instance, key):
    return traced(x, key, STEPS)


def _length(r: Run):
    """Pi."""
    return jnp.sqrt(1 + r.x.rate**2 * r.sim.square)


def _lost(r: Run):
    """|(1 - 1/Pi)(m - eta <L, u>)|, with 1 - 1/Pi = (Pi^2 - 1) / (Pi (Pi + 1))."""
    share = r.x.rate**2 * r.sim.square / (_length(r) * (_length(r) + 1))
    return share * jnp.abs(r.sim.state.overlap - r.x.rate * r.sim.towards)


def _bound(r: Run):
    square = r.x.rate**2 * r.sim.square
    return square * r.x.rate * jnp.abs(r.sim.towards) + square


def _claims(share: float):
    return (
        at_most(
            "the sum up to every step",
            lambda r: jnp.cumsum(_lost(r), axis=-1),
            lambda r: share * jnp.cumsum(_bound(r), axis=-1),
        ),
        at_most(
            "P1: Pi <= 1 + eta^2 |L|^2",
            lambda r: r.x.rate**2 * r.sim.square / (_length(r) + 1),
            lambda r: share * r.x.rate**2 * r.sim.square,
        ),
    )


theorem = Theorem(
    space=chain_space(),
    simulate=simulate,
    claims=_claims(1.0),
    hypotheses={"d >= k + 2": room},
    readings=(
        Reading(
            "half of the bound", Printed("", ""), claims=_claims(0.5), note="the best factor is 1/2"
        ),
    ),
    mutants=(Mutant("a quarter of the bound", claims=_claims(0.25)),),
    keys=4,
    instances=32,
)
