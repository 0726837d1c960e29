"""During pretraining no unit moves far from its start.

Lemma 1 (Eq. 10) of Liu et al. (2019), from Du et al. (2019): with m = Omega(n_P^6 / (lambda_P^4
kappa^2 delta^3)) and eta = O(lambda_P / n_P^2), probability 1 - delta,
||w_r(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) for all r and k. Both
orders are read with the constant one; the scale kappa has no upper bound.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    NORMALISATION,
    REGULAR_SOURCE,
    problem_space,
    smallest,
    source,
    source_gram,
)


class Observed(NamedTuple):
    """Along pretraining, and at its start."""

    movement: Float[Array, "*keys times"]
    """the largest movement of a unit"""
    rest: Float[Array, "*keys"]
    """||y_P - u_P(0)||"""


def _rate(x: claims.Instance):
    return x.rate_share * smallest(source_gram(x)) / x.p**2


def simulate(x: claims.Instance, key) -> Observed:
    network, task = training.started(x, key), source(x)

    def record(now):
        return relu.observe(now, network, task, NORMALISATION).movement

    moved = relu.train(
        network, task, _rate(x), x.source_steps, normalisation=NORMALISATION, record=record, every=8
    )
    return Observed(moved, jnp.linalg.norm(task.labels - relu.outputs(network, task.inputs)))


def _required_width(x: claims.Instance):
    return x.p**6 / (smallest(source_gram(x)) ** 4 * x.kappa**2 * x.failure**3)


def _bound(r):
    root = jnp.sqrt(r.x.width) * smallest(source_gram(r.x))
    return 4 * jnp.sqrt(r.x.p) * r.sim.rest[:, None] / root


movement = claims.with_probability(
    "movement of every unit", lambda r: r.sim.movement, _bound, at_least=lambda r: 1 - r.x.failure
)

theorem = claims.Theorem(
    space=problem_space(
        p=claims.Size(2, high=64),
        width=claims.Size(256, high=65536),
        source_steps=claims.Size(128, high=100_000),
        kappa=claims.Real(1e-2, 100, log=True),
        failure=claims.Real(0.05, 0.5, log=True),
        rate_share=claims.Real(0.05, 1, log=True),
    ),
    assumes=(REGULAR_SOURCE,),
    hypotheses={"width": lambda x: x.width / _required_width(x) - 1},
    requirements={"log10 of the width": lambda x: jnp.log10(_required_width(x))},
    simulate=simulate,
    claims=(movement,),
    source=claims.Printed(
        "Appendix C, Lemma 1 (Eq. 10)",
        "m = Omega(n_P^6 / (lambda_P^4 kappa^2 delta^3)), eta = O(lambda_P / n_P^2): "
        "||w_(P,r)(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P)",
    ),
    readings=(
        claims.Reading(
            "any width",
            claims.Finding("outside of the hypotheses, whatever the width and the scale"),
            assumes=(REGULAR_SOURCE,),
            hypotheses={},
            note="the bound holds for every width and scale that was drawn",
        ),
    ),
    mutants=(
        claims.Mutant(
            "1 / m for 1 / sqrt(m)",
            claims=(movement.against(lambda r: _bound(r) / jnp.sqrt(r.x.width)),),
        ),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
