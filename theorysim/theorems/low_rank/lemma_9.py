"""On the good event a run stays close to the population's recursion, and away from 0.

Lemma 9 of Dayi and Chen (2024), Appendix B: on the event that sup |M_t| <= epsilon/36, sup eta^3
sum |L_j|^2 |<L_j, u>| <= epsilon/18 and sup eta^2 sum |L_j|^2 <= epsilon/18, where M_t = eta sum
<E_j, u> and E_j is the noise of the gradient L_j, |m_t - m_s - eta sum_(s <= j < t) h(m_j) (1 -
m_j^2)| < epsilon/6. Checked path by path on the reduced chain, with epsilon the least for which
the path lies in the event. Furthermore, once m has reached r (1/2 here), it stays above 0, where
epsilon < 1 and h does not turn back on [0, 1], which Condition 3 grants.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import activation, problem
from theorysim.theorems.low_rank._runs import chain_space, room, trace_chain

STEPS = 60
WEAK = 0.5  # r
LEAST = 1e-9  # epsilon


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
    """The least epsilon of the path's event; positive, where no gradient moves the path, too."""
    rate, towards, square = r.x.rate, r.sim.towards[:, :-1], r.sim.square[:, :-1]
    noise = jnp.max(jnp.abs(rate * _sums(towards + _drift(r))), axis=-1)
    cubic = rate**3 * jnp.sum(square * jnp.abs(towards), axis=-1)
    quadratic = rate**2 * jnp.sum(square, axis=-1)
    return jnp.maximum(LEAST, jnp.maximum(36 * noise, 18 * jnp.maximum(cubic, quadratic)))


def _stays_above(in_event: bool = True):
    """The lowest overlap of a path from r on, in the event of some epsilon < 1, or out of it."""
    return claims.at_least(
        "tau_0 > T",
        lambda r: jnp.min(r.sim.state.overlap, axis=-1),
        lambda r: 0.0,
        where=lambda r: (1 - _epsilon(r)) * (1 if in_event else -1),
        strict=True,
    )


def _least_speed(x: claims.Instance):
    """The least h(m) on [0, 1]."""
    return jnp.min(speed(problem(x), activation(x), jnp.linspace(0.0, 1.0, 33)))


DEVIATION = claims.at_most("the deviation", _deviation, lambda r: _epsilon(r) / 6, strict=True)
ROOM = {"d >= k + 2": room}

theorem = claims.Theorem(
    space=chain_space(),
    simulate=lambda x, key: trace_chain(x, key, STEPS),
    claims=(DEVIATION,),
    hypotheses=ROOM,
    source=claims.Printed(
        "Lemma 9, Appendix B.3.3", "|m_t - m_tau - eta sum h(m_j) (1 - m_j^2)| < epsilon / 6"
    ),
    readings=(
        claims.Reading(
            "second assertion",
            claims.Printed("Lemma 9, Appendix B.3.3", "Furthermore, tau_0^- > T"),
            claims=(_stays_above(),),
            hypotheses={
                **ROOM,
                "m_0 >= r": lambda x: x.start - WEAK,
                "h >= 0 on [0, 1]": _least_speed,
            },
        ),
    ),
    mutants=(
        claims.Mutant(
            "outside the event", of=("second assertion",), claims=(_stays_above(in_event=False),)
        ),
        claims.Mutant(
            "epsilon^2 / 6 for epsilon / 6",
            claims=(DEVIATION.against(lambda r: _epsilon(r) ** 2 / 6),),
        ),
    ),
    keys=4,
)
