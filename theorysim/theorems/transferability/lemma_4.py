"""Over both stages no unit moves far from its random start.

Lemma 4 (Eq. 36) and Corollary 1 of Liu et al. (2019): with probability 1 - delta, for all r and k,
||w_(Q,r)(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) + 4 sqrt(n_Q)
||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q). transferability/lemma-4-steps has the proof.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    REGULAR,
    problem_space,
    smallest,
    source,
    source_gram,
    target,
    target_gram,
)


class Observed(NamedTuple):
    """Along fine-tuning, and at the start of both stages."""

    movement: Float[Array, "keys times"]
    """the largest distance of a unit from its random start"""
    source_rest: Float[Array, " keys"]
    """||y_P - u_P(0)||"""
    target_rest: Float[Array, " keys"]
    """||y_Q - u_Q(P)||"""


def _rate(x: claims.Instance):
    """The learning rate of Theorem 3, O(lambda_Q / n_Q^2), for fine-tuning."""
    return x.rate_share * smallest(target_gram(x)) / x.q**2


def simulate(x: claims.Instance, key) -> Observed:
    network = training.started(x, key)
    ready = training.pretrained(x, network)

    def rest(now, task):
        return jnp.linalg.norm(task.labels - training.outputs(now.weights, now.signs, task.inputs))

    def record(now):
        return jnp.max(jnp.linalg.norm(now.weights - network.weights, axis=1))

    moved = training.fine_tuning(x, ready, record, every=32, rate=_rate(x))
    return Observed(moved, rest(network, source(x)), rest(ready, target(x)))


def _source_term(r):
    rest = jnp.sqrt(r.x.width) * smallest(source_gram(r.x))
    return 4 * jnp.sqrt(r.x.p) * r.sim.source_rest[:, None] / rest


def _target_term(r):
    rest = jnp.sqrt(r.x.width) * smallest(target_gram(r.x))
    return 4 * jnp.sqrt(r.x.q) * r.sim.target_rest[:, None] / rest


movement = claims.with_probability(
    "Eq. 36",
    lambda r: r.sim.movement,
    lambda r: _source_term(r) + _target_term(r),
    at_least=lambda r: 1 - r.x.failure,
)

theorem = claims.Theorem(
    space=problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(128, high=65536),
        source_steps=claims.Size(12, high=100_000),
        target_steps=claims.Size(512, high=100_000),
        kappa=claims.Real(1e-4, 10, log=True),
        rate_share=claims.Real(0.05, 0.95),
        failure=claims.Real(0.15, 0.5, log=True),
    ),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=(movement,),
    source=claims.Printed(
        "Appendix C.2, Lemma 4 (Eq. 36)",
        "||w_(Q,r)(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) + "
        "4 sqrt(n_Q) ||y_Q - u_Q(P)|| / (sqrt(m) lambda_Q)",
    ),
    aliases=("corollary-1", "eq-36"),
    mutants=(
        claims.Mutant(
            "1 / m for 1 / sqrt(m)",
            claims=(
                movement.against(
                    lambda r: (_source_term(r) + _target_term(r)) / jnp.sqrt(r.x.width)
                ),
            ),
        ),
        claims.Mutant("without the term of fine-tuning", claims=(movement.against(_source_term),)),
    ),
    keys=64,
    instances=32,
    mutant_instances=32,
)
