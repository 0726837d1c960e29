"""After enough steps every learned feature is near the minimiser of its regularised loss.

Lemma A.11 of Springer et al. (2025): under Assumptions A.8 and A.10 the features
(U^T theta(K) V)_ii, i <= n, of the ideal infinite-batch run are within epsilon of
(pre_i + lam ft_i) / (1 + lam), where the minimiser of the loss has the two spectra swapped. The run
is that of Eqs. 16 and 17, which pull to the real start theta^n(0); the proof has the ideal one.
"""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining import assumption_a_8, assumption_a_10


@cache
def _simulate(anchored_at: Callable, steps: Callable = assumption_a_10.STEPS) -> Callable:
    """The features of the run from the ideal start after those steps."""

    def simulate(x: claims.Instance, key):
        first, second = runs.rotated_run(x, runs.rotated_start(x), steps(x), anchored_at)
        return jnp.diag(first) * jnp.diag(second)

    return simulate


def _real_features(x: claims.Instance):
    return ft.real_modes(x) ** 2


def _too_few(x: claims.Instance):
    """A tenth of the steps."""
    return assumption_a_10.STEPS(x) // 10


theorem = claims.Theorem(
    space=ft.fine_tuning_space(**assumption_a_10.FIELDS, depth=claims.Real(3, 15)),
    assumes=(assumption_a_8.ASSUMPTION, assumption_a_10.ASSUMPTION),
    simulate=_simulate(_real_features),
    predict=ft.weighted(ft.pre_spectrum, ft.ft_spectrum),
    source=claims.Printed(
        "Lemma A.11", "|(U^T theta(K) V)_ii - (pre_i + lam ft_i) / (1 + lam)| <= epsilon, i <= n"
    ),
    note="the two spectra are swapped: fine-tuning would move away from its target",
    claims=(
        claims.at_most(
            "C1: within epsilon of the limit",
            lambda r: jnp.abs(r.sim - r.theory),
            lambda r: assumption_a_10.accuracy(r.x),
            where=ft.is_learned,
        ),
    ),
    readings=(
        claims.Reading(
            "pulled to the ideal start",
            claims.Printed(
                "Lemma A.11 with the anchor of its proof",
                "|(U^T theta(K) V)_ii - (pre_i + lam ft_i) / (1 + lam)| <= epsilon, i <= n",
            ),
            simulate=_simulate(ft.ideal_features),
            note="the two spectra are swapped, wherever the run is pulled to",
        ),
        claims.Reading(
            "the minimiser, pulled to the real start",
            claims.Finding("the limit (ft_i + lam pre_i) / (1 + lam), with Eqs. 16 and 17"),
            predict=ft.weighted(ft.ft_spectrum, ft.pre_spectrum),
            note="the real start is off the ideal one by more than a small epsilon",
        ),
        claims.corrected(
            "the limit is (ft_i + lam pre_i) / (1 + lam), and theta_hat^n(0) for theta^n(0) in "
            "Eqs. 16 and 17",
            simulate=_simulate(ft.ideal_features),
            predict=ft.weighted(ft.ft_spectrum, ft.pre_spectrum),
            note="the limit is the minimiser of the loss regularised towards the ideal start",
        ),
    ),
    mutants=(
        claims.Mutant("the limit forgets pre-training", predict=ft.ft_spectrum),
        claims.Mutant(
            "the two spectra swapped", predict=ft.weighted(ft.pre_spectrum, ft.ft_spectrum)
        ),
        claims.Mutant("a tenth of the steps", simulate=_simulate(ft.ideal_features, _too_few)),
    ),
)
