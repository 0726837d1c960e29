"""On the features of Claim 2, gradients are small enough for fine-tuning in O(d k^2) steps.

Theorem 8 of Dayi and Chen (2024), first half: with a Hermite activation of order p > 2 (here 3),
whose learning from scratch takes d^(p/2) queries, online SGD fine-tunes in O(d k^2 / epsilon^4)
steps. By Theorem 7 these are d V / S^2, up to epsilon. S is of order 1/sqrt(k), and Lemma 3's V, of
order k^2, gives d k^3, one power more than printed. On these features, whose neurons are nearly
orthonormal, the second moment E[a^2] of the gradient is smaller: measured at m = 0, over random c^,
with |h(0)| over the same signs.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import hermite
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import sign
from theorysim.theorems.low_rank.claim_2 import features

ACTIVATION = hermite(3)
NEURONS = (3.0, 5.0, 9.0, 17.0)
DRAWS = 64  # inputs per c^


class Start(NamedTuple):
    """E[a^2], of which E|L|^2 / d is a share, and h(0), for one c^."""

    square: Float[Array, ""]
    speed: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Start:
    """For a random c^."""
    signs, inputs = jax.random.split(key)
    teacher, student = sign(x.teacher), sign(jax.random.normal(signs, (x.k,)))
    given = rank_one.from_signs(features(teacher), x.readout, teacher, student, 1.0)
    given, zero = chain.reduce_features(given), jnp.zeros(())
    square = chain.mean_square_pull(given, ACTIVATION.value, zero, inputs, DRAWS)
    return Start(square, speed(given, ACTIVATION, zero))


def _over_k(name: str, quantity, exponent: float) -> claims.Claim:
    return claims.scales_as(
        name, quantity, over={"k": NEURONS}, exponent=exponent, relation="at_most"
    )


def _noise(exponent: float = 1.0):
    return _over_k("V over k", lambda r: jnp.mean(r.sim.square), exponent)


def _steps(exponent: float = 2.0):
    def ratio(r: claims.Run):
        return jnp.mean(r.sim.square) / jnp.mean(r.sim.speed**2)

    return _over_k("V / S^2 over k", ratio, exponent)


theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(5, low=2, high=20),
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        teacher=claims.Real(-1, 1, shape="k"),
    ),
    simulate=simulate,
    claims=(_steps(),),
    source=claims.Printed(
        "Theorem 8, Section 3.5, and Theorem 3, Section 1.2.3",
        "fine-tuning with online SGD learns the perturbation in O(d k^2 / epsilon^4) samples",
    ),
    readings=(
        claims.Reading(
            "V of order k",
            claims.Finding("the order of V that the printed d k^2 needs, for Lemma 3's k^2"),
            claims=(_noise(),),
            note="V grows no faster than k, which the printed d k^2 needs",
        ),
    ),
    mutants=(
        claims.Mutant("V / S^2 of order 1/k", claims=(_steps(-1.0),)),
        claims.Mutant("V of order 1/k", of=("V of order k",), claims=(_noise(-1.0),)),
    ),
    keys=128,
    instances=8,
    mutant_instances=8,
)
