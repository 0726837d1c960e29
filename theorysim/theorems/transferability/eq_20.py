"""Few units have a small preactivation on an input: 2 m n_P R / (sqrt(2 pi) kappa delta).

Eq. 20 of Liu et al. (2019), with probability 1 - delta; R = 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m)
lambda_P) is that of Lemma 1. Its second form, with R inserted, has sqrt(n_P) for n_P^(3/2).
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    REGULAR_SOURCE,
    problem_space,
    smallest,
    source,
    source_gram,
    target,
)


class Start(NamedTuple):
    """Of an untrained network."""

    near: Float[Array, "keys q"]
    """units with |<w_r(0), x_i>| <= R"""
    rest: Float[Array, "keys 1"]
    """||y_P - u_P(0)||"""


def _radius(x: claims.Instance, rest):
    """R."""
    return 4 * jnp.sqrt(x.p) * rest / (jnp.sqrt(x.width) * smallest(source_gram(x)))


def simulate(x: claims.Instance, key) -> Start:
    network = training.started(x, key)
    outputs = training.outputs(network.weights, network.signs, source(x).inputs)
    rest = jnp.linalg.norm(x.source_labels - outputs, keepdims=True)
    values = dot(network.weights, target(x).inputs.T)
    return Start(jnp.sum(jnp.abs(values) <= _radius(x, rest), axis=0).astype(float), rest)


def _bound(r):
    """2 m n_P R / (sqrt(2 pi) kappa delta)."""
    many = 2 * r.x.width * r.x.p * _radius(r.x, r.sim.rest)
    return many / (jnp.sqrt(2 * jnp.pi) * r.x.kappa * r.x.failure)


def _inserted(r):
    """8 sqrt(m n_P) ||y_P - u_P(0)|| / (sqrt(2 pi) kappa lambda_P delta)."""
    many = 8 * jnp.sqrt(r.x.width * r.x.p) * r.sim.rest / smallest(source_gram(r.x))
    return many / (jnp.sqrt(2 * jnp.pi) * r.x.kappa * r.x.failure)


units = claims.with_probability(
    "Eq. 20: |S_i|", lambda r: r.sim.near, _bound, at_least=lambda r: 1 - r.x.failure
)

theorem = claims.Theorem(
    space=problem_space(
        width=training.SIZES["width"],
        kappa=training.KAPPA,
        failure=claims.Real(0.05, 0.5, log=True),
    ),
    assumes=(REGULAR_SOURCE,),
    simulate=simulate,
    claims=(units,),
    source=claims.Printed("Appendix C.1, Eq. 20", "|S_i| <= 2 m n_P R / (sqrt(2 pi) kappa delta)"),
    readings=(
        claims.Reading(
            "with R inserted",
            claims.Printed(
                "Eq. 20, second form",
                "2 m n_P R / (sqrt(2 pi) kappa delta) = 8 sqrt(m n_P) ||y_P - u_P(0)|| / "
                "(sqrt(2 pi) kappa lambda_P delta)",
            ),
            claims=(claims.equal("Eq. 20: both forms", _bound, _inserted),),
            note="R has a sqrt(n_P) of its own: n_P^(3/2) for its sqrt(n_P)",
        ),
    ),
    mutants=(
        claims.Mutant(
            "delta for 1 / delta", claims=(units.against(lambda r: _bound(r) * r.x.failure**2),)
        ),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
