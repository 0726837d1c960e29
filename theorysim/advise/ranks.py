"""How alike two sides rank, and whether so few things may tell: Spearman's, and what chance gives.

Of two things any order agrees with another half of the time, of three every sixth time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from theorysim.advise.problem import rank_correlation

FEWEST = 4
"""so many are ranked at least: chance gives the same order in 1 of 4! = 24 cases, of 3 in 1 of 6"""
RARE = 0.05
"""what chance gives no oftener is called agreement"""
COUNTED = 7
"""orders of so many are counted one by one; of more, as Student's distribution has it"""
ROUNDED = 1e-9


class Agreement(NamedTuple):
    """Of two sides that rank the same things."""

    correlation: float
    things: int
    """how many things"""
    chance: float
    """the share of all orders of one side that are at least so alike the other"""

    @property
    def telling(self) -> bool:
        """Whether so many things may tell anything."""
        return self.things >= FEWEST

    @property
    def met(self) -> bool | None:
        """Whether both rank alike; None where chance may have made it, or may have hidden it."""
        if not self.telling or np.isnan(self.correlation):
            return None
        if self.correlation <= 0:
            return False
        return True if self.chance <= RARE else None

    def told(self, what: str) -> str:
        """The number and how often chance is as good; or that there are too few of `what`."""
        if not self.telling:
            return (
                f"{self.things} {what} are too few for a rank correlation, which needs {FEWEST} to "
                "say more than chance"
            )
        return (
            f"{self.correlation:.2f} over {self.things} {what}, which chance reaches in "
            f"{self.chance:.2g} of all orders"
        )


def agreement(left: Sequence[float], right: Sequence[float]) -> Agreement:
    """How alike both rank."""
    found = rank_correlation(left, right)
    return Agreement(found, len(left), _chance(left, right, found))


def _chance(left: Sequence[float], right: Sequence[float], found: float) -> float:
    count = len(left)
    if count < 2:
        return 1.0
    if count <= COUNTED:
        orders = [rank_correlation(left, order) for order in permutations(right)]
        return float(np.mean(np.array(orders) >= found - ROUNDED))
    from scipy.stats import t

    spread = np.sqrt(max(1 - found**2, ROUNDED) / (count - 2))
    return float(t.sf(found / spread, count - 2))
