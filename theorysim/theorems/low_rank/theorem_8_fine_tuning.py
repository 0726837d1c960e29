"""On the features of Claim 2, fine-tuning takes a number of steps linear in d, of order k^2.

Theorem 8 of Dayi and Chen (2024), first half: with a Hermite activation of order p > 2 (here 3),
whose learning from scratch takes d^(p/2) queries, online SGD fine-tunes in O(d k^2 / epsilon^4)
steps. By Theorem 7 this needs V / S^2 of order k^2; Lemma 3's V, of order k^2, and S, of order
1/sqrt(k), give k^3. Measured are V = E[a^2] on these features, whose neurons are nearly
orthonormal, times k for S^2 of order 1/k, and, over d, steps of online SGD on the reduced chain,
for signs with |h(0)| not small, at a learning rate of order epsilon^3 / (d k^(3/2)).
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.gaussian import hermite
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import sign
from theorysim.theorems.low_rank.claim_2 import features

ACTIVATION = hermite(3)
DIMENSIONS, NEURONS = (8.0, 16.0, 32.0), (3.0, 5.0, 9.0, 17.0)
EPSILON = 0.4
LONGEST = 100_000
DRAWS = 4096


def _problem(x: claims.Instance) -> rank_one.RankOne:
    """Claim 2's features for the teacher's signs; u is flipped where h(0) < 0."""
    teacher, student = sign(x.teacher), sign(x.student)
    given = rank_one.from_signs(features(teacher), x.readout, teacher, student, 1.0)
    up = sign(speed(given, ACTIVATION, jnp.zeros(())))
    return chain.reduce_features(given._replace(teacher=up * given.teacher))


def _start_speed(x: claims.Instance):
    """h(0)."""
    return speed(_problem(x), ACTIVATION, jnp.zeros(()))


def _steps(x: claims.Instance, key):
    """Steps from 1 / sqrt(d) until the square of the overlap is 1 - epsilon."""
    given = _problem(x)
    return chain.first_passage(
        given,
        ACTIVATION.value,
        chain.begin(given, 1 / jnp.sqrt(x.dimension)),
        x.dimension,
        EPSILON**3 / (3 * x.dimension * x.k**1.5),
        key,
        level=jnp.sqrt(1 - EPSILON),
        limit=LONGEST,
    )


def _ratio(x: claims.Instance, key):
    """k E[a^2] at the start, V / S^2 up to constants."""
    draws = key, DRAWS
    return x.k * chain.mean_square_pull(_problem(x), ACTIVATION.value, jnp.zeros(()), *draws)


def _in_d(exponent: float = 1.0):
    """Logarithms of d, which the start at 1 / sqrt(d) costs, apart."""
    return (
        claims.scales_as(
            "steps over d",
            lambda r: jnp.median(r.sim) / jnp.log(r.x.dimension),
            over={"dimension": DIMENSIONS},
            exponent=exponent,
            relation="at_most",
        ),
    )


def _noise_over_k(exponent: float = 2.0):
    return (
        claims.scales_as(
            "V / S^2 over k",
            lambda r: jnp.mean(r.sim),
            over={"k": NEURONS},
            exponent=exponent,
            relation="at_most",
        ),
    )


SOURCE = claims.Printed(
    "Theorem 8, Section 3.5, and Theorem 3", "fine-tuning with online SGD ... in O(d k^2 / eps^4)"
)

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(3, low=2, high=20),
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        teacher=claims.Real(-1, 1, shape="k"),
        student=claims.Real(-1, 1, shape="k"),
        dimension=claims.Real(8, 32, log=True),
    ),
    simulate=_steps,
    claims=_in_d(),
    printed="in d",
    hypotheses={"|h(0)| is not small": lambda x: _start_speed(x) - 0.5 * x.k**-0.5},
    source=SOURCE,
    readings=(claims.Reading("noise and signal", SOURCE, simulate=_ratio, claims=_noise_over_k()),),
    mutants=(
        claims.Mutant("square root of d", claims=_in_d(0.5)),
        claims.Mutant("V / S^2 does not grow", of=("noise and signal",), claims=_noise_over_k(0.0)),
    ),
    keys=4,
    instances=8,
    mutant_instances=8,
)
