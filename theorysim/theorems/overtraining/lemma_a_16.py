"""One step on the population takes two states apart by at most a factor 1 + 16 eta Gamma.

Lemma A.16 of Springer et al. (2025): for two well-conditioned pairs of factors with the same
pull-back anchor, e = max_j |W_j - W_j'|_op grows by at most that factor. The proof writes the
gradient with the target A = (lam A^pre + A^ft) / (1 + lam), which takes a factor 1 + lam and the
anchor in place of A^pre, and loses the factor 2 of the step. Both are in the displays; for lam = 0
the printed factor is still large enough.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Printed, Reading, Theorem, at_most, equal
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one


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
        return {
            "difference": here[0] - there[0] - step,
            "products": ft.op_norm(theta - other),
            "bracket": ft.op_norm(bracket),
        }

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
        lambda r: r.sim[1][0] + r.theory["difference"],
    ),
    at_most(
        "P2: |theta - theta'|_op <= 4 sqrt(Gamma) e",
        lambda r: r.theory["products"],
        lambda r: 4 * jnp.sqrt(ft.gamma(r.x)) * _before(r),
    ),
    at_most(
        "P3: |[...]|_op <= 16 Gamma e",
        lambda r: r.theory["bracket"],
        lambda r: 16 * ft.gamma(r.x) * _before(r),
    ),
)

CORRECTED = _predict(one.anchor, lambda x: 1 + ft.pull_back(x))

HYPOTHESES = {
    "well conditioned": one.both_well_conditioned,
    "Assumption A.8": ft.small_rate,
}
WITHOUT_PULL_BACK = {**HYPOTHESES, "lam = 0": lambda x: -ft.pull_back(x)}

theorem = Theorem(
    space=one.two_state_space(),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    predict=_predict(_whole, lambda x: 1.0),
    claims=_grows_by(_as_printed),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_grows_by(_with_pull_back),
            primary=True,
            note="1 + 18 (1 + lam) eta Gamma: the pull-back's factor 1 + lam is lost in print; "
            "without it the step may grow by 1 + 14 eta Gamma at most",
        ),
        Reading("as printed, without pull-back", Printed("", ""), hypotheses=WITHOUT_PULL_BACK),
        Reading("proof displays", Printed("", ""), claims=DISPLAYS),
        Reading(
            "proof displays, corrected",
            Corrected(""),
            predict=CORRECTED,
            claims=DISPLAYS,
            note="the step is 2 eta (1 + lam) [...], with the anchor in the target for A^pre",
        ),
    ),
    mutants=(Mutant("no growth", claims=_grows_by(lambda x: 0.0)),),
    instances=256,
)
