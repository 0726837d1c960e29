"""One step on a batch and one on the population differ by at most 32 eta epsilon Gamma^(3/2).

Lemma A.15 of Springer et al. (2025): from the same well-conditioned factors, one step of Eqs. 16
and 17 and one of Eqs. 10 and 11 on a batch with |S - I|_op <= epsilon. The step on the batch is
gradient descent on the batch's loss; Eq. 11 as printed has the covariance on the other side of the
error, and a reading of its own takes it to the letter.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one
from theorysim.theorems.overtraining import _runs as runs


def _simulate(step: Callable, identity: Callable) -> Callable:
    """The factors after a step with the population's covariance and after one with the batch's."""

    def simulate(x: claims.Instance, key):
        weights = one.state(x, x.left, x.right)
        covariance = one.near_identity(x, x.accuracy)
        return step(x, weights, identity(x)), step(x, weights, covariance)

    return simulate


def _predict(share: float):
    """The first two displays of the proof: how W_1 differs, and the product of norms."""

    def predict(x: claims.Instance):
        first, second = one.state(x, x.left, x.right)
        error = dot(first, second) - ft.assembled(x, ft.ft_spectrum(x))
        deviation = x.accuracy * one.direction(x)
        rate = share * 2 * ft.learning_rate(x)
        difference = rate * dot(error, deviation, second.T)
        return difference, rate * ft.op_norm(error) * x.accuracy * ft.op_norm(second)

    return predict


def _distance(factor: int):
    return lambda r: ft.op_norm(r.sim[0][factor] - r.sim[1][factor])


def _within(constant: float, power: float = 1.5) -> tuple:
    """The lemma's bound on the distances, constant eta epsilon Gamma^power."""

    def bound(r):
        return constant * ft.learning_rate(r.x) * r.x.accuracy * ft.gamma(r.x) ** power

    return (
        claims.at_most("C1: the distance of W_1", _distance(0), bound),
        claims.at_most("C2: the distance of W_2", _distance(1), bound),
    )


def _last_link(constant: float) -> claims.Claim:
    """The product of norms against the lemma's bound."""
    return claims.at_most(
        "P3: 2 eta |theta - A^ft|_op epsilon |W_2|_op <= 32 eta epsilon Gamma^(3/2)",
        lambda r: r.theory[1],
        _within(constant)[0].rhs,
    )


# The first factors stay on two sides of P1, for their digits.
DISPLAYS = (
    claims.equal(
        "P1: the difference of W_1 is a product",
        lambda r: r.sim[0][0],
        lambda r: r.sim[1][0] + r.theory[0],
    ),
    claims.at_most("P2: and at most the product of norms", _distance(0), lambda r: r.theory[1]),
    _last_link(32),
)

BOTH = ("steps down the gradient", "Eq. 11 as printed")

theorem = claims.Theorem(
    space=one.one_step_space(accuracy=claims.Real(1e-5, 0.9, log=True)),
    hypotheses={
        "well conditioned": lambda x: one.well_conditioned(x, one.state(x, x.left, x.right)),
        "the event of Lemma A.14": lambda x: 1 - jnp.max(jnp.abs(x.deviation)),
    },
    simulate=_simulate(one.descended, lambda x: None),
    predict=_predict(1.0),
    claims=(*_within(32), *DISPLAYS),
    source=claims.Printed("Lemma A.15", "|W_j(k+1) - W_j'(k+1)|_op <= 32 eta epsilon Gamma^(3/2)"),
    printed="steps down the gradient",
    readings=(
        runs.eq_11_as_printed(
            "Eq. 11 as printed", "Lemma A.15", _simulate(one.to_the_letter, lambda x: jnp.eye(x.d))
        ),
    ),
    mutants=(
        claims.Mutant("half the gradient", of=BOTH, predict=_predict(0.5)),
        claims.Mutant(
            "factors as small as the ideal ones", of=BOTH, claims=(*_within(2), _last_link(2))
        ),
        claims.Mutant("Gamma^2 for Gamma^(3/2)", of=BOTH, claims=_within(32, power=2)),
    ),
    instances=128,
)
