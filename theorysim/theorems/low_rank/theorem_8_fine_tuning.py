"""On the features of Claim 2 fine-tuning takes O(d k^2 / epsilon^4) steps.

Theorem 8 of Dayi and Chen (2024), first half: with a Hermite activation of order p > 2 (here 3),
whose learning from scratch takes d^(p/2) queries, online SGD fine-tunes in O(d k^2 / epsilon^4)
steps, O~(d) in Theorem 3. The proof takes S of order 1/sqrt(k) (Condition 3) and Theorem 7, whose
steps are d V / S^2, up to epsilon; with Lemma 3's V, of order k^2, they are d k^3, one power more
than printed (`theorem-8-schedule`). The step size is not printed: Theorem 7's, of order epsilon^3 S
/ (d V), is taken for the V of order k that d k^2 needs. Measured are the steps of recovery on the
reduced chain and, as findings, mean squares at m = 0 over random c^ for the V and S of the proof:
the second moment E[a^2] of the gradient, and E[h(0)^2]. Condition 2's V is for all u^ and powers,
and the printed S a bound with high probability, which is `theorem-8-start`. Signs for which |h(0)|
is below 0.4 / sqrt(k) are left out of the runs, as in Theorem 4.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.source import Source
from theorysim.numerics.gaussian import hermite
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank import _recovery_time as time
from theorysim.theorems.low_rank._problem import sign
from theorysim.theorems.low_rank._recovery import Setting
from theorysim.theorems.low_rank.claim_2 import features

ACTIVATION = hermite(3)
NEURONS = (3.0, 5.0, 9.0, 17.0)
CLIMBED, ROOM = (3.0, 5.0, 8.0), 40.0
"""numbers of neurons of runs, and a dimension above the 1 + k(k+1)/2 of Claim 2 for all of them"""
DRAWS = 1024  # inputs per c^


class _Orthonormalised(Setting):
    """The features of Claim 2 for the teacher's signs, at xi = 1."""

    def __init__(self):
        super().__init__(False, lambda x: 1.0, lambda: ACTIVATION)

    def features(self, x: claims.Instance):
        return features(sign(x.teacher))


RUNS = time.Recovery(
    _Orthonormalised(),
    rate=lambda x: 3 * time.readout_ratio(x) * x.epsilon**3 / (x.dimension * x.k**1.5),
    fast=lambda x: 0.4 * x.k**-0.5,
)


def _over_k(x: claims.Instance, key) -> Float[Array, ""]:
    """Steps of recovery at one d and one epsilon."""
    return RUNS.steps(x.replace(dimension=ROOM, epsilon=time.EPSILON), key)


class Start(NamedTuple):
    """E[a^2], of which E|L|^2 / d is a share, for one c^, and the mean of h(0)^2 over all."""

    square: Float[Array, ""]
    signal: Float[Array, ""]


def _start(x: claims.Instance, key) -> Start:
    """For a random c^."""
    signs, inputs = jax.random.split(key)
    teacher, student = sign(x.teacher), sign(jax.random.normal(signs, (x.k,)))
    given = rank_one.from_signs(features(teacher), x.readout, teacher, student, 1.0)
    given, zero = chain.reduce_features(given), jnp.zeros(())
    square = chain.mean_square_pull(given, ACTIVATION.value, zero, inputs, DRAWS)
    slopes = jax.grad(lambda c: speed(given._replace(student=c), ACTIVATION, zero))(given.student)
    return Start(square, jnp.mean(slopes**2))


def _power(name: str, quantity, exponent: float, relation: str = "at_most", over=NEURONS):
    law = claims.scales_as(name, quantity, over={"k": over}, exponent=exponent, relation=relation)
    return (law,)


def _in_d(exponent: float = 1.0):
    """Without the logarithms that the O~ of Theorem 3 leaves out."""
    return (
        claims.scales_as(
            "steps over d",
            lambda r: jnp.median(r.sim),
            over={"dimension": time.DIMENSIONS},
            exponent=exponent,
            relation="at_most",
        ),
    )


def _steps(exponent: float = 2.0):
    return _power("steps over k", lambda r: jnp.median(r.sim), exponent, over=CLIMBED)


def _noise(exponent: float = 1.0):
    return _power("V over k", lambda r: jnp.mean(r.sim.square), exponent)


def _ratio(exponent: float = 2.0):
    def ratio(r: claims.Run):
        return jnp.mean(r.sim.square / r.sim.signal)

    return _power("V / S^2 over k", ratio, exponent)


def _signal(exponent: float = -1.0):
    """Over the mean of lambda_i^4, which is at least lambda_min^4."""

    def signal(r: claims.Run):
        return jnp.mean(r.sim.signal) / jnp.mean(r.x.readout**4)

    return _power("S^2 over k", signal, exponent, "at_least")


SOURCE = claims.Printed(
    "Theorem 8, Section 3.5",
    "fine-tuning with online SGD learns the perturbation in O(d k^2 / epsilon^4) samples",
)
SIGNAL = claims.Finding("E[h(0)^2] over c^ is at least of order mean(lambda_i^4) / k")
RATIO = claims.Finding(
    "E[a^2] at m = 0 over E[h(0)^2], both means over c^, is at most of order k^2"
)


def _at_start(name: str, source: Source, at_start, note: str = "") -> claims.Reading:
    """Mean squares over all signs of c^, for the V and S of the proof."""
    return claims.Reading(name, source, simulate=_start, claims=at_start, hypotheses={}, note=note)


theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(3, low=2, high=17),
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        teacher=claims.Real(-1, 1, shape="k"),
        student=claims.Real(-1, 1, shape="k"),
        dimension=claims.Real(8, 64, log=True),
        epsilon=claims.Real(0.16, 0.4, log=True),
    ),
    simulate=RUNS.over_d,
    claims=_in_d(),
    hypotheses=RUNS.event(),
    printed="in d",
    source=SOURCE,
    readings=(
        RUNS.reading(
            "in d, Theorem 3",
            claims.Printed("Theorem 3, Section 1.2.3", "only requires O~(d) online SGD iterations"),
            RUNS.over_d,
            time.in_d(),
        ),
        RUNS.reading("in epsilon", SOURCE, RUNS.over_epsilon, time.in_epsilon()),
        RUNS.reading("in k", SOURCE, _over_k, _steps()),
        _at_start("V / S^2 of order k^2", RATIO, _ratio()),
        _at_start("S of order 1 / sqrt(k)", SIGNAL, _signal()),
        _at_start(
            "V of order k",
            claims.Finding(
                "E[a^2] at m = 0, a mean over c^, is at most of order k, for Lemma 3's k^2"
            ),
            _noise(),
            note="E[a^2] at m = 0 grows no faster than k; Condition 2's V is a supremum, and may",
        ),
    ),
    mutants=(
        claims.Mutant("square root of d", claims=_in_d(0.5)),
        claims.Mutant(
            "square root of d, up to logarithms", of=("in d, Theorem 3",), claims=time.in_d(0.5)
        ),
        claims.Mutant("epsilon^-1", of=("in epsilon",), claims=time.in_epsilon(-1)),
        claims.Mutant("sqrt(k)", of=("in k",), claims=_steps(0.5)),
        claims.Mutant("V / S^2 of order 1/k", of=("V / S^2 of order k^2",), claims=_ratio(-1.0)),
        claims.Mutant("S of order sqrt(k)", of=("S of order 1 / sqrt(k)",), claims=_signal(1.0)),
        claims.Mutant("V of order 1/k", of=("V of order k",), claims=_noise(-1.0)),
    ),
    keys=8,
    instances=8,
    mutant_instances=8,
)
