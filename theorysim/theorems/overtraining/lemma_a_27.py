"""A stronger pull-back moves the inflection point and costs fine-tuning loss.

Lemma A.27 of Springer et al. (2025): for lam_1 > lam_2 > 0 and a smaller epsilon in Assumption
A.21, r_(lam_1) <= r_(lam_2), where r_lam is the smallest r such that L_pre increases at every
n > r, and |theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2 for every n. The displays of the
proof show the opposite of the first: whatever rises at lam_1 rises at lam_2. Item 3 of A.21 is read
as printed and as the Assumption A.10 that it names; the batch is infinite, which item 4 admits.
"""

from dataclasses import replace

from theorysim import claims
from theorysim.systems.ideal_stages import last_descent
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _strengths as strengths

AS_PRINTED = replace(a_21.AS_PRINTED, bound=strengths.pair_bound)
AS_LABELLED = replace(a_21.AS_LABELLED, bound=strengths.pair_bound)
CORRECTED = replace(a_21.CORRECTED, bound=strengths.pair_bound)


def _points(compare) -> tuple[claims.Claim, ...]:
    """A comparison of r_(lam_1) with r_(lam_2), stages from 0 and from 1."""

    def point(which: int, first: int):
        return lambda r: last_descent(strengths.rise(r, which)[first:])

    return tuple(
        compare(f"inflection points (from {first})", point(2, first), point(1, first))
        for first in (0, 1)
    )


COSTS = claims.at_least(
    "fine-tuning loss",
    lambda r: r.sim.ft[2, 1:],
    lambda r: r.sim.ft[1, 1:],
    strict=True,
    statement="|theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2",
)


WORDS = "r_{lam_1} <= r_{lam_2}, |theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2"

theorem = claims.Theorem(
    space=stage.stage_space(**strengths.FIELDS),
    assumes=(AS_PRINTED.assumption(),),
    hypotheses=stage.APART,
    simulate=strengths.simulation(AS_PRINTED),
    claims=(*_points(claims.at_most), COSTS),
    source=claims.Printed("Lemma A.27 under Assumption A.21 as printed", WORDS),
    note="the order is reversed, and item 3 of A.21 lacks the learning rate",
    readings=(
        AS_LABELLED.reading(
            "item 3 as A.10",
            strengths.simulation,
            source=claims.Printed(
                "Lemma A.27 under Assumption A.21, item 3 by its label, Assumption A.10", WORDS
            ),
            note="the displays of the proof show the opposite order of the inflection points",
        ),
        CORRECTED.reading(
            "corrected",
            strengths.simulation,
            source=claims.Corrected(
                "r_lam1 >= r_lam2, and item 3 of Assumption A.21: "
                "K >= log(100 / epsilon) / (eta min{pre_i, ft_i})"
            ),
            claims=(*_points(claims.at_least), COSTS),
            primary=True,
            note="r_(lam_1) >= r_(lam_2); K >= log(100 / epsilon) / (eta min) in A.21",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the inflection point comes forward, as printed", claims=_points(claims.at_most)
        ),
        claims.Mutant(
            "a stronger pull-back lowers the fine-tuning loss", claims=(COSTS.reversed(),)
        ),
    ),
    instances=400,
)
