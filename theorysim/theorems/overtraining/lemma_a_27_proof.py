"""Whatever feature raises the loss under a strong pull-back raises it under a weaker one.

The displays of the proof of Lemma A.27 of Springer et al. (2025) show the opposite of its first
claim.
"""

from typing import Any

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _strengths as strengths
from theorysim.theorems.overtraining.lemma_a_27 import AS_LABELLED, AS_PRINTED, CORRECTED


def _moved(r: claims.Run):
    _, second, first = strengths.strengths(r.x)
    return strengths.moved(second, first)


def _tolerance(share: float):
    """A share of min over i <= n of |pre_i - ft_i|^2, times what the strengths move."""
    return lambda r: share * stage.smallest_gaps(r.x) * _moved(r)


def _rise_room(r: claims.Run):
    """(pre_n - ft_n)^2 - min / 25, times what the strengths move."""
    gap = (stage.pre_spectrum(r.x) - stage.ft_spectrum(r.x)) ** 2
    return _moved(r) * gap - _tolerance(1 / 25)(r)


P1 = claims.at_most(
    "P1: near the limits",
    lambda r: jnp.linalg.norm(r.sim.theta - r.theory.theta, axis=(-2, -1))[1:, 1:],
    lambda r: _tolerance(1 / 500)(r) / stage.gamma(r.x),
)
P2 = claims.at_most(
    "P2: losses near the limits'",
    lambda r: jnp.abs(r.sim.pre - r.theory.pre)[1:, 1:],
    _tolerance(1 / 50),
)


def _increments(weak: int = 1, strong: int = 2) -> tuple:
    """P3 and P4, with the indices of lam_2 and lam_1."""

    def difference(r: claims.Run):
        return strengths.rise(r, weak) - strengths.rise(r, strong)

    return (
        claims.at_least("P3: difference of the increments", difference, _rise_room),
        claims.at_least("P3: positive", difference, lambda r: 0.0, strict=True),
        claims.at_least(
            "P4: a rise at lam_1 is one at lam_2",
            lambda r: strengths.rise(r, weak),
            lambda r: 0.0,
            strict=True,
            where=lambda r: strengths.rise(r, strong),
        ),
    )


WORDS = "increment at lam_2 - increment at lam_1 >= (...) > 0"


def _under(sizes: a_21.Sizes) -> dict[str, Any]:
    """What a reading of the sizes of A.21 simulates and assumes."""
    return {"simulate": strengths.simulation(sizes), "assumes": (sizes.assumption(),)}


theorem = claims.Theorem(
    space=stage.stage_space(**strengths.FIELDS),
    **_under(AS_PRINTED),
    predict=strengths.limits(),
    claims=(P1, P2, *_increments()),
    source=claims.Printed("proof of Lemma A.27 under Assumption A.21 as printed", WORDS),
    printed="proof displays",
    note=a_21.NO_RATE,
    readings=(
        claims.Reading(
            "item 3 as A.10",
            claims.Printed(
                "proof of Lemma A.27 under Assumption A.21, item 3 by its label, Assumption A.10",
                WORDS,
            ),
            **_under(AS_LABELLED),
            note=a_21.NO_UNIT,
        ),
        claims.Reading(
            "corrected",
            CORRECTED.source,
            **_under(CORRECTED),
            note=a_21.FREE_OF_SCALE,
            primary=True,
        ),
    ),
    mutants=(
        claims.Mutant("the two spectra swapped", predict=strengths.limits(swapped=True)),
        claims.Mutant("the two strengths swapped", claims=_increments(weak=2, strong=1)),
    ),
)
