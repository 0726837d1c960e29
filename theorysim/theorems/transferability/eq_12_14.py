"""What pretraining changes in the cross Gram matrix is bounded by the units whose pattern flips.

Eq. 12 to 14 of Liu et al. (2019), the proof of Lemma 3: |H_PQ,ij(P) - H_PQ,ij(0)| is at most the
share of units that flip, E| | <= 2 R / (sqrt(2 pi) kappa) + delta / m, and Markov's inequality.
Some indices in print are i for j: the indicators of the target are those of input j throughout.
R is Lemma 1's, c = 4.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Theorem,
    at_most,
    equal,
    with_probability,
)
from theorysim.systems.two_layer_relu import empirical_gram
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    REGULAR,
    problem_space,
    smallest,
    source,
    source_gram,
    target,
)


class Observed(NamedTuple):
    """Before and after pretraining."""

    start: Float[Array, "keys p q"]
    """H_PQ(0)"""
    end: Float[Array, "keys p q"]
    """H_PQ(P)"""
    source: Float[Array, "keys m p"]
    """patterns on the source at the start"""
    before: Float[Array, "keys m q"]
    """patterns on the target"""
    after: Float[Array, "keys m q"]
    radius: Float[Array, " keys"]
    """R of Lemma 1"""


def simulate(x: Instance, key) -> Observed:
    network, inputs = training.started(x, key), (source(x).inputs, target(x).inputs)
    ready = training.pretrained(x, network)
    rest = x.source_labels - training.outputs(network.weights, network.signs, inputs[0])
    root = jnp.sqrt(x.width) * smallest(source_gram(x))
    return Observed(
        empirical_gram(network, inputs[0], network, inputs[1]),
        empirical_gram(network, inputs[0], ready, inputs[1]),
        training.active(network.weights, inputs[0]),
        training.active(network.weights, inputs[1]),
        training.active(ready.weights, inputs[1]),
        4 * jnp.sqrt(x.p) * jnp.linalg.norm(rest) / root,
    )


def _change(r):
    """|H_PQ(P) - H_PQ(0)|."""
    return jnp.abs(r.sim.end - r.sim.start)


def _column_j(x: Instance, values):
    """Of target input j, for entry (i, j)."""
    return values[..., None, :]


def _column_i(x: Instance, values):
    """Of target input i (the last one where i is beyond it), for entry (i, j)."""
    return values[..., jnp.minimum(jnp.arange(x.p), x.q - 1), None]


def _displayed(column):
    """|<x_i, x_j> / m sum_r (I^P_ri(0) I^Q_rj(P) - I^P_ri(0) I^Q(0))|, I^Q of the column."""

    def side(r):
        first = r.sim.source[..., None]
        now, old = _column_j(r.x, r.sim.after), column(r.x, r.sim.before)
        inner = jnp.einsum("id,jd->ij", source(r.x).inputs, target(r.x).inputs, precision="highest")
        return jnp.abs(inner * jnp.mean(first * (now - old), axis=1))

    return side


def _flips(column):
    """The share of units that change their pattern."""
    return lambda r: column(r.x, jnp.mean(jnp.abs(r.sim.after - r.sim.before), axis=1))


def _chance(r):
    """2 R / (sqrt(2 pi) kappa) + delta / m."""
    return 2 * r.sim.radius / (jnp.sqrt(2 * jnp.pi) * r.x.kappa) + r.x.failure / r.x.width


def _markov(chance):
    """n_P n_Q / delta times the chance of a flip."""
    return lambda r: r.x.p * r.x.q / r.x.failure * chance(r)


def _chance_of_squared_scale(r):
    return _chance(r) / r.x.kappa


difference = equal("Eq. 12: the change", _change, _displayed(_column_j))
flips = at_most("Eq. 12: at most the flips", _change, _flips(_column_j))
average = at_most("Eq. 13: on average", lambda r: r.mean(_change(r)), lambda r: r.mean(_chance(r)))
norm = with_probability(
    "Eq. 14: |H_PQ(P) - H_PQ(0)|_F",
    lambda r: jnp.linalg.norm(_change(r), axis=(-2, -1)),
    _markov(_chance),
    at_least=lambda r: 1 - r.x.failure,
)
difference_in_print = difference.against(_displayed(_column_i))

theorem = Theorem(
    space=problem_space(
        width=Size(128, high=65536),
        source_steps=Size(32, high=100_000),
        kappa=Real(0.1, 1e6, log=True),
        failure=Real(0.05, 0.5, log=True),
        rate_share=Real(0.05, 0.95),
    ),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=(
        difference_in_print,
        flips.against(_flips(_column_i)),
        average,
        norm,
    ),
    printed="Eq. 12 to 14 as printed",
    source=Printed(
        "proof of Lemma 3, Eq. 12 to 14",
        "|H_PQ,ij(P) - H_PQ,ij(0)| = |x_i^T x_j / m sum_r (I^P_ri(0) I^Q_rj(P) - I^P_ri(0) "
        "I^Q_ri(0))| <= sum_r I(I^Q_ri(P) != I^Q_ri(0)) / m",
    ),
    note="the indicators of the target are those of input j throughout",
    aliases=("eq-12", "eq-13", "eq-14"),
    readings=(
        Reading(
            "Eq. 12 to 14, corrected",
            Corrected("I^Q_rj for I^Q_ri"),
            claims=(difference, flips, average, norm),
            primary=True,
            note="the change of entry (i, j) and the flips of target input j",
        ),
    ),
    mutants=(
        Mutant("the pattern of input i, as printed", claims=(difference_in_print,)),
        Mutant("half of the flips", claims=(flips.scaled(1 / 2),)),
        Mutant(
            "kappa^2 for kappa",
            claims=(
                average.against(lambda r: r.mean(_chance_of_squared_scale(r))),
                norm.against(_markov(_chance_of_squared_scale)),
            ),
        ),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
