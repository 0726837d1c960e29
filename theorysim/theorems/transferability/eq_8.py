"""Pretraining moves the weights along the features of the start, up to two sums.

Eq. 8 of Liu et al. (2019). With e(k) from u_P(k) - y_P = -(I - eta H_P)^k y_P + e(k), vec W(P) -
vec W(0) is the sum over k < K of eta Z(0) (I - eta H_P)^k y_P + eta (Z(k) - Z(0)) (I - eta H_P)^k
y_P - eta Z(k) e(k), at every width. Eq. 42 is the same for fine-tuning, with y_Q - u_Q(P) in the
place of y_P and e(k) = u_Q(k) - y_Q - (I - eta H_Q)^k (u_Q(P) - y_Q).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Theorem, equal
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    problem_space,
    source,
    source_gram,
    stable_rates,
    target,
    target_gram,
)


def simulate(x: Instance, key):
    """The weights along both stages."""
    return training.paths(x, training.started(x, key))


def _powers(gram, rate, vector, steps: int):
    """(I - eta H)^k v for k < steps."""
    eigenvalues, basis = jnp.linalg.eigh(gram)
    shrunk = (1 - rate * eigenvalues) ** jnp.arange(steps)[:, None] * (basis.T @ vector)
    return shrunk @ basis.T


def _sums(path, signs, task, gram, rate, lead, share: float):
    """The three sums; `lead` stands in the place of the labels minus the start's outputs."""
    z = training.features(path[:-1], signs, task.inputs)
    residual = training.outputs(path[:-1], signs, task.inputs) - task.labels
    powers = _powers(gram, rate, lead, len(path) - 1)
    first = jnp.einsum("mn,tn->m", z[0], powers, precision="highest")
    second = jnp.einsum("tmn,tn->m", z - z[0], powers, precision="highest")
    third = jnp.einsum("tmn,tn->m", z, residual + powers, precision="highest")
    return rate * (first + share * (second - third))


def _pretraining(r, share: float):
    rate = stable_rates(r.x)[0]

    def sums(sim):
        labels = r.x.source_labels
        return _sums(sim.source, sim.signs, source(r.x), source_gram(r.x), rate, labels, share)

    return jax.vmap(sums)(r.sim)


def _fine_tuning(r, share: float):
    rate, task = stable_rates(r.x)[1], target(r.x)

    def sums(sim):
        lead = task.labels - training.outputs(sim.target[0], sim.signs, task.inputs)
        return _sums(sim.target, sim.signs, task, target_gram(r.x), rate, lead, share)

    return jax.vmap(sums)(r.sim)


def _change(path):
    return training.vec(path[:, -1] - path[:, 0])


def _claims(share: float) -> tuple:
    return (
        equal("Eq. 8", lambda r: _change(r.sim.source), lambda r: _pretraining(r, share)),
        equal("Eq. 42", lambda r: _change(r.sim.target), lambda r: _fine_tuning(r, share)),
    )


theorem = Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=Real(0.05, 0.95)),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=_claims(1.0),
    aliases=("eq-42",),
    mutants=(Mutant("without the two sums", claims=_claims(0.0)),),
    instances=32,
    mutant_instances=32,
)
