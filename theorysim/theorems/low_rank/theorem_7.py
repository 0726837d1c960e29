"""Under Conditions 1 to 3, steps of size delta / (d V_k) recover u in T = alpha d V_k steps.

Theorem 7 of Dayi and Chen (2024): delta = min(S epsilon^3 / (4 mu_1 log(dV)^2), 1), alpha = 4
log(dV) / (epsilon delta S), eta = delta / (d V), T = ceil(alpha d V) and T_weak = ceil(4 d V /
(delta S)), which the proof has as ceil(2 d V / (delta S)): with probability 1 - o(1) |m_t| reaches
r before T_weak, and |m_T| >= 1 - epsilon. Online SGD is run as printed, on the reduced chain, from
beta / sqrt(d), with mu_1 = 1 and the least V that Condition 2 admits for p = 1. The o(1) is read as
what vanishes as d grows, at whatever rate: the share of runs that fail is measured over d = 5 to
8, where T is at most 200,000 (at large epsilon and S).
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank._printed_runs import finish
from theorysim.theorems.low_rank.condition_2 import drift, moment
from theorysim.theorems.low_rank.condition_3 import CONDITION_3, SETTING, condition_space, signal
from theorysim.theorems.low_rank.proposition_9 import alpha, logarithm

WEAK = 0.7  # r
LONGEST = 200_000
DIMENSIONS = (5.0, 6.0, 8.0)


def _tight(x: claims.Instance) -> claims.Instance:
    """The instance with the least V that Condition 2 admits for mu_1 = 1."""
    least = jnp.maximum(moment(x), drift(x))
    return x.replace(variance=jnp.maximum(least, jnp.maximum(1.0, signal(x) ** 2)))


def _delta(x: claims.Instance):
    return jnp.minimum(signal(x) * x.epsilon**3 / (4 * logarithm(x) ** 2), 1.0)


def _steps(x: claims.Instance):
    """T."""
    return jnp.ceil(alpha(x, signal(x), _delta(x)) * x.dimension * x.variance)


def _room(x: claims.Instance):
    """Margin of T <= LONGEST in all dimensions."""
    return LONGEST - _steps(_tight(x.replace(dimension=DIMENSIONS[-1])))


def _simulate(faster: float = 1.0):
    """A run with both printed T_weak, 4 d V / (delta S) and 2 d V / (delta S).

    All times are divided by `faster`. A run that is longer than the longest is not made, and NaN.
    """

    def simulate(x: claims.Instance, key):
        x = _tight(x)
        volume = x.dimension * x.variance
        unit = jnp.ceil(volume / (_delta(x) * signal(x))) / faster
        fits = _steps(x) <= LONGEST
        run = finish(
            SETTING.reduced(x),
            SETTING.activation().value,
            x.beta / jnp.sqrt(x.dimension),
            x.dimension,
            _delta(x) / volume,
            jnp.where(fits, _steps(x), 0) / faster,
            key,
            early=jnp.stack([4 * unit, 2 * unit]),
        )
        return jax.tree.map(lambda leaf: jnp.where(fits, leaf, jnp.nan), run)

    return simulate


def _fails_ever_less(name: str, fails) -> claims.Claim:
    """The share of runs that fail vanishes as d grows."""
    return claims.tends_to(
        name,
        lambda r: jnp.mean(fails(r), axis=0),
        lambda r: 0.0,
        over={"dimension": DIMENSIONS},
    )


def _claims(which: int):
    """With T_weak of the statement (0) or of the proof (1)."""
    return (
        _fails_ever_less("C1: |m| >= r before T_weak", lambda r: r.sim.peaks[:, which] < WEAK),
        _fails_ever_less(
            "C2: |m_T| >= 1 - epsilon", lambda r: jnp.abs(r.sim.overlap) < 1 - r.x.epsilon
        ),
    )


theorem = claims.Theorem(
    space=condition_space(
        k=claims.Size(2, low=2, high=5),
        readout=claims.Real(0.6, 1.2, shape="k"),
        scale=claims.Real(1, 3, log=True),
        dimension=claims.Real(5, 8, log=True),
        variance=claims.Real(2, 20, log=True),
        share=claims.Real(0.8, 1),
        beta=claims.Real(0.1, 1, log=True),
        epsilon=claims.Real(0.8, 0.95),
    ),
    simulate=_simulate(),
    assumes=(CONDITION_3,),
    hypotheses={"T fits into a run": _room},
    claims=_claims(0),
    requirements={"log10 of T": lambda x: jnp.log10(_steps(_tight(x)))},
    source=claims.Printed(
        "Theorem 7, Section 3.1",
        "sup_(t <= T_weak) |m_t| >= r with T_weak = ceil(4 d V_k / (delta S_k)); |m_T| >= 1 - eps",
    ),
    note="T has room: at T / 100 C1 is violated, but C2 still holds, at T / 300 both are violated; "
    "that none of the 96 runs fails excludes only failing shares above 5 per cent",
    readings=(
        claims.Reading(
            "T_weak of the proof",
            claims.Printed(
                "Proof of Theorem 7, Appendix B.3.3", "T_weak = ceil(2 d V_k / (delta S_k))"
            ),
            claims=_claims(1),
        ),
    ),
    mutants=(
        claims.Mutant(
            "T over 300",
            of=("as printed", "T_weak of the proof"),
            simulate=_simulate(300.0),
        ),
    ),
    keys=8,
    instances=4,
    mutant_instances=4,
)
