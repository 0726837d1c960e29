"""Stage 4: the best constant that each inequality would bear on this space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theorysim.claims.kinds import AtLeast, AtMost, BoundedConstant, Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.engine.review.adversary import Adversary, Outcome, gather
from theorysim.engine.review.readings import ClaimVerdict, Readings
from theorysim.engine.review.record import Record
from theorysim.engine.review.rounds import ENOUGH_POINTS, Deadline, search_rounds
from theorysim.engine.review.ties import apart, ties_by_construction

# A bound is attained where its sides come this near, relatively.
ATTAINED = 0.01


@dataclass(frozen=True)
class Constant(Record):
    """How much of its bound an inequality uses.

    Attributes:
        reading, claim: whose.
        upper: whether the right side bounds the left one from above.
        ratio: the largest ratio of the bounded side to its bound that was met, where the sides are
            not equal by construction; NaN where they are never both positive.
        factor: what the right side may be multiplied by, as far as the search saw: `ratio` for an
            upper bound, 1 / `ratio` for a lower one. Of a constant that is only said to exist, the
            smallest one that serves all points that were met.
        exists: whether the constant is only said to exist.
        ties: whether points were left out at which the sides are equal at every draw.
        instance: where; None where it was met on draws of which none is remembered.
        points: how many points that meet the hypotheses were searched.
    """

    reading: str
    claim: str
    upper: bool
    ratio: float
    factor: float
    exists: bool
    ties: bool
    instance: Mapping[str, Any] | None
    points: int

    @property
    def attained(self) -> bool:
        """Whether the sides come within ATTAINED of each other."""
        return not self.exists and self.ratio >= 1 - ATTAINED

    @property
    def known(self) -> bool:
        """Whether both sides were positive at some point, so that it tells a ratio."""
        return 0 < self.ratio < math.inf

    @property
    def offered(self) -> bool:
        """Whether enough was searched to offer another constant than the printed one."""
        return self.known and not self.attained and self.points >= ENOUGH_POINTS


@dataclass(frozen=True)
class Sharpness(Record):
    """Stage 4: a constant per inequality of the readings that were attacked and not refuted."""

    constants: tuple[Constant, ...]


def best_constants(
    theorem: Theorem, readings: Readings, adversary: Adversary, seed: int, seconds: float
) -> Sharpness:
    """The constants that the adversary's largest ratios support.

    Where some points of a claim are equal by construction, the others are searched anew.
    """
    found: list[Constant] = []
    open_outcomes = [one for one in adversary.outcomes if not one.refuted]
    attacked = [r for r in readings.examined if any(o.reading == r.name for o in open_outcomes)]
    deadline = Deadline.after(seconds)
    for place, verdict in enumerate(attacked):
        reading = theorem.reading(verdict.name)
        own = [one for one in open_outcomes if one.reading == verdict.name]
        tied = {claim.name for claim in verdict.claims if claim.ties}
        equal = [one.claim for one in own if one.claim in tied]
        portion = deadline.left / (len(attacked) - place)
        again = _searched_apart(theorem, reading, equal, seed, portion)
        for one in own:
            claim = next(claim for claim in reading.claims if claim.name == one.claim)
            if isinstance(claim, AtMost | AtLeast | BoundedConstant):
                best = again.get(claim.name, one)
                found.append(_constant(claim, verdict.claim(claim.name), best, claim.name in again))
    return Sharpness(tuple(found))


def _searched_apart(
    theorem: Theorem, reading: ResolvedReading, equal: list[str], seed: int, seconds: float
) -> dict[str, Outcome]:
    """The claims that have ties by construction, searched where they have none."""
    deadline = Deadline.after(seconds)
    ties = ties_by_construction(theorem, reading, equal, seed) if equal else {}
    if not ties:
        return {}
    sizes = theorem.space.default_sizes()
    rounds = search_rounds(
        apart(theorem, reading, ties), reading.name, tuple(ties), seed, deadline, settings=sizes
    )
    return {outcome.claim: outcome for outcome in gather(reading.name, ties, rounds)}


def _constant(claim: Claim, drawn: ClaimVerdict, searched: Outcome, apart: bool) -> Constant:
    """The larger one of the ratios that draws and search met."""
    upper = not isinstance(claim, AtLeast)
    exists = isinstance(claim, BoundedConstant)
    seen = drawn.lhs if exists else drawn.tightness
    by_draws = seen > searched.ratio or math.isnan(searched.ratio)
    ratio = seen if by_draws else searched.ratio
    at = searched.ratio_instance
    if by_draws:
        at = drawn.instance if exists else None
    return Constant(
        reading=searched.reading,
        claim=searched.claim,
        upper=upper,
        ratio=ratio,
        factor=ratio if upper or not ratio else 1 / ratio,
        exists=exists,
        ties=apart,
        instance=at,
        points=searched.evaluations,
    )
