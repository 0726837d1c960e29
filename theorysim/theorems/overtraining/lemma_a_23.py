"""Fine-tuning ends near the mean of the two maps' features, weighted by the pull-back.

Lemma A.23 of Springer et al. (2025): under Assumption A.21 and for every n <= d,
|U^T theta^n(K) V - (ft_:n + lam pre_:n) / (1 + lam)|_F <= min over i <= n of |pre_i - ft_i|^2
/ (500 (lam_0 + 1)^2 Gamma). Item 3 of A.21 is read as printed, as the Assumption A.10 that it
names, and corrected. (Lemma A.11, from which it is said to follow, prints pre and ft swapped.) The
batch is infinite, which item 4 admits.
"""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._stages import learned_stages


@cache
def _simulate(sizes: a_21.Sizes) -> Callable:
    """theta^n(K) for n = 0, ..., d."""
    return lambda x, key: sizes.run(x, stage.pull_back(x), key)[0]


def limit(target: Callable, anchor: Callable) -> Callable:
    """(target_:n + lam anchor_:n) / (1 + lam) for n = 0, ..., d, as diagonal matrices."""

    def predict(x: claims.Instance):
        mean = stage.weighted(x, target, anchor)
        return stage.learned_up_to(x, mean)[..., None] * jnp.eye(x.d)

    return predict


def distance(r: claims.Run):
    return jnp.linalg.norm(learned_stages(r.sim - r.theory), axis=(-2, -1))


def bound(r: claims.Run):
    return stage.smallest_gaps(r.x) / (500 * (r.x.lam_0 + 1) ** 2 * stage.gamma(r.x))


WORDS = "|U^T theta^n(K) V - (ft + lam pre) / (1 + lam)|_F <= min |pre - ft|^2 / (500 ...)"

theorem = claims.Theorem(
    space=stage.stage_space(),
    assumes=(a_21.AS_PRINTED.assumption(),),
    hypotheses=stage.APART,
    simulate=_simulate(a_21.AS_PRINTED),
    predict=limit(stage.ft_spectrum, stage.pre_spectrum),
    source=claims.Printed("Lemma A.23 under Assumption A.21 as printed", WORDS),
    note=a_21.NO_RATE,
    claims=(claims.at_most("distance to the limit", distance, bound),),
    readings=(
        a_21.AS_LABELLED.reading(
            "item 3 as A.10",
            _simulate,
            source=claims.Printed(
                "Lemma A.23 under Assumption A.21, item 3 by its label, Assumption A.10", WORDS
            ),
            note=a_21.NO_UNIT,
        ),
        a_21.CORRECTED.reading("corrected", _simulate, note=a_21.FREE_OF_SCALE, primary=True),
    ),
    mutants=(
        claims.Mutant(
            "the features swapped, as in Lemma A.11",
            predict=limit(stage.pre_spectrum, stage.ft_spectrum),
        ),
    ),
)
