"""The runs from the real and from the ideal start stay within (1 + 32 eta Gamma)^k exp(-C tau).

Lemma A.19 of Springer et al. (2025): both runs see the same batches, on the event that every
|S_k - I|_op <= epsilon < 1 / (4 (1 + 32 eta Gamma)^K). exp(-C tau) bounds the Frobenius distance of
the starts (Theorem A.1); here it is that distance. As printed both pull to the real start
theta^n(0); a reading lets each pull to its own. The lemma does not name Assumption A.8, on which
its proof rests through Lemmas A.17 and A.9. All is in the coordinates U^T W_1 and W_2 V.
"""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8
from theorysim.theorems.overtraining.lemma_a_17 import WITHOUT_TIES


@cache
def _simulate(ideal_anchor: Callable, run: Callable) -> Callable:
    """W_j(k) of the real start minus that of the ideal one, k = 0..K.

    `ideal_anchor(x)` are the modes to which the ideal run is pulled back.
    """

    def simulate(x: claims.Instance, key):
        straight = ft.rotated(x)
        covariances = jnp.eye(x.d) + ft.accuracy(x, 32) * runs.directions(key, x.d, x.steps)

        def path(modes, anchor):
            return run(straight, ft.factors(straight, modes), jnp.diag(anchor**2), covariances)

        from_real = path(ft.real_modes(x), ft.real_modes(x))
        from_ideal = path(ft.ideal_modes(x), ideal_anchor(x))
        return tuple(a - b for a, b in zip(from_real, from_ideal))

    return simulate


def predict(x: claims.Instance):
    """exp(-C tau): the distance of the starts, the same for both factors."""
    return jnp.linalg.norm(ft.real_modes(x) - ft.ideal_modes(x))


def _claims(factor: float) -> tuple:
    """The lemma, with the growth 1 + factor eta Gamma per step."""

    def bound(r):
        return ft.growth_powers(r.x, factor) * r.theory

    return (
        claims.at_most("C1: the distance of W_1", lambda r: ft.op_norm(r.sim[0]), bound),
        claims.at_most("C2: the distance of W_2", lambda r: ft.op_norm(r.sim[1]), bound),
    )


STATEMENTS = (
    "steps down the gradient, one anchor, corrected",
    "each its own anchor",
    "Eq. 11 as printed, corrected",
)
CHANGE = "Assumption A.8 is among the hypotheses"

theorem = claims.Theorem(
    space=ft.fine_tuning_space(
        d=claims.Size(3),
        steps=claims.Size(10, high=200),
        depth=claims.Real(3, 15),
        rate_share=claims.Real(0.01, 10, log=True),
        accuracy_share=claims.Real(1e-4, 0.999, log=True),
    ),
    hypotheses={**ft.accurate(32), **WITHOUT_TIES},
    simulate=_simulate(ft.real_modes, runs.fine_tune_on),
    predict=predict,
    claims=_claims(32),
    source=claims.Printed(
        "Lemma A.19", "|W_j^n(k) - W_j^n'(k)|_op <= (1 + 32 eta Gamma)^k exp(-C tau)"
    ),
    printed="steps down the gradient, one anchor",
    note="Lemma A.9, on which the proof rests, needs Assumption A.8: without it the runs diverge",
    readings=(
        claims.corrected(
            CHANGE,
            name="steps down the gradient, one anchor, corrected",
            assumes=(A_8,),
            note="with the learning rate of Lemma A.9",
        ),
        claims.Reading(
            "each its own anchor",
            claims.Finding("Lemma A.19 where the ideal run is pulled back to its own start"),
            simulate=_simulate(ft.ideal_modes, runs.fine_tune_on),
            assumes=(A_8,),
            note="the bound does not depend on whose start the ideal run is pulled back to",
        ),
        claims.Reading(
            "Eq. 11 as printed",
            claims.Printed(
                "Lemma A.19 for Eqs. 10 and 11",
                "|W_j^n(k) - W_j^n'(k)|_op <= (1 + 32 eta Gamma)^k exp(-C tau), "
                "with W_1^T Sigma_k (theta - A^ft) in Eq. 11",
            ),
            simulate=_simulate(ft.real_modes, runs.run_printed),
            note="Assumption A.8 is missing, whichever way Eq. 11 is read",
        ),
        claims.Reading(
            "Eq. 11 as printed, corrected",
            claims.Corrected(CHANGE),
            simulate=_simulate(ft.real_modes, runs.run_printed),
            assumes=(A_8,),
            note="the same for Eq. 11 to the letter",
        ),
    ),
    mutants=(claims.Mutant("no growth", of=STATEMENTS, claims=_claims(0)),),
)
