"""Searches as long as time allows: rounds of points under one seed after the other."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from theorysim.claims.theorem import Theorem
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.falsify.report import Attack
from theorysim.engine.measure.batch import traced_measurement
from theorysim.engine.measure.effort import OPERATIONS_PER_SECOND
from theorysim.engine.measure.setup import Setup, parse_settings, select_readings
from theorysim.jaxprs.cost import operations
from theorysim.precision import in_precision

# Points of a round, at least and at most; a first round is not to take more than this share of the
# time by a count of its operations.
LEAST_POINTS, FIRST_POINTS, MOST_POINTS = 256, 4096, 200_000
FIRST_SHARE = 0.2
# The share of the remaining time that a round is planned for: what it suspects takes time, too.
PLANNED = 0.8
# What a round computes takes at least this share of the first one, which also compiles.
COMPUTING = 1 / 3

# After fewer points that meet the hypotheses nothing is accepted, and no better constant offered.
ENOUGH_POINTS = 10_000

SEEDS = 1 << 63


@dataclass(frozen=True)
class Deadline:
    """A moment after which no further search begins."""

    moment: float

    @staticmethod
    def after(seconds: float) -> Deadline:
        """So many seconds from now."""
        return Deadline(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """The seconds that are left, 0 at least."""
        return max(0.0, self.moment - time.monotonic())


def search_rounds(
    theorem: Theorem,
    reading: str,
    claims: Collection[str],
    seed: int,
    deadline: Deadline,
    settings: Mapping[str, int] | None = None,
) -> Iterator[tuple[int, tuple[Attack, ...]]]:
    """Attacks on claims of one reading, round after round, with the points of each round.

    The first round is small and always run; the second is as large, to see how long compiled
    programs take; the others fill the time. What is refuted is not attacked again. Sizes that are
    given in `settings` are the only ones.
    """
    points = first_points(theorem, reading, claims, deadline.left)
    open_claims, number = list(claims), 0
    while open_claims:
        begun = time.monotonic()
        found = falsify(
            theorem,
            reading=reading,
            claim=open_claims,
            budget=points,
            seed=(seed + number) % SEEDS,
            settings=settings,
        ).attacks
        yield points, found
        refuted = {attack.claim for attack in found if attack.refuted}
        open_claims = [name for name in open_claims if name not in refuted]
        spent = max(time.monotonic() - begun, 1e-3)
        number += 1
        if number > 1:
            points = min(int(PLANNED * deadline.left * points / spent), MOST_POINTS)
        if points < LEAST_POINTS or deadline.left < COMPUTING * spent * (number == 1):
            return


def first_points(theorem: Theorem, reading: str, claims: Collection[str], seconds: float) -> int:
    """Points of a first round: as many as its share of the time affords by counted operations."""
    with in_precision(double=True):
        readings = select_readings(theorem, reading, claims)
        setup = Setup(theorem, readings, parse_settings(theorem, {}))
        cost = operations(traced_measurement(setup).jaxpr.jaxpr)
    affordable = FIRST_SHARE * seconds * OPERATIONS_PER_SECOND / max(cost, 1.0)
    return int(min(max(affordable, LEAST_POINTS), FIRST_POINTS))
