"""On the good event a run stays close to the population's recursion.

Lemma 9 of Dayi and Chen (2024), Appendix B: on the event that sup |M_t| <= epsilon/36, sup eta^3
sum |L_j|^2 |<L_j, u>| <= epsilon/18 and sup eta^2 sum |L_j|^2 <= epsilon/18, where M_t = eta sum
<E_j, u> and E_j is the noise of the gradient L_j, |m_t - m_s - eta sum_(s <= j < t) h(m_j) (1 -
m_j^2)| < epsilon/6. Checked path by path on the reduced chain, with epsilon the least for which the
path lies in the event.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import activation, problem
from theorysim.theorems.low_rank._runs import chain_space, room, trace_chain

STEPS = 60


def _sums(increments):
    """Partial sums from 0."""
    return jnp.cumsum(jnp.pad(increments, [(0, 0), (1, 0)]), axis=-1)


def _drift(r: claims.Run):
    """h(m) (1 - m^2) before every step but the last."""
    m = r.sim.state.overlap[:, :-1]
    return speed(problem(r.x), activation(r.x), m) * r.sim.state.rest[:, :-1] ** 2


def _deviation(r: claims.Run):
    """Largest |m_t - m_s - eta sum h (1 - m^2)| over s <= t."""
    path = r.sim.state.overlap - r.x.rate * _sums(_drift(r))
    return jnp.max(path, axis=-1) - jnp.min(path, axis=-1)


def _epsilon(r: claims.Run):
    """The least epsilon of the path's event."""
    rate, towards, square = r.x.rate, r.sim.towards[:, :-1], r.sim.square[:, :-1]
    noise = jnp.max(jnp.abs(rate * _sums(towards + _drift(r))), axis=-1)
    cubic = rate**3 * jnp.sum(square * jnp.abs(towards), axis=-1)
    quadratic = rate**2 * jnp.sum(square, axis=-1)
    return jnp.maximum(36 * noise, 18 * jnp.maximum(cubic, quadratic))


DEVIATION = claims.at_most("the deviation", _deviation, lambda r: _epsilon(r) / 6)

theorem = claims.Theorem(
    space=chain_space(),
    simulate=lambda x, key: trace_chain(x, key, STEPS),
    claims=(DEVIATION,),
    hypotheses={"d >= k + 2": room},
    source=claims.Printed(
        "Lemma 9, Appendix B.3.3", "|m_t - m_tau - eta sum h(m_j) (1 - m_j^2)| < epsilon / 6"
    ),
    mutants=(
        claims.Mutant(
            "epsilon^2 / 6 for epsilon / 6",
            claims=(DEVIATION.against(lambda r: _epsilon(r) ** 2 / 6),),
        ),
    ),
    keys=4,
)
