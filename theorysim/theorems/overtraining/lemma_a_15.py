"""One step on a batch and one on the population differ by at most 32 eta epsilon Gamma^(3/2).

Lemma A.15 of Springer et al. (2025): from the same well-conditioned factors, one step of Eqs. 16
and 17 and one of Eqs. 10 and 11 on a batch with |S - I|_op <= epsilon. The step on the batch is
gradient descent on the batch's loss; Eq. 11 as printed has the covariance on the other side of the
error, and a reading of its own takes it to the letter.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Theorem, at_most, equal
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one


def simulate(x: Instance, key):
    weights = one.state(x, x.left, x.right)
    covariance = one.near_identity(x, x.accuracy)
    return one.descended(x, weights), one.descended(x, weights, covariance)


def simulate_printed(x: Instance, key):
    """Both steps to the letter."""
    weights, anchor = one.state(x, x.left, x.right), one.anchor(x)
    covariance = one.near_identity(x, x.accuracy)
    population = ft.printed_step(x, weights, anchor, jnp.eye(x.d))
    return population, ft.printed_step(x, weights, anchor, covariance)


def _predict(share: float):
    """The first two displays of the proof, for W_1."""

    def predict(x: Instance):
        first, second = one.state(x, x.left, x.right)
        error = dot(first, second) - ft.assembled(x, ft.ft_spectrum(x))
        deviation = x.accuracy * one.direction(x)
        rate = share * 2 * ft.learning_rate(x)
        return {
            "difference": rate * dot(error, deviation, second.T),
            "norms": rate * ft.op_norm(error) * x.accuracy * ft.op_norm(second),
        }

    return predict


def _distance(factor: int):
    return lambda r: ft.op_norm(r.sim[0][factor] - r.sim[1][factor])


def _product_norm(r):
    return ft.op_norm(r.theory["difference"])


def _claims(constant: float) -> tuple:
    """The lemma with its displays; the first factors stay on two sides, for their digits."""

    def bound(r):
        return constant * ft.learning_rate(r.x) * r.x.accuracy * ft.gamma(r.x) ** 1.5

    return (
        at_most("C1: the distance of W_1", _distance(0), bound),
        at_most("C2: the distance of W_2", _distance(1), bound),
        equal(
            "P1: the difference of W_1 is a product",
            lambda r: r.sim[0][0],
            lambda r: r.sim[1][0] + r.theory["difference"],
        ),
        at_most("P2: and at most the product of norms", _product_norm, lambda r: r.theory["norms"]),
    )


theorem = Theorem(
    space=one.one_step_space(accuracy=Real(1e-5, 0.9, log=True)),
    hypotheses={
        "well conditioned": lambda x: one.well_conditioned(x, one.state(x, x.left, x.right)),
        "the event of Lemma A.14": lambda x: 1 - jnp.max(jnp.abs(x.deviation)),
    },
    simulate=simulate,
    predict=_predict(1.0),
    claims=_claims(32),
    printed="steps down the gradient",
    readings=(Reading("Eq. 11 as printed", Printed("", ""), simulate=simulate_printed),),
    mutants=(
        Mutant(
            "half the gradient, factors as small as the ideal ones",
            predict=_predict(0.5),
            claims=_claims(2),
        ),
    ),
    instances=128,
)
