"""The pre-training loss of the limit rises by (ft_n - pre_n)^2 - pre_n^2 with every feature.

The displays of the proof of Lemma A.26 of Springer et al. (2025). (P3, ft_n - pre_n > 2 pre_n where
ft_n > 4 pre_n, is arithmetic.)
"""

from typing import Any

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining.lemma_a_26 import large, simulation, unregularised


def predict(x: claims.Instance):
    """L_pre(U ft_:n V^T) for n = 0, ..., d."""
    learned = stage.learned_up_to(x, stage.ft_spectrum(x))
    return jnp.sum((learned - stage.pre_spectrum(x)) ** 2, axis=-1)


def _kept(x: claims.Instance):
    """L_pre(U pre_:n V^T)."""
    pre = stage.pre_spectrum(x)
    return jnp.sum((stage.learned_up_to(x, pre) - pre) ** 2, axis=-1)


def _printed_increments(r: claims.Run):
    """(ft_n - pre_n)^2 - pre_n^2."""
    pre = stage.pre_spectrum(r.x)
    return (stage.ft_spectrum(r.x) - pre) ** 2 - pre**2


NEAR = claims.at_most(
    "P1: near the loss of the limit",
    lambda r: jnp.abs(r.sim - r.theory)[1:],
    lambda r: stage.smallest_gaps(r.x) / 5,
)
P2 = claims.equal("P2: increments of the limit", lambda r: jnp.diff(r.theory), _printed_increments)
P4 = claims.at_least(
    "P4: increments",
    lambda r: jnp.diff(r.sim),
    lambda r: _printed_increments(r) - 2 * stage.pre_spectrum(r.x) ** 2 / 5,
    where=large(4),
)

WORDS = "the increment is at least (ft - pre)^2 - pre^2 - 2 pre^2 / 5 > 0"


def _under(sizes: a_21.Sizes) -> dict[str, Any]:
    """What a reading of the sizes of A.21 simulates and assumes."""
    return {"simulate": simulation(sizes), "assumes": (sizes.assumption(unregularised),)}


theorem = claims.Theorem(
    space=stage.stage_space(),
    **_under(a_21.AS_PRINTED),
    predict=predict,
    claims=(NEAR, P2, P4),
    source=claims.Printed("proof of Lemma A.26 under Assumption A.21 as printed", WORDS),
    printed="proof displays",
    note=a_21.NO_RATE,
    readings=(
        claims.Reading(
            "item 3 as A.10",
            claims.Printed(
                "proof of Lemma A.26 under Assumption A.21, item 3 by its label, Assumption A.10",
                WORDS,
            ),
            **_under(a_21.AS_LABELLED),
            note=a_21.NO_UNIT,
        ),
        claims.Reading(
            "corrected",
            a_21.CORRECTED.source,
            **_under(a_21.CORRECTED),
            note=a_21.FREE_OF_SCALE,
            primary=True,
        ),
    ),
    mutants=(
        claims.Mutant("the limit keeps the features of pre-training", predict=_kept),
        claims.Mutant(
            "half the square, and no loss before",
            claims=(
                P2.scaled(0.5),
                P4.against(lambda r: (stage.ft_spectrum(r.x) - stage.pre_spectrum(r.x)) ** 2),
            ),
        ),
    ),
)
