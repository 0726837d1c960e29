"""A newly learned feature that fine-tuning makes four times larger raises the pre-training loss.

Lemma A.26 of Springer et al. (2025): under Assumption A.21 with lam = 0, if ft_n > 4 pre_n then
L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) > 0. Item 3 of A.21 is read as printed, as the Assumption
A.10 that it names, and corrected. The batch is infinite, which item 4 admits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Run,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import assumption_a_21 as a_21
from theorysim.theorems.overtraining._stages import loss_against


def _unregularised(x: Instance):
    """lam = 0."""
    return jnp.zeros_like(x.lam_0)


@cache
def _simulate(sizes: a_21.Sizes) -> Callable:
    """L_pre(theta^n(K)) for n = 0, ..., d."""

    def simulate(x: Instance, key):
        theta, _ = sizes.run(x, _unregularised(x), key)
        return loss_against(theta, stage.pre_spectrum(x))

    return simulate


def predict(x: Instance):
    """L_pre(U ft_:n V^T) for n = 0, ..., d."""
    learned = stage.learned_up_to(x, stage.ft_spectrum(x))
    return jnp.sum((learned - stage.pre_spectrum(x)) ** 2, axis=-1)


def _increments(r: Run):
    return jnp.diff(r.sim)


def _printed_increments(r: Run):
    """(ft_n - pre_n)^2 - pre_n^2."""
    pre = stage.pre_spectrum(r.x)
    return (stage.ft_spectrum(r.x) - pre) ** 2 - pre**2


def _large(factor: float) -> Callable:
    """Nonnegative where ft_n > factor pre_n, strictly."""

    def margin(r: Run):
        room = stage.ft_spectrum(r.x) - factor * stage.pre_spectrum(r.x)
        return jnp.where(room > 0, room, -1)

    return margin


def _rises(factor: float):
    return at_least("L_pre rises", _increments, lambda r: 0.0, strict=True, where=_large(factor))


def _near(share: float):
    return at_most(
        "P1: near the loss of the limit",
        lambda r: jnp.abs(r.sim - r.theory)[1:],
        lambda r: share * stage.smallest_gaps(r.x),
    )


P2 = equal("P2: increments of the limit", lambda r: jnp.diff(r.theory), _printed_increments)
P4 = at_least(
    "P4: increments",
    _increments,
    lambda r: _printed_increments(r) - 2 * stage.pre_spectrum(r.x) ** 2 / 5,
    where=_large(4),
)

theorem = Theorem(
    space=stage.stage_space(),
    assumes=(a_21.AS_PRINTED.assumption(_unregularised),),
    simulate=_simulate(a_21.AS_PRINTED),
    predict=predict,
    claims=(_rises(4),),
    source=Printed(
        "Lemma A.26 under Assumption A.21 as printed",
        "if ft_n > 4 pre_n and lam = 0, then L_pre(theta^n(K)) - L_pre(theta^{n-1}(K)) > 0",
    ),
    note=a_21.NO_RATE,
    readings=(
        a_21.AS_LABELLED.reading("item 3 as A.10", _simulate, _unregularised, note=a_21.NO_UNIT),
        a_21.CORRECTED.reading(
            "corrected", _simulate, _unregularised, note=a_21.FREE_OF_SCALE, primary=True
        ),
        a_21.CORRECTED.reading(
            "proof displays",
            _simulate,
            _unregularised,
            claims=(_near(1 / 5), P2, P4),
            note="the displays of the proof hold with the corrected number of steps",
        ),
    ),
    mutants=(
        Mutant("every feature that fine-tuning enlarges", claims=(_rises(1),)),
        Mutant(
            "half the square, and no loss before",
            of=("proof displays",),
            claims=(
                P2.scaled(0.5),
                P4.against(lambda r: (stage.ft_spectrum(r.x) - stage.pre_spectrum(r.x)) ** 2),
            ),
        ),
    ),
)
