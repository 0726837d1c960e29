"""On the good event the overlap grows at a rate of eta S until it is no longer weak.

Lemma 8 of Dayi and Chen (2024), Appendix B, with h(0) > 0: on the events of Eqs. 14 and 15 and
before m leaves [0, r], r < 1 / sqrt(2), the statement has m_t >= beta / (2 sqrt(d)) + t eta S / 2
and the proof t eta S / 4; furthermore m stays above 0. Checked path by path on the reduced chain
with beta / sqrt(d) = m_0, as long as the path so far lies in the event: |M| and the cubic sum at
most m_0 / 10, eta sum (S / 4 - eta |L|^2) at least -m_0 / 5, at all times (Eq. 15 prints a supremum
there, Claim 7 the infimum). The bounds by epsilon, which make the event smaller, are left out.
Condition 3 gives S; the noise in M is what a gradient has beyond the population's, which is
Proposition 1's. With ReLU on orthonormal features h is least at the start of a path: that it falls
to |h(0)| / 2, which Condition 3 admits and the factors 1/2 and 1/4 are for, does not occur here.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from theorysim import claims
from theorysim.systems import rank_one_chain as chain
from theorysim.theorems.low_rank.condition_3 import CONDITION_3, SETTING, condition_space, signal

STEPS = 1000
WEAK = 0.7


class Path(NamedTuple):
    """The overlap before every step, t eta S, and whether the path so far lies in the event."""

    overlap: Float[Array, " steps"]
    grown: Float[Array, " steps"]
    inside: Bool[Array, " steps"]


def simulate(x: claims.Instance, key) -> Path:
    """A run of the reduced chain."""
    given, activation = SETTING.reduced(x), SETTING.activation()
    rate, start = x.delta / (x.dimension * x.variance), chain.begin(given, x.start)
    path = chain.trace(given, activation.value, start, x.dimension, rate, STEPS, key)
    m = path.state.overlap
    noise = path.towards + SETTING.speed(given, m) * path.state.rest**2
    margins = (
        x.start / 10 - jnp.abs(rate * _sums(noise)),
        x.start / 10 - rate**3 * _sums(path.square * jnp.abs(path.towards)),
        x.start / 5 + rate * _sums(signal(x) / 4 - rate * path.square),
        WEAK - jnp.pad(m[:-1], (1, 0)),
        jnp.pad(m[:-1], (1, 0), constant_values=1.0),
    )
    inside = jnp.min(jnp.stack([jnp.cumsum(margin < 0) for margin in margins]) == 0, axis=0)
    return Path(m, rate * signal(x) * jnp.arange(STEPS), inside)


def _sums(increments):
    """Sums over the steps before each one."""
    return jnp.cumsum(jnp.pad(increments[:-1], (1, 0)))


def _claims(factor: float):
    def bound(r: claims.Run):
        return r.x.start / 2 + factor * r.sim.grown

    return (claims.at_least("m_t", lambda r: r.sim.overlap, bound, where=_inside),)


def _inside(r: claims.Run):
    return r.sim.inside.astype(float) - 0.5


def _stays_above(share: float = 0.0):
    """m_t is above a share of m_0."""
    return claims.at_least(
        "tau_0 > T",
        lambda r: r.sim.overlap,
        lambda r: share * r.x.start,
        where=_inside,
        strict=True,
    )


theorem = claims.Theorem(
    space=condition_space(
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        variance=claims.Real(1, 2),
        share=claims.Real(0.5, 1),
        start=claims.Real(0.05, 0.6, log=True),
        delta=claims.Real(0.02, 0.3, log=True),
    ),
    simulate=simulate,
    claims=(*_claims(0.5), _stays_above()),
    assumes=(CONDITION_3,),
    hypotheses={
        "|h(0)| is not small": lambda x: SETTING.start_speed(SETTING.problem(x)) - 0.1,
        "m_0 < r": claims.strict(lambda x: WEAK - x.start),
    },
    note="with ReLU on orthonormal features h grows along the path, so that m outgrows both: S / 2 "
    "and S / 4 are not told apart, nor from S",
    source=claims.Printed("Lemma 8, Appendix B.3.3", "m_t >= beta / (2 sqrt(d)) + t eta S_k / 2"),
    readings=(
        claims.Reading(
            "proof",
            claims.Printed(
                "Proof of Lemma 8, Appendix B.3.3", "m_t >= beta / (2 sqrt(d)) + t eta S_k / 4"
            ),
            claims=(*_claims(0.25), _stays_above()),
        ),
    ),
    mutants=(
        claims.Mutant(
            "t eta 4 S for t eta S / 2; above m_0 for above 0",
            of=("as printed", "proof"),
            claims=(*_claims(4.0), _stays_above(1.0)),
        ),
    ),
    keys=4,
    instances=32,
)
