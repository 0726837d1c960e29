"""How far the printed rows are in the order of the pulls: most pairs are, in part by chance.

Section 6 of Afzal et al. (2025), RoBERTa with LoRA on CoLA and SST-2. No row of the gap or of the
Kullback-Leibler divergence is monotone in lambda (table-1), but in each most of the 28 pairs of
pulls are in order. An order that is drawn has as few discordant pairs in 1.6 (gap) and 5.4
(divergence) of a hundred cases on CoLA, and in 0.7 and 0.3 on SST-2. In both rows of the accuracy
the strongest pull has the lowest one. The numbers are those of the print, nothing is trained: the
space is two data sets, and what is drawn is one of them, however often.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.kinds.average import EMPIRICAL_ALARM
from theorysim.theorems.linearization import table_1
from theorysim.theorems.linearization.table_1 import STRENGTHS

ACCURACY = (
    (74.59, 79.57, 80.44, 79.38, 80.24, 80.15, 80.15, 79.67),
    (0.893, 0.912, 0.915, 0.924, 0.928, 0.930, 0.924, 0.916),
)
"""of CoLA in per cent, of SST-2 as a share"""
PAIRS = len(STRENGTHS) * (len(STRENGTHS) - 1) // 2
NAMES = ("||theta_t - theta_0||", "||f - f_linear||", "Kullback-Leibler divergence")


def simulate(x: claims.Instance, key) -> Float[Array, "4 strengths"]:
    """The printed rows of CoLA or of SST-2, the strongest pull first, the accuracy last."""
    accuracy = jnp.where(x.data < 0.5, *map(jnp.array, ACCURACY))
    return jnp.concatenate([table_1.simulate(x, key), accuracy[None]])


def _orders_by_inversions() -> np.ndarray:
    """How many orders of as many things as there are pulls have 0, 1, 2, ... discordant pairs."""
    counts = np.ones(1)
    for size in range(2, len(STRENGTHS) + 1):
        counts = np.convolve(counts, np.ones(size))
    return counts


def _discordant(row: Float[Array, " strengths"]) -> Float[Array, ""]:
    """Pairs of pulls of which the stronger one has the larger value."""
    first, second = jnp.triu_indices(len(STRENGTHS), 1)
    return jnp.sum(row[first] > row[second]).astype(float)


def _chance(row: Float[Array, " strengths"]) -> Float[Array, ""]:
    """That an order that is drawn has no more discordant pairs."""
    orders = jnp.cumsum(jnp.asarray(_orders_by_inversions()))
    return (orders / orders[-1])[_discordant(row).astype(int)]


def _rank_correlation(row: Float[Array, " strengths"]) -> Float[Array, ""]:
    """Spearman's, of the value with the pull."""
    places = jnp.argsort(jnp.argsort(row)) - (len(STRENGTHS) - 1) / 2
    pulls = (len(STRENGTHS) - 1) / 2 - jnp.arange(len(STRENGTHS))
    return jnp.vdot(places, pulls) / jnp.vdot(pulls, pulls)


def _of_rows(what: str, measure: Callable, most: float) -> tuple:
    return tuple(
        claims.at_most(f"{name}: {what}", lambda r, k=k: measure(r.sim[k]), lambda r: most)
        for k, name in enumerate(NAMES)
    )


PAIRWISE = _of_rows("discordant pairs", _discordant, PAIRS / 2)
RANKED = _of_rows("rank correlation with lambda", _rank_correlation, 0.0)
UNLIKELY = _of_rows("chance of as few discordant pairs", _chance, EMPIRICAL_ALARM)
LOWEST = claims.at_most(
    "accuracy at the strongest pull", lambda r: r.sim[3, 0], lambda r: jnp.min(r.sim[3, 1:])
)

theorem = claims.Theorem(
    space=claims.Space(data=claims.Choice(0.0, 1.0)),
    simulate=simulate,
    claims=(*PAIRWISE, *RANKED),
    source=claims.Printed(
        "slides, Section 6, table",
        "As the regularization strength increases, the model behaves more like a linear model",
    ),
    note="as a tendency of the printed rows; table-1 has it to the letter",
    readings=(
        claims.Reading(
            "surer than chance",
            claims.Finding("whether orders that are drawn show the tendency as well"),
            claims=UNLIKELY,
            note="not on CoLA: 5 discordant pairs of the gap, 7 of the divergence",
        ),
        claims.Reading(
            "the price of the strongest pull",
            claims.Finding("the last row of the table"),
            claims=(LOWEST,),
        ),
    ),
    mutants=(
        claims.Mutant(
            "less like one", claims=tuple(claim.reversed() for claim in (*PAIRWISE, *RANKED))
        ),
        claims.Mutant(
            "the chance of more discordant pairs",
            of=("surer than chance",),
            claims=tuple(claim.reversed() for claim in UNLIKELY),
        ),
        claims.Mutant(
            "the highest accuracy",
            of=("the price of the strongest pull",),
            claims=(LOWEST.reversed(),),
        ),
    ),
)
