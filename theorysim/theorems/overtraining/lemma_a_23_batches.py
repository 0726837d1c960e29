"""Whether fine-tuning on finite batches ends near the weighted mean with the printed probability.

Lemma A.23 of Springer et al. (2025): under Assumption A.21, with probability 1 - delta, for every
n <= d, |U^T theta^n(K) V - (ft_:n + lam pre_:n) / (1 + lam)|_F <= min over i <= n of
|pre_i - ft_i|^2 / (500 (lam_0 + 1)^2 Gamma). Batches are drawn from their law at the size that item
4 asks for, which as printed is none once 10 d K delta >= e^d. Infinite ones are lemma-a.23.
"""

from collections.abc import Callable
from functools import cache

from theorysim import claims
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import lemma_a_23 as lemma
from theorysim.theorems.overtraining._assumption_a_21 import NO_UNIT, Sizes


@cache
def _simulate(sizes: Sizes) -> Callable:
    """theta^n(K) for n = 0, ..., d, on batches."""
    return lambda x, key: drawn.run(sizes, x, stage.pull_back(x), key)[0]


theorem = claims.Theorem(
    space=stage.stage_space(**drawn.FIELDS, slowness=claims.Choice(1.0)),
    assumes=(drawn.assumption(drawn.AS_PRINTED),),
    hypotheses=stage.APART,
    simulate=_simulate(drawn.AS_PRINTED),
    predict=lemma.limit(stage.ft_spectrum, stage.pre_spectrum),
    claims=(
        claims.with_probability(
            "distance to the limit", lemma.distance, lemma.bound, at_least=lambda r: 1 - r.x.failure
        ),
    ),
    source=claims.Printed(
        "Lemma A.23 under Assumption A.21 as printed",
        "with probability 1 - delta, |U^T theta^n(K) V - (ft + lam pre) / (1 + lam)|_F <= ...",
    ),
    note=f"{NO_UNIT}; item 3 lacks the learning rate; {drawn.NO_BATCH}",
    readings=(
        claims.Reading(
            "item 3 corrected, item 4 as printed",
            claims.Finding("Lemma A.23 with enough steps, on batches as small as item 4 prints"),
            simulate=_simulate(drawn.ITEM_4_AS_PRINTED),
            assumes=(drawn.assumption(drawn.ITEM_4_AS_PRINTED),),
            note=drawn.NO_BATCH,
        ),
        claims.Reading(
            "corrected",
            drawn.CORRECTED.source,
            simulate=_simulate(drawn.CORRECTED),
            assumes=(drawn.assumption(drawn.CORRECTED),),
            note=drawn.AS_INFINITE,
            primary=True,
        ),
    ),
    mutants=(
        claims.Mutant(
            "the features swapped, as in Lemma A.11",
            predict=lemma.limit(stage.pre_spectrum, stage.ft_spectrum),
        ),
    ),
    keys=128,
    instances=8,
    mutant_instances=8,
)
