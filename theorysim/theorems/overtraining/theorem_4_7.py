"""Fine-tuning harms the longer pre-trained model, and a pull-back only delays it.

Theorem 4.7 (catastrophic overtraining) of Springer et al. (2025), formally Theorem A.25. Part 1:
without a pull-back, on (alpha, r)-misaligned spectra, L_pre(theta^n(K)) increases for n >= r (main
text, some alpha_0) or for n <= r (appendix, alpha = 4). Part 2: with the strength lam of the
pull-back the inflection point r(lam) increases (main text) or r(lam_1) <= r(lam_2) for
lam_1 > lam_2 (appendix), and the unregularised fine-tuning loss increases. The inflection point is
defined twice: Definition 4.2 takes the first rise of L_pre, Theorem A.25 the end of the last fall;
stages count from 1, or from 0 where nothing is learned. The main text leaves the sizes open: they
are those of the corrected reading. The batch is infinite, which item 4 of A.21 admits; batches of
the size it asks for have the identity as covariance to hundreds of digits.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Claim,
    Corrected,
    Finding,
    Mutant,
    Printed,
    Reading,
    Run,
    Theorem,
    at_least,
    at_most,
    decreasing,
    equal,
    increasing,
)
from theorysim.systems.ideal_stages import inflection_point, last_descent
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _strengths as strengths
from theorysim.theorems.overtraining._finetuning import pre_spectrum

AS_PRINTED = a_21.Assumption(a_21.steps_as_printed, strengths.both_bounds)
AS_LABELLED = a_21.Assumption(a_21.steps_as_labelled, strengths.both_bounds)
CORRECTED = a_21.Assumption(a_21.steps_free_of_scale, strengths.both_bounds)


def _unregularised(r: Run):
    """Increments of L_pre at lam = 0."""
    return strengths.increments(r)[..., 0, :]


def _after(r: Run):
    """Margin of n > r with the least r for which the spectra are (4, r)-misaligned."""
    return strengths.misaligned_from(r)


def _from(r: Run):
    """Margin of n >= r with that r."""
    return jnp.append(_after(r)[1:], 1.0)


def _until(r: Run):
    """Margin of n <= r with that r."""
    return -_after(r)


def _rises(name: str, given: Callable, first: int = 1) -> Claim:
    """L_pre(n) > L_pre(n-1) at lam = 0, at the n >= first where `given` says so."""
    return at_least(
        name,
        lambda r: _unregularised(r)[..., first - 1 :],
        lambda r: 0.0,
        strict=True,
        where=lambda r: given(r)[first - 1 :],
        statement="L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) > 0",
    )


RISES = (
    _rises("1: rises at n > r >= 0", _after),
    _rises("1: rises at n > r >= 1", _after, first=2),
)

WITNESS = at_most(
    "1: alpha_0 = 4 is enough",
    lambda r: strengths.ratios(r) + 0 * _unregularised(r),
    lambda r: 4.0,
    where=lambda r: -_unregularised(r),
    statement="where L_pre falls from n - 1 to n, ft_n / pre_n <= 4",
)


def _inflection(point: Callable, first: int) -> Callable:
    return lambda r: point(strengths.increments(r)[..., first:])


INFLECTION_POINTS = {
    f"2: r(lam), {definition}, n >= {first}": _inflection(point, first)
    for definition, point in (("4.2", inflection_point), ("A.25", last_descent))
    for first in (0, 1)
}

DELAYED = tuple(increasing(name, point) for name, point in INFLECTION_POINTS.items())

# The appendix speaks of lam_1 > lam_2 > 0 only, the last two of the three strengths.
BROUGHT_FORWARD = tuple(
    decreasing(name, lambda r, point=point: point(r)[..., 1:])
    for name, point in INFLECTION_POINTS.items()
)


def _ft_loss(r: Run):
    """|theta^n(K) - A^ft|_F^2 from n = 1, strengths last."""
    return jnp.moveaxis(r.sim["ft"][..., 1:], -2, -1)


COSTS = increasing("2: ft loss grows in lam", _ft_loss, strict=True)
COSTS_MORE = increasing(COSTS.name, lambda r: _ft_loss(r)[..., 1:], strict=True)

SKETCH = (
    equal(
        "pre-training alone: increments",
        lambda r: jnp.diff(r.sim["before"]),
        lambda r: -(pre_spectrum(r.x) ** 2),
        statement="L_pre(theta^n(0)) - L_pre(theta^(n-1)(0)) = -pre_n^2",
    ),
    equal(
        "r(lam) of the limit",
        lambda r: inflection_point(strengths.increments(r)),
        lambda r: inflection_point(r.theory["increments"]),
    ),
)

APPENDIX_CLAIMS = (_rises("1: rises at n <= r", _until), *BROUGHT_FORWARD, COSTS_MORE)
CORRECTED_CLAIMS = (*RISES, *DELAYED, COSTS)

printed_run = strengths.simulation(AS_PRINTED.run)
labelled_run = strengths.simulation(AS_LABELLED.run)

SIZES = CORRECTED.hypotheses()
PRINTED_SIZES, LABELLED_SIZES = AS_PRINTED.hypotheses(), AS_LABELLED.hypotheses()

theorem = Theorem(
    space=a_21.assumption_space(**strengths.FIELDS, **practice.FIELDS),
    hypotheses={**SIZES, "fine-tuning features in order": a_21.in_order},
    requirements=CORRECTED.requirements(),
    simulate=strengths.simulation(CORRECTED.run),
    predict=strengths.limits(),
    claims=(WITNESS, *RISES, *DELAYED, COSTS),
    printed="main text",
    aliases=("theorem-a.25",),
    readings=(
        Reading(
            "appendix",
            Printed("", ""),
            simulate=printed_run,
            hypotheses=PRINTED_SIZES,
            requirements=AS_PRINTED.requirements(),
            claims=APPENDIX_CLAIMS,
            note="both inequalities are reversed, and item 3 of A.21 lacks the learning rate",
        ),
        Reading(
            "appendix, item 3 as A.10",
            Printed("", ""),
            simulate=labelled_run,
            hypotheses=LABELLED_SIZES,
            requirements=AS_LABELLED.requirements(),
            claims=APPENDIX_CLAIMS,
            note="both inequalities are reversed",
        ),
        Reading(
            "main text, every increment with n >= r",
            Printed("", ""),
            claims=(_rises("1: rises at n >= r", _from),),
            note="the increment from r - 1 to r belongs to a feature that need not be misaligned",
        ),
        Reading(
            "corrected",
            Corrected(""),
            hypotheses=SIZES,
            claims=CORRECTED_CLAIMS,
            primary=True,
            note="n > r and r(lam_1) >= r(lam_2); K >= log(100 / epsilon) / (eta min) in A.21",
        ),
        Reading("proof sketch", Printed("", ""), hypotheses=SIZES, claims=SKETCH),
        Reading(
            "corrected, but item 3 as printed",
            Corrected(""),
            simulate=printed_run,
            hypotheses=PRINTED_SIZES,
            requirements=AS_PRINTED.requirements(),
            claims=CORRECTED_CLAIMS,
            note="K does not grow as eta shrinks: the features need not move",
        ),
        Reading(
            "corrected, but item 3 as A.10",
            Corrected(""),
            simulate=labelled_run,
            hypotheses=LABELLED_SIZES,
            requirements=AS_LABELLED.requirements(),
            claims=CORRECTED_CLAIMS,
            note="log(100 Gamma / epsilon) <= 0 asks for no step where the features are small",
        ),
        Reading(
            "practical sizes",
            Finding(""),
            simulate=strengths.simulation(practice.run),
            hypotheses=practice.HYPOTHESES,
            requirements=AS_LABELLED.requirements(),
            note=practice.NOTE,
        ),
    ),
    mutants=(
        Mutant(
            "the pull-back brings the inflection point forward",
            predict=strengths.limits(swapped=True),
            claims=(*SKETCH, *BROUGHT_FORWARD, decreasing(COSTS.name, _ft_loss)),
        ),
    ),
)
