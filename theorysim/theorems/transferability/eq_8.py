"""Pretraining moves the weights along the features of the start, up to two sums.

Eq. 8 of Liu et al. (2019). With e(k) from u_P(k) - y_P = -(I - eta H_P)^k y_P + e(k), vec W(P) -
vec W(0) is the sum over k < K of eta Z(0) (I - eta H_P)^k y_P + eta (Z(k) - Z(0)) (I - eta H_P)^k
y_P - eta Z(k) e(k), at every width. Eq. 42 is the same for fine-tuning, with y_Q - u_Q(P) in the
place of y_P and e(k) = u_Q(k) - y_Q - (I - eta H_Q)^k (u_Q(P) - y_Q); Z_Q(0) is that of W(0), as
in Lemma 6.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> training.Paths:
    return training.paths(x, training.started(x, key))


def _powers(gram, rate, vector, steps: int):
    """(I - eta H)^k v for k < steps."""
    eigenvalues, basis = jnp.linalg.eigh(gram)
    shrunk = (1 - rate * eigenvalues) ** jnp.arange(steps)[:, None] * (basis.T @ vector)
    return shrunk @ basis.T


def _sums(path, signs, task, gram, rate, lead, start, sign: float):
    """The three sums; `lead` stands in the place of the labels, `start` has the features Z(0)."""
    z = training.features(path[:-1], signs, task.inputs)
    residual = training.outputs(path[:-1], signs, task.inputs) - task.labels
    powers = _powers(gram, rate, lead, len(path) - 1)
    z_start = training.features(start, signs, task.inputs)
    first = jnp.einsum("mn,tn->m", z_start, powers, precision="highest")
    second = jnp.einsum("tmn,tn->m", z - z_start, powers, precision="highest")
    third = jnp.einsum("tmn,tn->m", z, residual + powers, precision="highest")
    return rate * (first + second - sign * third)


def _pretraining(r, sign: float):
    (rate, _), task, gram = problem.stable_rates(r.x), problem.source(r.x), problem.source_gram(r.x)
    start = r.sim.source[0]
    return _sums(r.sim.source, r.sim.signs, task, gram, rate, task.labels, start, sign)


def _fine_tuning(r, sign: float):
    (_, rate), task, gram = problem.stable_rates(r.x), problem.target(r.x), problem.target_gram(r.x)
    lead = task.labels - training.outputs(r.sim.target[0], r.sim.signs, task.inputs)
    start = r.sim.source[0]
    return _sums(r.sim.target, r.sim.signs, task, gram, rate, lead, start, sign)


def _claims(sign: float) -> tuple:
    def change(path):
        return training.vec(path[-1] - path[0])

    return (
        claims.equal("Eq. 8", lambda r: change(r.sim.source), lambda r: _pretraining(r, sign)),
        claims.equal("Eq. 42", lambda r: change(r.sim.target), lambda r: _fine_tuning(r, sign)),
    )


theorem = claims.Theorem(
    space=training.training_space(),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=_claims(1.0),
    source=claims.Printed("Appendix C, Eq. 8 and 42", "... - sum_k eta Z_P(k) e_P(k)"),
    aliases=("eq-42",),
    mutants=(claims.Mutant("the sum of Z(k) e(k) with a plus sign", claims=_claims(-1.0)),),
    instances=32,
    mutant_instances=32,
)
