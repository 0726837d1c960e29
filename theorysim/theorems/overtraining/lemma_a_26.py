"""A newly learned feature that fine-tuning makes four times larger raises the pre-training loss.

Lemma A.26 of Springer et al. (2025): under Assumption A.21 with lam = 0, if ft_n > 4 pre_n then
L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) > 0. Item 3 of A.21 is read as printed, as the Assumption
A.10 that it names, and corrected. The batch is infinite, which item 4 admits.

Increments are taken from n = 1, from theta^0 with nothing learned: the print has no such state, but
the proof of Theorem A.24 defines Delta_0 = 0. The counterexamples show n = 1 because they are as
small as can be; at d = 3 their like fall at n = 2 and 3, too.
"""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._stages import loss_against


def unregularised(x: claims.Instance):
    """lam = 0."""
    return jnp.zeros_like(x.lam_0)


@cache
def simulation(sizes: a_21.Sizes) -> Callable:
    """L_pre(theta^n(K)) for n = 0, ..., d."""

    def simulate(x: claims.Instance, key):
        theta, _ = sizes.run(x, unregularised(x), key)
        return loss_against(theta, stage.pre_spectrum(x))

    return simulate


def large(factor: float) -> Callable:
    """Nonnegative where ft_n > factor pre_n, strictly."""

    def margin(r: claims.Run):
        room = stage.ft_spectrum(r.x) - factor * stage.pre_spectrum(r.x)
        return jnp.where(room > 0, room, -1)

    return margin


def _rises(factor: float):
    return claims.at_least(
        "L_pre rises", lambda r: jnp.diff(r.sim), lambda r: 0.0, strict=True, where=large(factor)
    )


WORDS = "if ft_n > 4 pre_n and lam = 0, then L_pre(theta^n(K)) - L_pre(theta^{n-1}(K)) > 0"

theorem = claims.Theorem(
    space=stage.stage_space(),
    assumes=(a_21.AS_PRINTED.assumption(unregularised),),
    hypotheses=stage.APART,
    simulate=simulation(a_21.AS_PRINTED),
    claims=(_rises(4),),
    source=claims.Printed("Lemma A.26 under Assumption A.21 as printed", WORDS),
    note=a_21.NO_RATE,
    readings=(
        a_21.AS_LABELLED.reading(
            "item 3 as A.10",
            simulation,
            unregularised,
            source=claims.Printed(
                "Lemma A.26 under Assumption A.21, item 3 by its label, Assumption A.10", WORDS
            ),
            note=a_21.NO_UNIT,
        ),
        a_21.CORRECTED.reading(
            "corrected", simulation, unregularised, note=a_21.FREE_OF_SCALE, primary=True
        ),
    ),
    mutants=(claims.Mutant("every feature that fine-tuning enlarges", claims=(_rises(1),)),),
)
