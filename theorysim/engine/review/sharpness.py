"""Stage 4: the best constant that each inequality would bear on this space."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theorysim.claims.kinds import AtLeast, AtMost, BoundedConstant
from theorysim.claims.theorem import Theorem
from theorysim.engine.review.adversary import Adversary, Outcome
from theorysim.engine.review.record import Record

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
            smallest one that serves.
        exists: whether the constant is only said to exist.
        instance: where.
        points: how many points were searched.
    """

    reading: str
    claim: str
    upper: bool
    ratio: float
    factor: float
    exists: bool
    instance: Mapping[str, Any] | None
    points: int

    @property
    def attained(self) -> bool:
        """Whether the sides come within ATTAINED of each other."""
        return not self.exists and self.ratio >= 1 - ATTAINED

    @property
    def known(self) -> bool:
        """Whether some point tells a ratio."""
        return math.isfinite(self.ratio)


@dataclass(frozen=True)
class Sharpness(Record):
    """Stage 4: a constant per inequality of the readings that were attacked and not refuted."""

    constants: tuple[Constant, ...]


def best_constants(theorem: Theorem, adversary: Adversary) -> Sharpness:
    """The constants that the adversary's largest ratios support."""
    found = [_constant(theorem, one) for one in adversary.outcomes if not one.refuted]
    return Sharpness(tuple(constant for constant in found if constant is not None))


def _constant(theorem: Theorem, outcome: Outcome) -> Constant | None:
    claims = theorem.reading(outcome.reading).claims
    claim = next(claim for claim in claims if claim.name == outcome.claim)
    if not isinstance(claim, AtMost | AtLeast | BoundedConstant):
        return None
    upper = not isinstance(claim, AtLeast)
    return Constant(
        reading=outcome.reading,
        claim=outcome.claim,
        upper=upper,
        ratio=outcome.ratio,
        factor=outcome.ratio if upper or not outcome.ratio else 1 / outcome.ratio,
        exists=isinstance(claim, BoundedConstant),
        instance=outcome.ratio_instance,
        points=outcome.points,
    )
