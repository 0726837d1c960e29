"""The difference of two states moves by the difference of two gradients.

The proof of Lemma A.16 of Springer et al. (2025) writes the gradient of the regularised loss with
the target A = (lam A^pre + A^ft) / (1 + lam), which takes a factor 1 + lam and the anchor in place
of A^pre. The step takes the bracket, which is at most 16 Gamma e, 2 eta times, and the conclusion
once.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one
from theorysim.theorems.overtraining.lemma_a_16 import simulate


def _predict(pre: Callable, factor: Callable) -> Callable:
    """Displays of the proof with a `factor` on the gradient, A^pre or what stands for it.

    W_1 - W_1' after the step, |theta - theta'|_op and |[...]|_op before it, 2 eta |[...]|_op with
    that factor, and |theta - A|_op and |theta' - A|_op.
    """

    def predict(x: claims.Instance):
        lam = ft.pull_back(x)
        target = (lam * pre(x) + ft.assembled(x, ft.ft_spectrum(x))) / (1 + lam)
        here, there = one.two_states(x)
        theta, other = dot(*here), dot(*there)
        bracket = dot(theta - target, here[1].T) - dot(other - target, there[1].T)
        step = 2 * factor(x) * ft.learning_rate(x) * bracket
        sizes = ft.op_norm(theta - other), ft.op_norm(bracket), ft.op_norm(step)
        errors = ft.op_norm(theta - target), ft.op_norm(other - target)
        return here[0] - there[0] - step, *sizes, errors

    return predict


def _before(r):
    """The distance of the two states before the step."""
    return ft.furthest(*one.two_states(r.x))


DIFFERENCE = claims.equal(
    "P1: the difference of W_1", lambda r: r.sim[0][0], lambda r: r.sim[1][0] + r.theory[0]
)
PRODUCTS = claims.at_most(
    "P2: |theta - theta'|_op <= 4 sqrt(Gamma) e",
    lambda r: r.theory[1],
    lambda r: 4 * jnp.sqrt(ft.gamma(r.x)) * _before(r),
)


def _split(state: int) -> claims.Claim:
    """The bracket by the product rule, with the error of the first state or of the second."""

    def split(r: claims.Run):
        here, there = one.two_states(r.x)
        apart = ft.op_norm(here[1] - there[1])
        return r.theory[1] * ft.op_norm(here[1]) + r.theory[4][state] * apart

    return claims.at_most("P2b: the bracket by the product rule", lambda r: r.theory[2], split)


BRACKET = claims.at_most(
    "P3: |[...]|_op <= 16 Gamma e",
    lambda r: r.theory[2],
    lambda r: 16 * ft.gamma(r.x) * _before(r),
)


def _conclusion(factor: Callable) -> claims.Claim:
    """What the step adds to the distance, against 16 `factor` eta Gamma e."""
    return claims.at_most(
        "P4: what the conclusion adds",
        lambda r: r.theory[3],
        lambda r: 16 * factor(r.x) * ft.learning_rate(r.x) * ft.gamma(r.x) * _before(r),
    )


TWICE = _conclusion(lambda x: 2 * (1 + ft.pull_back(x)))

theorem = claims.Theorem(
    space=one.two_state_space(),
    hypotheses=one.CONDITIONED,
    simulate=simulate,
    predict=_predict(lambda x: ft.assembled(x, ft.pre_spectrum(x)), lambda x: 1.0),
    claims=(DIFFERENCE, PRODUCTS, _split(0), BRACKET, _conclusion(lambda x: 1)),
    source=claims.Printed(
        "proof of Lemma A.16",
        "W_1(k+1) - W_1'(k+1) = W_1(k) - W_1'(k) - 2 eta [...], |[...]|_op <= 16 Gamma epsilon_k; "
        "we then conclude that epsilon_{k+1} <= (1 + 16 eta Gamma) epsilon_k",
    ),
    printed="proof displays",
    note="2 eta 16 Gamma is 32 eta Gamma; the step lacks a factor 1 + lam, and pulls to A^pre; the "
    "product rule has theta for theta'",
    readings=(
        claims.corrected(
            "2 eta (1 + lam) [...], with the anchor in A^target in place of A^pre, "
            "|theta' - A^target| |W_2 - W_2'|, and epsilon_{k+1} <= (1 + 32 (1 + lam) eta Gamma) "
            "epsilon_k",
            name="proof displays, corrected",
            predict=_predict(one.anchor, lambda x: 1 + ft.pull_back(x)),
            claims=(DIFFERENCE, PRODUCTS, _split(1), BRACKET, TWICE),
            note="with the factor 1 + lam and the anchor the displays are those of the step",
        ),
    ),
    mutants=(
        claims.Mutant("without the factor 1 + lam", predict=_predict(one.anchor, lambda x: 1.0)),
        claims.Mutant(
            "factors as small as the ideal ones",
            claims=(
                PRODUCTS.scaled(0.5),
                _split(1).scaled(0.5),
                BRACKET.scaled(0.25),
                TWICE.scaled(0.25),
            ),
        ),
    ),
    instances=256,
)
