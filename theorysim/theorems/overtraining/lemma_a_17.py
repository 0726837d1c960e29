"""The ideal runs on batches and on the population differ by growing multiples of epsilon.

Lemma A.17 of Springer et al. (2025): e_k = max_j |W_j(k) - W_j'(k)|_op of the ideal infinite-batch
and finite-batch runs is at most 2 (1 + 16 eta Gamma)^k epsilon sqrt(Gamma) < sqrt(Gamma) / 2, on
the event that every |S_k - I|_op <= epsilon < 1 / (4 (1 + 16 eta Gamma)^K). The growth per step of
Lemma A.16 fails at some well-conditioned states, but not along these runs. The lemma does not name
Assumption A.8, on which its proof rests through Lemma A.9: without it the runs diverge.
"""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining._order import IN_ORDER
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8


def _apart(x: claims.Instance):
    """Margin: no two fine-tuning features are equal."""
    return jnp.min(jnp.diff(jnp.sort(ft.ft_spectrum(x))), initial=jnp.inf)


# Section 4 has both spectra in strict order, Appendix A those of fine-tuning in any.
WITHOUT_TIES = {**IN_ORDER, "fine-tuning features differ": claims.strict(_apart)}


def accuracy(x: claims.Instance, numerator: float = 0.25):
    """epsilon, a share of numerator / (1 + 16 eta Gamma)^K."""
    return x.accuracy_share * numerator / ft.growth(x, 16) ** x.steps


@cache
def simulation(run: Callable, numerator: float = 0.25) -> Callable:
    """e_k, k = 0..K; batches at distance epsilon from I are drawn anew or the same at all steps."""

    def simulate(x: claims.Instance, key):
        start, anchor = ft.ideal_start(x), ft.assembled(x, ft.ideal_features(x))
        epsilon, directions = accuracy(x, numerator), runs.directions(key, x.d, x.steps)
        directions = jnp.where(x.persistent > 0, directions[:1], directions)
        covariances = jnp.eye(x.d) + epsilon * directions
        population = runs.fine_tune(x, start, anchor, x.steps)
        return ft.furthest(population, run(x, start, anchor, covariances))

    return simulate


def growth(r):
    """(1 + 16 eta Gamma)^k, k = 0..K."""
    return ft.growth_powers(r.x, 16)


def root(r):
    """sqrt(Gamma)."""
    return jnp.sqrt(ft.gamma(r.x))


def _bound(power: float = 1, numerator: float = 0.25) -> Callable:
    return lambda r: 2 * growth(r) * accuracy(r.x, numerator) ** power * root(r)


C1 = claims.at_most("C1: e_k <= 2 (1 + 16 eta Gamma)^k eps sqrt(Gamma)", lambda r: r.sim, _bound())


def _below(numerator: float = 0.25):
    bound = _bound(numerator=numerator)
    return claims.at_most(
        "C2: and that < sqrt(Gamma) / 2", bound, lambda r: root(r) / 2, strict=True
    )


STATEMENTS = ("steps down the gradient, corrected", "Eq. 11 as printed, corrected")
CHANGE = "Assumption A.8 is among the hypotheses"

theorem = claims.Theorem(
    space=ft.fine_tuning_space(
        d=claims.Size(3),
        steps=claims.Size(10, high=200),
        rate_share=claims.Real(0.01, 10, log=True),
        accuracy_share=claims.Real(1e-4, 0.999, log=True),
        persistent=claims.Choice(0.0, 1.0),
    ),
    hypotheses={**ft.accurate(16), **WITHOUT_TIES},
    simulate=simulation(runs.fine_tune_on),
    claims=(C1, _below()),
    source=claims.Printed(
        "Lemma A.17", "epsilon_k <= 2 (1 + 16 eta Gamma)^k epsilon Gamma^(1/2) < Gamma^(1/2) / 2"
    ),
    printed="steps down the gradient",
    note="Lemma A.9, on which the proof rests, needs Assumption A.8: without it the runs diverge",
    readings=(
        claims.Reading(
            "Eq. 11 as printed",
            claims.Printed(
                "Lemma A.17 for Eqs. 10 and 11",
                "epsilon_k <= 2 (1 + 16 eta Gamma)^k epsilon Gamma^(1/2) < Gamma^(1/2) / 2, "
                "with W_1^T Sigma_k (theta - A^ft) in Eq. 11",
            ),
            simulate=simulation(runs.run_printed),
            note="Assumption A.8 is missing, whichever way Eq. 11 is read",
        ),
        claims.corrected(
            CHANGE,
            name="steps down the gradient, corrected",
            assumes=(A_8,),
            note="with the learning rate of Lemma A.9",
        ),
        claims.Reading(
            "Eq. 11 as printed, corrected",
            claims.Corrected(CHANGE),
            simulate=simulation(runs.run_printed),
            assumes=(A_8,),
            note="the same for Eq. 11 to the letter",
        ),
    ),
    mutants=(
        claims.Mutant("quadratic in epsilon", of=STATEMENTS, claims=(C1.against(_bound(2)),)),
        claims.Mutant(
            "epsilon < 1 / (2 (1 + 16 eta Gamma)^K), as in the proof",
            of=STATEMENTS,
            claims=(_below(numerator=0.5),),
        ),
    ),
)
