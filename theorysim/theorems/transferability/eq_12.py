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
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED


class Observed(NamedTuple):
    """H_PQ(P) - H_PQ(0), and patterns: on the source at the start, on the target at both ends."""

    change: Float[Array, "p q"]
    source: Float[Array, "m p"]
    before: Float[Array, "m q"]
    after: Float[Array, "m q"]


def simulate(x: claims.Instance, key) -> Observed:
    network, (p, q) = training.started(x, key), (problem.source(x).inputs, problem.target(x).inputs)
    ready = training.pretrained(x, network)
    start, end = (empirical_gram(network, p, n, q) for n in (network, ready))
    before, after = (training.active(n.weights, q) for n in (network, ready))
    return Observed(end - start, training.active(network.weights, p), before, after)


def _of_j(x: claims.Instance, values: Float[Array, "*m q"]) -> Float[Array, "*m 1 q"]:
    """Values of target input j, for entry (i, j)."""
    return values[..., None, :]


def _of_i(x: claims.Instance, values: Float[Array, "*m q"]) -> Float[Array, "*m p 1"]:
    """Values of target input i, for entry (i, j)."""
    return values[..., jnp.minimum(jnp.arange(x.p), x.q - 1), None]


def _claims(last) -> tuple:
    """|<x_i, x_j> / m sum_r (I^P_ri(0) I^Q_rj(P) - I^P_ri(0) I^Q(0))|, the last I^Q of i or j."""

    def displayed(r):
        flips = _of_j(r.x, r.sim.after) - last(r.x, r.sim.before)
        inputs = problem.source(r.x).inputs, problem.target(r.x).inputs
        inner = jnp.einsum("id,jd->ij", *inputs, precision="highest")
        return jnp.abs(inner * jnp.mean(r.sim.source[..., None] * flips, axis=0))

    def flipped(r):
        return last(r.x, jnp.mean(jnp.abs(r.sim.after - r.sim.before), axis=0))

    def change(r):
        return jnp.abs(r.sim.change)

    return (
        claims.equal("Eq. 12: the change", change, displayed),
        claims.at_most("Eq. 12: at most the flips", change, flipped),
    )


theorem = claims.Theorem(
    space=training.pretraining_space(),
    assumes=(problem.REGULAR,),
    hypotheses=LABELLED,
    simulate=simulate,
    claims=_claims(_of_i),
    source=claims.Printed(
        "proof of Lemma 3, Eq. 12",
        "|x_i^T x_j / m sum_r (I^P_ri(0) I^Q_rj(P) - I^P_ri(0) I^Q_ri(0))| <= "
        "sum_r I(I^Q_ri(P) != I^Q_ri(0)) / m",
    ),
    note="the indicators of the target are those of input j throughout",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("I^Q_rj for I^Q_ri"),
            claims=_claims(_of_j),
            hypotheses={},
            primary=True,
            note="the change of entry (i, j) and the flips of target input j",
        ),
    ),
    mutants=(
        claims.Mutant("the pattern of input i, as printed", claims=_claims(_of_i)),
        claims.Mutant("half of the flips", claims=(_claims(_of_j)[1].scaled(1 / 2),)),
    ),
)
