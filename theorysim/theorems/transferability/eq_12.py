"""What pretraining changes in the cross Gram matrix is bounded by the units whose pattern flips.

Eq. 12 of Liu et al. (2019), the proof of Lemma 3: |H_PQ,ij(P) - H_PQ,ij(0)| is a sum over units and
at most the share of those that flip. Some indices in print are i for j: the indicators of the
target are those of input j throughout. With fewer target than source inputs, the printed index i
stops at the last one.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.two_layer_relu import empirical_gram
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import REGULAR, problem_space, source, target


class Observed(NamedTuple):
    """Before and after pretraining."""

    change: Float[Array, "p q"]
    """H_PQ(P) - H_PQ(0)"""
    source: Float[Array, "m p"]
    """patterns on the source at the start"""
    before: Float[Array, "m q"]
    """patterns on the target"""
    after: Float[Array, "m q"]


def simulate(x: claims.Instance, key) -> Observed:
    network, inputs = training.started(x, key), (source(x).inputs, target(x).inputs)
    ready = training.pretrained(x, network)
    start, end = (empirical_gram(network, inputs[0], n, inputs[1]) for n in (network, ready))
    return Observed(
        end - start,
        training.active(network.weights, inputs[0]),
        training.active(network.weights, inputs[1]),
        training.active(ready.weights, inputs[1]),
    )


def _of_j(x: claims.Instance, values: Float[Array, "*m q"]) -> Float[Array, "*m 1 q"]:
    """Values of target input j, for entry (i, j)."""
    return values[..., None, :]


def _of_i(x: claims.Instance, values: Float[Array, "*m q"]) -> Float[Array, "*m p 1"]:
    """Values of target input i, for entry (i, j)."""
    return values[..., jnp.minimum(jnp.arange(x.p), x.q - 1), None]


def _displayed(last):
    """|<x_i, x_j> / m sum_r (I^P_ri(0) I^Q_rj(P) - I^P_ri(0) I^Q(0))|, the last I^Q of i or j."""

    def side(r):
        flips = _of_j(r.x, r.sim.after) - last(r.x, r.sim.before)
        inner = jnp.einsum("id,jd->ij", source(r.x).inputs, target(r.x).inputs, precision="highest")
        return jnp.abs(inner * jnp.mean(r.sim.source[..., None] * flips, axis=0))

    return side


def _flips(index):
    """The share of units that change their pattern."""
    return lambda r: index(r.x, jnp.mean(jnp.abs(r.sim.after - r.sim.before), axis=0))


change = claims.equal("Eq. 12: the change", lambda r: jnp.abs(r.sim.change), _displayed(_of_j))
flips = claims.at_most("Eq. 12: at most the flips", lambda r: jnp.abs(r.sim.change), _flips(_of_j))
printed = (change.against(_displayed(_of_i)), flips.against(_flips(_of_i)))

theorem = claims.Theorem(
    space=problem_space(
        width=claims.Size(128, high=65536),
        source_steps=claims.Size(32, high=100_000),
        kappa=claims.Real(0.1, 1000, log=True),
        rate_share=claims.Real(0.05, 0.95),
    ),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=printed,
    source=claims.Printed(
        "proof of Lemma 3, Eq. 12",
        "|H_PQ,ij(P) - H_PQ,ij(0)| = |x_i^T x_j / m sum_r (I^P_ri(0) I^Q_rj(P) - I^P_ri(0) "
        "I^Q_ri(0))| <= sum_r I(I^Q_ri(P) != I^Q_ri(0)) / m",
    ),
    note="the indicators of the target are those of input j throughout",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("I^Q_rj for I^Q_ri"),
            claims=(change, flips),
            primary=True,
            note="the change of entry (i, j) and the flips of target input j",
        ),
    ),
    mutants=(
        claims.Mutant("the pattern of input i, as printed", claims=printed),
        claims.Mutant("half of the flips", claims=(flips.scaled(1 / 2),)),
    ),
)
