"""One step on a batch takes two states apart by at most a factor 1 + 32 eta Gamma.

Lemma A.18 of Springer et al. (2025), whose proof is omitted as similar to Lemma A.16: two
well-conditioned pairs of factors with the same pull-back anchor take a step on the same batch, with
|S - I|_op <= epsilon < 1 / (4 (1 + 16 eta Gamma)^K).
"""

from collections.abc import Callable
from functools import cache, partial

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one

HYPOTHESES = {**one.CONDITIONED, **ft.accurate(16)}


@cache
def _simulate(step: Callable) -> Callable:
    """The distance of the two states after a step on the same batch."""

    def simulate(x: claims.Instance, key):
        covariance = one.near_identity(x, ft.accuracy(x, 16))
        return ft.furthest(*(step(x, state, covariance) for state in one.two_states(x)))

    return simulate


_grows_by = partial(one.grows_by, apart=lambda r: r.sim)


def _with_pull_back(x: claims.Instance):
    return 33 * (1 + ft.pull_back(x))


CHANGE = "epsilon_{k+1} <= (1 + 33 (1 + lam) eta Gamma) epsilon_k"

theorem = claims.Theorem(
    space=one.two_state_space(steps=claims.Integer(1, 50), accuracy_share=claims.Real(0, 1)),
    hypotheses=HYPOTHESES,
    simulate=_simulate(one.descended),
    claims=_grows_by(lambda x: 32.0),
    source=claims.Printed("Lemma A.18", "epsilon_{k+1} <= (1 + 32 eta Gamma) epsilon_k"),
    printed="steps down the gradient",
    note="the pull-back's factor 1 + lam is lost, as in Lemma A.16",
    readings=(
        claims.Reading(
            "Eq. 11 as printed",
            claims.Printed(
                "Lemma A.18 for Eqs. 10 and 11",
                "epsilon_{k+1} <= (1 + 32 eta Gamma) epsilon_k, "
                "with W_1^T Sigma_k (theta - A^ft) in Eq. 11",
            ),
            simulate=_simulate(one.to_the_letter),
            note="the pull-back's factor 1 + lam is lost, whichever way Eq. 11 is read",
        ),
        claims.corrected(
            CHANGE,
            name="steps down the gradient, corrected",
            claims=_grows_by(_with_pull_back),
            note="26 Gamma, a quarter more for the batch, and 1 + lam for the pull-back",
        ),
        claims.Reading(
            "Eq. 11 as printed, corrected",
            claims.Corrected(CHANGE),
            simulate=_simulate(one.to_the_letter),
            claims=_grows_by(_with_pull_back),
            note="the corrected factor serves Eq. 11 to the letter, too",
        ),
        one.without_pull_back("as printed, without pull-back", "Lemma A.18", HYPOTHESES),
    ),
    mutants=(
        claims.Mutant("a factor 4 is lost", claims=_grows_by(lambda x: _with_pull_back(x) / 4)),
        claims.Mutant("no growth", claims=_grows_by(lambda x: 0.0)),
    ),
    instances=512,
)
