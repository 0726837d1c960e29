"""After enough steps every learned feature is near the minimiser of its regularised loss.

Lemma A.11 of Springer et al. (2025): under Assumptions A.8 and A.10 the features
(U^T theta(K) V)_ii, i <= n, of the ideal infinite-batch run are within epsilon of
(pre_i + lam ft_i) / (1 + lam), where the minimiser of the loss has the two spectra swapped.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.two_layer_linear import Factors, FineTuning, fine_tune_to
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import assumption_a_8, assumption_a_10


def run_for(x: claims.Instance, start: Factors, steps) -> Factors:
    """Both factors of the ideal infinite-batch run after more steps, rotated: diagonal matrices."""
    anchor = jnp.diag(ft.ideal_features(x))
    tuning = FineTuning(jnp.diag(ft.ft_spectrum(x)), anchor, ft.pull_back(x))
    return fine_tune_to(start, tuning, ft.learning_rate(x), steps)


def start(x: claims.Instance) -> Factors:
    """The ideal start, rotated."""
    return Factors(*ft.ideal_start(ft.rotated(x)))


def simulate(x: claims.Instance, key):
    first, second = run_for(x, start(x), assumption_a_10.STEPS(x))
    return jnp.diag(first) * jnp.diag(second)


def weighted(major: Callable, minor: Callable) -> Callable:
    """(major + lam minor) / (1 + lam)."""

    def predict(x: claims.Instance):
        lam = ft.pull_back(x)
        return (major(x) + lam * minor(x)) / (1 + lam)

    return predict


AS_PRINTED = weighted(ft.pre_spectrum, ft.ft_spectrum)
MINIMISER = weighted(ft.ft_spectrum, ft.pre_spectrum)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(**assumption_a_10.FIELDS),
    assumes=(assumption_a_8.ASSUMPTION, assumption_a_10.ASSUMPTION),
    simulate=simulate,
    predict=AS_PRINTED,
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
        claims.corrected(
            "the limit is (ft_i + lam pre_i) / (1 + lam)",
            predict=MINIMISER,
            note="the limit is the minimiser of the regularised loss",
        ),
    ),
    mutants=(
        claims.Mutant("the limit forgets pre-training", predict=ft.ft_spectrum),
        claims.Mutant("the two spectra swapped", predict=AS_PRINTED),
    ),
)
