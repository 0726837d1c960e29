"""After enough steps every learned feature is near the minimiser of its regularised loss.

Lemma A.11 of Springer et al. (2025): under Assumptions A.8 and A.10 the features
(U^T theta(K) V)_ii, i <= n, of the ideal infinite-batch run are within epsilon of
(pre_i + lam ft_i) / (1 + lam), where the minimiser of the loss has the two spectra swapped.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining import assumption_a_8, assumption_a_10


def simulate(x: claims.Instance, key):
    first, second = runs.rotated_run(x, runs.rotated_start(x), assumption_a_10.STEPS(x))
    return jnp.diag(first) * jnp.diag(second)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(**assumption_a_10.FIELDS),
    assumes=(assumption_a_8.ASSUMPTION, assumption_a_10.ASSUMPTION),
    simulate=simulate,
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
        claims.corrected(
            "the limit is (ft_i + lam pre_i) / (1 + lam)",
            predict=ft.weighted(ft.ft_spectrum, ft.pre_spectrum),
            note="the limit is the minimiser of the regularised loss",
        ),
    ),
    mutants=(
        claims.Mutant("the limit forgets pre-training", predict=ft.ft_spectrum),
        claims.Mutant(
            "the two spectra swapped", predict=ft.weighted(ft.pre_spectrum, ft.ft_spectrum)
        ),
    ),
)
