"""Searching the closed unit cube of a space for the points that violate claims most.

Plain draws come first, those of a verification before all others; then the boundary, where
counterexamples sit. What scored best is refined on islands that do not mix, so that several basins
are climbed; one that no longer rises starts anew from plain draws. Gradient ascent helps where the
dimension is high. Every point is scored for all claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from theorysim.engine.falsify.draws import Draws
from theorysim.engine.falsify.moves import Coordinates, edge_points, vary
from theorysim.engine.falsify.objective import ASCENT_STEPS, INFEASIBLE, Objective
from theorysim.engine.falsify.points import Points, Scored

# Share of the budget for plain draws and, at most, for the boundary.
DRAWN_SHARE = 0.25
BOUNDARY_SHARE = 0.25

GENERATION = 512
MEMBERS = 32
ISLANDS = 8
# Children of one island per generation, while there are few claims.
BROOD = 64
# An island that has not risen by this share of its distance for so many generations starts anew.
RISE = 1e-3
PATIENCE = 8
ARRIVALS = 256

HIGH_DIMENSION = 30

# `examine(points, plain)` scores points for each claim; of plain draws it examines every suspect.
Examine = Callable[[Points, bool], list[Scored]]


@dataclass
class Island:
    """A population for one claim, best first, and for how many generations it has not risen."""

    members: Scored
    idle: int = 0

    def settle(self, arrivals: Scored) -> None:
        """Keep the best of old and new ones."""
        before = self.members.scores[0]
        self.members = Scored.join(self.members, arrivals).best(MEMBERS)
        goal = 0.0 if before > INFEASIBLE / 2 else INFEASIBLE
        risen = self.members.scores[0] - before > RISE * abs(goal - before)
        self.idle = 0 if risen else self.idle + 1


class Search:
    """A search for violations of an objective's claims, within a budget of points."""

    def __init__(
        self,
        objective: Objective,
        examine: Examine,
        draws: Draws,
        known: Coordinates,
        budget: int,
        seed: int,
    ):
        self._objective = objective
        self._examine = examine
        self._draws = draws
        self._known = known
        self._budget = budget
        self._rng = np.random.default_rng(seed)

    def run(self, key: np.ndarray, open_claims: Callable[[], Sequence[int]]) -> None:
        """Search until the budget is spent or no claim is open; the boundary under one key."""
        drawn = self._draw(max(self._draws.verified, int(DRAWN_SHARE * self._budget), 1))
        if not open_claims() or not self._left:
            return
        count = min(self._left, max(1, int(BOUNDARY_SHARE * self._budget)))
        boundary = Points.under(key, edge_points(self._known, count, self._rng))
        found = self._examine(boundary, False)
        start = [Scored.join(*pair) for pair in zip(drawn, found, strict=True)]
        islands = {claim: self._populate(start[claim], open_claims()) for claim in open_claims()}
        if self._objective.dimension > HIGH_DIMENSION:
            self._ascend(islands, open_claims)
        while self._left and open_claims():
            self._evolve([island for claim in open_claims() for island in islands[claim]], islands)
            self._restart(islands, open_claims)

    @property
    def _left(self) -> int:
        return max(0, self._budget - self._objective.spent)

    def _draw(self, count: int) -> list[Scored]:
        return self._examine(self._draws.take(min(count, self._left)), True)

    def _populate(self, start: Scored, open_claims: Sequence[int]) -> list[Island]:
        """Islands of disjoint parts; the first one sees all points, now and later."""
        count = int(np.clip(GENERATION // (BROOD * len(open_claims)), 1, ISLANDS))
        parts = [slice(None), *(slice(part, None, count - 1) for part in range(count - 1))]
        return [Island(start.rows(part).best(MEMBERS)) for part in parts if len(start.scores[part])]

    def _ascend(
        self, islands: dict[int, list[Island]], open_claims: Callable[[], Sequence[int]]
    ) -> None:
        for claim in open_claims():
            if (ASCENT_STEPS + 1) * MEMBERS > self._left:
                return
            climbed = self._objective.ascend(islands[claim][0].members.points, claim)
            if climbed is None:
                return
            found = self._examine(climbed, False)
            for other, several in islands.items():
                several[0].settle(found[other])

    def _evolve(self, evolving: list[Island], islands: dict[int, list[Island]]) -> None:
        """One generation on all islands of open claims."""
        count = min(GENERATION, self._left)
        shares = np.bincount(np.arange(count) % len(evolving), minlength=len(evolving))
        broods = [self._children(island.members.points, n) for island, n in zip(evolving, shares)]
        found = self._examine(Points.join(*broods), False)
        ends = np.cumsum(shares)
        for claim, several in islands.items():
            several[0].settle(found[claim])
            for island, end, share in zip(evolving, ends, shares):
                if any(island is other for other in several[1:]):
                    island.settle(found[claim].rows(slice(end - share, end)))

    def _children(self, members: Points, count: int) -> Points:
        """Children of random members, simulated with the key of these."""
        parents = self._rng.integers(0, len(members), count)
        cube = vary(members.cube, parents, self._known, self._rng)
        return Points(cube, members.keys[parents])

    def _restart(
        self, islands: dict[int, list[Island]], open_claims: Callable[[], Sequence[int]]
    ) -> None:
        """Replace islands that have come to rest; the first ones remember what they reached."""
        resting = [
            (claim, island)
            for claim in open_claims()
            for island in islands[claim][1:]
            if island.idle >= PATIENCE
        ]
        for claim, island in resting:
            if not self._left:
                return
            found = self._draw(ARRIVALS)
            for other, several in islands.items():
                several[0].settle(found[other])
            island.members, island.idle = found[claim].best(MEMBERS), 0
