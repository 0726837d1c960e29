"""Pretraining changes the cross Gram matrix by little, on average and with probability 1 - delta.

Eq. 13 and 14 of Liu et al. (2019), the proof of Lemma 3: E|H_PQ,ij(P) - H_PQ,ij(0)| <= 2 R /
(sqrt(2 pi) kappa) + delta / m, and Markov's inequality for the sum over entries, under the
conditions of Lemma 1. R is printed with "a small c"; the constant is 4 here, as in Lemma 1, which
bounds the chance of its second event by delta, and in Eq. 19. transferability/eq-14-23 has the
order that Eq. 14 ends with.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.two_layer_relu import empirical_gram
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> training.Bounded:
    """H_PQ(0) and H_PQ(P)."""
    network, (p, q) = training.started(x, key), (problem.source(x), problem.target(x))
    ready, rest = (
        training.pretrained(x, network, training.lemma_1_rate(x)),
        training.rest(network, p),
    )
    grams = tuple(empirical_gram(network, p.inputs, n, q.inputs) for n in (network, ready))
    return training.Bounded(grams, rest.reshape(1, 1))


def _change(r):
    start, end = r.sim.value
    return jnp.abs(end - start)


def _chance(r, power: float = 1.0):
    """2 R / (sqrt(2 pi) kappa^power) + delta / m."""
    radius = training.source_reach(r.x, r.sim.rest)
    return 2 * radius / (jnp.sqrt(2 * jnp.pi) * r.x.kappa**power) + r.x.failure / r.x.width


def _sum(r, power: float = 1.0):
    """n_P n_Q / delta times the chance of a flip."""
    return r.x.p * r.x.q / r.x.failure * _chance(r, power)[:, 0, 0]


EQ_13 = "Eq. 13: on average"
EQ_14 = "Eq. 14: |H_PQ(P) - H_PQ(0)|_F"
average = claims.at_most(EQ_13, lambda r: r.mean(_change(r)), lambda r: r.mean(_chance(r)))
norm = problem.likely(EQ_14, lambda r: jnp.linalg.norm(_change(r), axis=(-2, -1)), _sum)

theorem = claims.Theorem(
    space=training.lemma_1_space(),
    assumes=(problem.REGULAR,),
    hypotheses=training.LEMMA_1,
    requirements={"log10 of the width": lambda x: jnp.log10(training.lemma_1_width(x))},
    simulate=simulate,
    claims=(average, norm),
    source=claims.Printed("proof of Lemma 3, Eq. 13 and 14", "2 R / (sqrt(2 pi) kappa) + delta/m"),
    aliases=("eq-13", "eq-14"),
    mutants=(
        claims.Mutant(
            "kappa^3 for kappa",
            claims=(
                average.against(lambda r: r.mean(_chance(r, 3.0))),
                norm.against(lambda r: _sum(r, 3.0)),
            ),
        ),
    ),
    survivors={
        EQ_13: "few units flip: an average over 128 keys leaves even a bound below it open",
        EQ_14: "loose: attained ratio 1e-3 (Eq. 13 attains 9e-3, and Markov's inequality adds "
        "n_P n_Q / delta)",
    },
    keys=128,
    instances=16,
    mutant_instances=16,
)
