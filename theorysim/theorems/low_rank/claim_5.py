"""What the projection onto the sphere costs along a run, path by path.

Claim 5 of Dayi and Chen (2024), Appendix B.1.1: with Pi_j = |u_j - eta L_j|, L_j the gradient,
sum_(j<t) |(1 - 1/Pi_j)(m_j - eta <L_j, u>)| <= eta^3 sum |L_j|^2 |<L_j, u>| + eta^2 sum |L_j|^2,
with the steps 1 <= Pi <= sqrt(1 + eta^2 |L|^2) <= 1 + eta^2 |L|^2. Runs are those of the reduced
chain, which has the law of the run in d dimensions (`equation-4`).
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank._runs import chain_space, room, trace_chain

STEPS = 100


def _length(r: claims.Run):
    """Pi."""
    return jnp.sqrt(1 + r.x.rate**2 * r.sim.square)


def _lost(r: claims.Run):
    """|(1 - 1/Pi) (m - eta <L, u>)|, with 1 - 1/Pi = (Pi^2 - 1) / (Pi (Pi + 1))."""
    share = r.x.rate**2 * r.sim.square / (_length(r) * (_length(r) + 1))
    return share * jnp.abs(r.sim.state.overlap - r.x.rate * r.sim.towards)


def _claims(power: int = 2, share: float = 1.0):
    """`share` of the bounds, with eta^power before |L|^2."""

    def square(r: claims.Run):
        return share * r.x.rate**power * r.sim.square

    def both(r: claims.Run):
        return square(r) * (1 + r.x.rate * jnp.abs(r.sim.towards))

    return (
        claims.at_most(
            "the sum up to every step",
            lambda r: jnp.cumsum(_lost(r), axis=-1),
            lambda r: jnp.cumsum(both(r), axis=-1),
        ),
        claims.at_most(
            "P1: Pi <= 1 + eta^2 |L|^2",
            lambda r: r.x.rate**2 * r.sim.square / (_length(r) + 1),
            square,
        ),
    )


theorem = claims.Theorem(
    space=chain_space(),
    simulate=lambda x, key: trace_chain(x, key, STEPS),
    claims=_claims(),
    hypotheses={"d >= k + 2": room},
    source=claims.Printed(
        "Claim 5, Appendix B.1.1",
        "sum |(1 - 1/Pi_j)(...)| <= eta^3 sum |L_j|^2 |<L_j, u>| + eta^2 sum |L_j|^2",
    ),
    readings=(
        claims.Reading(
            "half of the bound",
            claims.Finding("the best constant"),
            claims=_claims(share=0.5),
            note="half of the printed bound is enough, and no smaller share of P1 is",
        ),
    ),
    mutants=(claims.Mutant("one power of eta too many", claims=_claims(power=3)),),
    keys=4,
    instances=32,
)
