"""A stronger pull-back moves the inflection point and costs fine-tuning loss.

Lemma A.27 of Springer et al. (2025): for lam_1 > lam_2 > 0 and a smaller epsilon in Assumption
A.21, r_(lam_1) <= r_(lam_2), where r_lam is the smallest r such that L_pre increases at every
n > r, and |theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2 for every n. The displays of the
proof show the opposite of the first: whatever rises at lam_1 rises at lam_2. Item 3 of A.21 is read
as the Assumption A.10 that it names; the batch is infinite, which item 4 admits.
"""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp

from theorysim.claims import Claim, Mutant, Printed, Run, Theorem, at_least, at_most
from theorysim.systems.ideal_stages import last_descent
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _strengths as strengths
from theorysim.theorems.overtraining import assumption_a_21 as a_21

AS_LABELLED = replace(a_21.AS_LABELLED, bound=strengths.pair_bound)
CORRECTED = replace(a_21.CORRECTED, bound=strengths.pair_bound)


def _rise(r: Run, which: int):
    """Increments of L_pre at the strength of that index: lam_2 is 1, lam_1 is 2."""
    return strengths.increments(r)[which]


def _points(compare) -> tuple[Claim, ...]:
    """A comparison of r_(lam_1) with r_(lam_2), stages from 0 and from 1."""
    return tuple(
        compare(
            f"inflection points (from {first})",
            lambda r, first=first: last_descent(_rise(r, 2)[first:]),
            lambda r, first=first: last_descent(_rise(r, 1)[first:]),
        )
        for first in (0, 1)
    )


COSTS = at_least(
    "fine-tuning loss",
    lambda r: r.sim.ft[2, 1:],
    lambda r: r.sim.ft[1, 1:],
    strict=True,
    statement="|theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2",
)


def _moved(r: Run):
    """1 / (1 + lam_2)^2 - 1 / (1 + lam_1)^2."""
    _, second, first = strengths.strengths(r.x)
    return 1 / (1 + second) ** 2 - 1 / (1 + first) ** 2


def _tolerance(share: float):
    """A share of min over i <= n of |pre_i - ft_i|^2, times what the strengths move."""
    return lambda r: share * stage.smallest_gaps(r.x) * _moved(r)


def _distance(r: Run):
    return jnp.linalg.norm(r.sim.theta - r.theory.theta, axis=(-2, -1))[1:, 1:]


def _rise_room(r: Run):
    """(pre_n - ft_n)^2 - min / 25, times what the strengths move."""
    gap = (stage.pre_spectrum(r.x) - stage.ft_spectrum(r.x)) ** 2
    return _moved(r) * gap - _tolerance(1 / 25)(r)


P3 = at_least("P3: difference of the increments", lambda r: _rise(r, 1) - _rise(r, 2), _rise_room)

DISPLAYS = (
    at_most(
        "P1: near the limits",
        _distance,
        lambda r: _tolerance(1 / 500)(r) / stage.gamma(r.x),
    ),
    at_most(
        "P2: losses near the limits'",
        lambda r: jnp.abs(r.sim.pre - r.theory.pre)[1:, 1:],
        _tolerance(1 / 50),
    ),
    P3,
    at_least("P3: positive", P3.lhs, lambda r: 0.0, strict=True),
    at_least(
        "P4: a rise at lam_1 is one at lam_2",
        lambda r: _rise(r, 1),
        lambda r: 0.0,
        strict=True,
        where=lambda r: _rise(r, 2),
    ),
)

theorem = Theorem(
    space=stage.stage_space(**strengths.FIELDS),
    assumes=(AS_LABELLED.assumption(),),
    simulate=strengths.simulation(AS_LABELLED),
    predict=strengths.limits(),
    claims=(*_points(at_most), COSTS),
    source=Printed(
        "Lemma A.27 under Assumption A.21, item 3 by its label, Assumption A.10",
        "r_{lam_1} <= r_{lam_2}, |theta_1^n(K) - A^ft|_F^2 > |theta_2^n(K) - A^ft|_F^2",
    ),
    note="the displays of the proof show the opposite order of the inflection points",
    readings=(
        CORRECTED.reading(
            "corrected",
            strengths.simulation,
            claims=(*_points(at_least), COSTS),
            primary=True,
            note="r_(lam_1) >= r_(lam_2); K >= log(100 / epsilon) / (eta min) in A.21",
        ),
        CORRECTED.reading(
            "proof displays",
            strengths.simulation,
            claims=DISPLAYS,
            note="the displays hold with the corrected number of steps",
        ),
    ),
    mutants=(
        Mutant("the inflection point comes forward, as printed", claims=_points(at_most)),
        Mutant("a stronger pull-back lowers the fine-tuning loss", claims=(COSTS.reversed(),)),
        Mutant("spectra swapped", of=("proof displays",), predict=strengths.limits(swapped=True)),
        Mutant("increments the other way", of=("proof displays",), claims=(P3.reversed(),)),
    ),
)
