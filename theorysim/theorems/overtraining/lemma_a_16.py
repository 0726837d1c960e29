"""One step on the population takes two states apart by at most a factor 1 + 16 eta Gamma.

Lemma A.16 of Springer et al. (2025): for two well-conditioned pairs of factors with the same
pull-back anchor, e = max_j |W_j - W_j'|_op grows by at most that factor. The proof writes the
gradient with the target A = (lam A^pre + A^ft) / (1 + lam), which takes a factor 1 + lam and the
anchor in place of A^pre, and loses the factor 2 of the step. Both are in the displays; for lam = 0
the printed factor is still large enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import (
    Corrected,
    Finding,
    Instance,
    Mutant,
    Printed,
    Reading,
    Theorem,
    at_most,
    equal,
)
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one


class Displays(NamedTuple):
    """W_1 - W_1' after the step, |theta - theta'|_op and |[...]|_op before it."""

    difference: Float[Array, "d d"]
    products: Float[Array, ""]
    bracket: Float[Array, ""]


def _before(r):
    """The distance of the two states before the step."""
    return ft.furthest(*one.two_states(r.x))


def simulate(x: Instance, key):
    return tuple(one.descended(x, weights) for weights in one.two_states(x))


def _predict(pre: Callable, factor: Callable) -> Callable:
    """Displays of the proof with a `factor` on the gradient, A^pre or what stands for it."""

    def predict(x: Instance):
        lam = ft.pull_back(x)
        target = (lam * pre(x) + ft.assembled(x, ft.ft_spectrum(x))) / (1 + lam)
        here, there = one.two_states(x)
        theta, other = dot(*here), dot(*there)
        bracket = dot(theta - target, here[1].T) - dot(other - target, there[1].T)
        step = 2 * factor(x) * ft.learning_rate(x) * bracket
        return Displays(
            difference=here[0] - there[0] - step,
            products=ft.op_norm(theta - other),
            bracket=ft.op_norm(bracket),
        )

    return predict


def _whole(x: Instance):
    return ft.assembled(x, ft.pre_spectrum(x))


def _grows_by(constant: Callable) -> tuple:
    """The claim with the factor 1 + constant eta Gamma."""
    return (
        at_most(
            "C1: growth of the distance",
            lambda r: ft.furthest(*r.sim),
            lambda r: ft.growth(r.x, constant(r.x)) * _before(r),
        ),
    )


def _as_printed(x: Instance):
    return 16.0


def _with_pull_back(x: Instance):
    return 18 * (1 + ft.pull_back(x))


DISPLAYS = (
    equal(
        "P1: the difference of W_1",
        lambda r: r.sim[0][0],
        lambda r: r.sim[1][0] + r.theory.difference,
    ),
    at_most(
        "P2: |theta - theta'|_op <= 4 sqrt(Gamma) e",
        lambda r: r.theory.products,
        lambda r: 4 * jnp.sqrt(ft.gamma(r.x)) * _before(r),
    ),
    at_most(
        "P3: |[...]|_op <= 16 Gamma e",
        lambda r: r.theory.bracket,
        lambda r: 16 * ft.gamma(r.x) * _before(r),
    ),
)

theorem = Theorem(
    space=one.two_state_space(),
    assumes=one.ASSUMES,
    hypotheses={"well conditioned": one.both_well_conditioned},
    simulate=simulate,
    predict=_predict(_whole, lambda x: 1.0),
    claims=_grows_by(_as_printed),
    source=Printed("Lemma A.16", "epsilon_{k+1} <= (1 + 16 eta Gamma) epsilon_k"),
    note="the pull-back's factor 1 + lam is lost: for lam > 0 the distance may grow faster",
    readings=(
        Reading(
            "corrected",
            Corrected("epsilon_{k+1} <= (1 + 18 (1 + lam) eta Gamma) epsilon_k"),
            claims=_grows_by(_with_pull_back),
            primary=True,
            note="without a pull-back the step may grow by 1 + 14 eta Gamma at most",
        ),
        Reading(
            "as printed, without pull-back",
            Finding("Lemma A.16 restricted to lam = 0, where it holds"),
            hypotheses={
                "well conditioned": one.both_well_conditioned,
                "lam = 0": lambda x: -ft.pull_back(x),
            },
        ),
        Reading(
            "proof displays",
            Printed(
                "proof of Lemma A.16",
                "W_1(k+1) - W_1'(k+1) = W_1(k) - W_1'(k) - 2 eta [(theta - A^target) W_2^T - ..]",
            ),
            claims=DISPLAYS,
            note="the step with A^target lacks the factor 1 + lam, and pulls to A^pre",
        ),
        Reading(
            "proof displays, corrected",
            Corrected("2 eta (1 + lam) [...], with the anchor in A^target in place of A^pre"),
            predict=_predict(one.anchor, lambda x: 1 + ft.pull_back(x)),
            claims=DISPLAYS,
            note="with the factor 1 + lam and the anchor the displays are those of the step",
        ),
    ),
    mutants=(
        Mutant("half the growth", claims=_grows_by(lambda x: _with_pull_back(x) / 2)),
        Mutant("no growth", claims=_grows_by(lambda x: 0.0)),
    ),
    instances=256,
)
