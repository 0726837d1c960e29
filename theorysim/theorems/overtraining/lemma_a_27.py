"""A stronger pull-back moves the inflection point and costs fine-tuning loss.

Lemma A.27 of Springer et al. (2025): for lam_1 > lam_2 > 0 and a smaller epsilon in Assumption
A.21, r_(lam_1) <= r_(lam_2), where r_lam is the smallest r such that L_pre increases at every
n > r, and |theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2 for every n. The displays of the
proof show the opposite of the first: whatever rises at lam_1 rises at lam_2. Item 3 of A.21 is read
as the Assumption A.10 that it names; the batch is infinite, which item 4 admits.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Claim,
    Corrected,
    Mutant,
    Printed,
    Reading,
    Run,
    Theorem,
    at_least,
    at_most,
)
from theorysim.systems.ideal_stages import last_descent
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _strengths as strengths
from theorysim.theorems.overtraining._finetuning import gamma, pre_spectrum

AS_LABELLED = a_21.Assumption(a_21.steps_as_labelled, strengths.pair_bound)
CORRECTED = a_21.Assumption(a_21.steps_free_of_scale, strengths.pair_bound)


def _inflection(r: Run, which: int, first: int):
    """r_lam for the strength of that index, stages counted from `first`."""
    return last_descent(_rise(r, which)[..., first:])


def _points(compare) -> tuple[Claim, ...]:
    """A comparison of r_(lam_1) with r_(lam_2), stages from 0 and from 1."""
    return tuple(
        compare(
            f"inflection points (from {first})",
            lambda r, first=first: _inflection(r, 2, first),
            lambda r, first=first: _inflection(r, 1, first),
        )
        for first in (0, 1)
    )


COSTS = at_least(
    "fine-tuning loss",
    lambda r: r.sim["ft"][..., 2, 1:],
    lambda r: r.sim["ft"][..., 1, 1:],
    strict=True,
    statement="|theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2",
)


def _moved(r: Run):
    """1 / (1 + lam_2)^2 - 1 / (1 + lam_1)^2."""
    _, second, first = strengths.strengths(r.x)
    return 1 / (1 + second) ** 2 - 1 / (1 + first) ** 2


def _pair(values):
    """The entries of lam_2 and lam_1, stages from n = 1."""
    return values[..., 1:, 1:]


def _distance(r: Run):
    return _pair(jnp.linalg.norm(r.sim["theta"] - r.theory["theta"], axis=(-2, -1)))


def _rise(r: Run, which: int):
    return strengths.increments(r)[..., which, :]


def _gap(r: Run):
    return (pre_spectrum(r.x) - a_21.ft_spectrum(r.x)) ** 2


DISPLAYS = (
    at_most(
        "P1: near the limits",
        _distance,
        lambda r: a_21.smallest_gaps(r.x) / (500 * gamma(r.x)) * _moved(r),
    ),
    at_most(
        "P2: losses near the limits'",
        lambda r: jnp.abs(_pair(r.sim["pre"]) - _pair(r.theory["pre"])),
        lambda r: a_21.smallest_gaps(r.x) / 50 * _moved(r),
    ),
    at_least(
        "P3: difference of the increments",
        lambda r: _rise(r, 1) - _rise(r, 2),
        lambda r: _moved(r) * (_gap(r) - a_21.smallest_gaps(r.x) / 25),
    ),
    at_least("P3: positive", lambda r: _rise(r, 1) - _rise(r, 2), lambda r: 0.0, strict=True),
    at_least(
        "P4: a rise at lam_1 is one at lam_2",
        lambda r: _rise(r, 1),
        lambda r: 0.0,
        strict=True,
        where=lambda r: _rise(r, 2),
    ),
)

SIZES = CORRECTED.hypotheses()

theorem = Theorem(
    space=a_21.assumption_space(**strengths.FIELDS),
    hypotheses=AS_LABELLED.hypotheses(),
    requirements=AS_LABELLED.requirements(),
    simulate=strengths.simulation(AS_LABELLED.run),
    predict=strengths.limits(),
    claims=(*_points(at_most), COSTS),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            simulate=(corrected_run := strengths.simulation(CORRECTED.run)),
            hypotheses=SIZES,
            requirements=CORRECTED.requirements(),
            claims=(*_points(at_least), COSTS),
            primary=True,
            note="r_(lam_1) >= r_(lam_2); K >= log(100 / epsilon) / (eta min) in A.21",
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
            "a stronger pull-back lowers the fine-tuning loss",
            simulate=corrected_run,
            claims=(*_points(at_least), at_most(COSTS.name, COSTS.lhs, COSTS.rhs, strict=True)),
        ),
    ),
)
