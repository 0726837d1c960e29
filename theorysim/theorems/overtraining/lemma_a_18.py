"""One step on a batch takes two states apart by at most a factor 1 + 32 eta Gamma.

Lemma A.18 of Springer et al. (2025), whose proof is omitted as similar to Lemma A.16: two
well-conditioned pairs of factors with the same pull-back anchor take a step on the same batch, with
|S - I|_op <= epsilon < 1 / (4 (1 + 16 eta Gamma)^K). As in Lemma A.16 the factor 1 + lam of the
pull-back is lost; 32 (1 + lam) has room for the batch.
"""

from __future__ import annotations

from collections.abc import Callable

from theorysim.claims import (
    Corrected,
    Instance,
    Integer,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_most,
)
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one


def _largest_accuracy(x: Instance):
    return 1 / (4 * ft.growth(x, 16) ** x.steps)


def _accuracy(x: Instance):
    return x.accuracy_share * _largest_accuracy(x)


def simulate(x: Instance, key):
    covariance = one.near_identity(x, _accuracy(x))
    return ft.furthest(*(one.descended(x, w, covariance) for w in one.two_states(x)))


def simulate_printed(x: Instance, key):
    """Eqs. 10 and 11 to the letter."""
    covariance, anchor = one.near_identity(x, _accuracy(x)), one.anchor(x)
    return ft.furthest(*(ft.printed_step(x, w, anchor, covariance) for w in one.two_states(x)))


def _grows_by(constant: Callable) -> tuple:
    def bound(r):
        return ft.growth(r.x, constant(r.x)) * ft.furthest(*one.two_states(r.x))

    return (at_most("C1: growth of the distance", lambda r: r.sim, bound),)


def _with_pull_back(x: Instance):
    return 32 * (1 + ft.pull_back(x))


HYPOTHESES = {
    "well conditioned": one.both_well_conditioned,
    "Assumption A.8": ft.small_rate,
    "epsilon < 1 / (4 (1 + 16 eta Gamma)^K)": lambda x: 1 - _accuracy(x) / _largest_accuracy(x),
}
WITHOUT_PULL_BACK = {**HYPOTHESES, "lam = 0": lambda x: -ft.pull_back(x)}

theorem = Theorem(
    space=one.two_state_space(steps=Integer(1, 50), accuracy_share=Real(0, 1)),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=_grows_by(lambda x: 32.0),
    printed="steps down the gradient",
    readings=(
        Reading("Eq. 11 as printed", Printed("", ""), simulate=simulate_printed),
        Reading(
            "corrected",
            Corrected(""),
            claims=_grows_by(_with_pull_back),
            primary=True,
            note="1 + 32 (1 + lam) eta Gamma: the factor 1 + lam of the pull-back is lost in print",
        ),
        Reading(
            "corrected, Eq. 11 as printed",
            Corrected(""),
            simulate=simulate_printed,
            claims=_grows_by(_with_pull_back),
        ),
        Reading("as printed, without pull-back", Printed("", ""), hypotheses=WITHOUT_PULL_BACK),
    ),
    mutants=(Mutant("no growth", claims=_grows_by(lambda x: 0.0)),),
    instances=512,
)
