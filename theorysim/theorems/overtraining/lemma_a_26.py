"""A newly learned feature that fine-tuning makes four times larger raises the pre-training loss.

Lemma A.26 of Springer et al. (2025): under Assumption A.21 with lam = 0, if ft_n > 4 pre_n then
L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) > 0. Item 3 of A.21 is read as printed, as the Assumption
A.10 that it names, and corrected. The batch is infinite, which item 4 admits.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Run,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining._finetuning import pre_spectrum
from theorysim.theorems.overtraining._stages import loss_against

AS_PRINTED = a_21.Assumption(a_21.steps_as_printed)
AS_LABELLED = a_21.Assumption(a_21.steps_as_labelled)
CORRECTED = a_21.Assumption(a_21.steps_free_of_scale)


def _unregularised(x: Instance):
    return jnp.zeros_like(x.lam_0)


def _hypotheses(assumption: a_21.Assumption) -> dict:
    return assumption.hypotheses(_unregularised)


def _simulate(assumption: a_21.Assumption) -> Callable:
    """L_pre(theta^n(K)) for n = 0, ..., d."""

    def simulate(x: Instance, key):
        theta, _ = assumption.run(x, _unregularised(x), key)
        return loss_against(theta, pre_spectrum(x))

    return simulate


def predict(x: Instance):
    """L_pre(U ft_:n V^T) for n = 0, ..., d."""
    learned = jnp.tril(jnp.ones((x.d + 1, x.d)), -1)
    return jnp.sum((learned * a_21.ft_spectrum(x) - pre_spectrum(x)) ** 2, axis=-1)


def _ratio(r: Run):
    return a_21.ft_spectrum(r.x) / pre_spectrum(r.x)


def _increments(r: Run):
    return jnp.diff(r.sim)


def _printed_increments(r: Run):
    """(ft_n - pre_n)^2 - pre_n^2."""
    pre = pre_spectrum(r.x)
    return (a_21.ft_spectrum(r.x) - pre) ** 2 - pre**2


def _large(factor: float) -> Callable:
    """Margin of ft_n > factor pre_n."""
    return lambda r: _ratio(r) - factor


def _rises(factor: float):
    return at_least("L_pre rises", _increments, lambda r: 0.0, strict=True, where=_large(factor))


DISPLAYS = (
    at_most(
        "P1: near the loss of the limit",
        lambda r: jnp.abs(r.sim - r.theory)[..., 1:],
        lambda r: a_21.smallest_gaps(r.x) / 5,
    ),
    equal("P2: increments of the limit", lambda r: jnp.diff(r.theory), _printed_increments),
    at_least(
        "P3: ft_n - pre_n > 2 pre_n",
        lambda r: a_21.ft_spectrum(r.x) - pre_spectrum(r.x),
        lambda r: 2 * pre_spectrum(r.x),
        strict=True,
        where=_large(4),
    ),
    at_least(
        "P4: increments",
        _increments,
        lambda r: _printed_increments(r) - 2 * pre_spectrum(r.x) ** 2 / 5,
        where=_large(4),
    ),
)

SIZES = _hypotheses(CORRECTED)

theorem = Theorem(
    space=a_21.assumption_space(),
    hypotheses=_hypotheses(AS_PRINTED),
    requirements=AS_PRINTED.requirements(),
    simulate=_simulate(AS_PRINTED),
    predict=predict,
    claims=(_rises(4),),
    readings=(
        Reading(
            "item 3 as A.10",
            Printed("", ""),
            simulate=_simulate(AS_LABELLED),
            hypotheses=_hypotheses(AS_LABELLED),
            requirements=AS_LABELLED.requirements(),
            note="log(100 Gamma / epsilon) <= 0 asks for no step where the features are small",
        ),
        Reading(
            "corrected",
            Corrected(""),
            simulate=(corrected_run := _simulate(CORRECTED)),
            hypotheses=SIZES,
            requirements=CORRECTED.requirements(),
            primary=True,
            note="K >= log(100 / epsilon) / (eta min): item 3 lacks eta and depends on the scale",
        ),
        Reading(
            "proof displays",
            Printed("", ""),
            simulate=corrected_run,
            hypotheses=SIZES,
            requirements=CORRECTED.requirements(),
            claims=DISPLAYS,
        ),
    ),
    mutants=(
        Mutant(
            "every feature that fine-tuning enlarges",
            simulate=corrected_run,
            claims=(
                _rises(1),
                equal(
                    "P2: increments of the limit",
                    lambda r: jnp.diff(r.theory),
                    lambda r: _printed_increments(r) / 2,
                ),
            ),
        ),
    ),
)
