"""Searching the closed unit cube of a space for the points that violate claims most.

Plain draws come first, those of a verification before all others; then the boundary, where
counterexamples sit. What scored best is refined on islands that do not mix, each about one basin;
one that no longer rises starts anew from plain draws. Gradient ascent helps where the
dimension is high. Every point is scored for all claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from theorysim.engine.falsify.draws import Draws
from theorysim.engine.falsify.moves import Coordinates, edge_points, vary
from theorysim.engine.falsify.objective import ASCENT_STEPS, INFEASIBLE, Objective
from theorysim.engine.falsify.points import Points, Scored
from theorysim.engine.measure.setup import Setup
from theorysim.memory import check_host

# Share of the budget for plain draws and, at most, for the boundary.
DRAWN_SHARE = 0.25
BOUNDARY_SHARE = 0.25

# Points that are scored together: one compiled length.
GENERATION = 512
# The first island sees all points and keeps more of them: it follows curved ridges.
FIRST_MEMBERS, MEMBERS = 32, 16
# Basins that are climbed side by side: with as many, a generation still gives each its full brood.
ISLANDS = 6
# Children of one island per generation, while there are few claims.
BROOD = 64
# An island that has not risen by this share of its distance for so many generations starts anew.
RISE = 1e-3
PATIENCE = 8
# Fresh points among which an island that starts anew chooses its basin.
ARRIVALS = 256
# The share of its children that an island keeps while it does not rise.
AT_REST = 0.25
# Points among which basins are told apart.
POOL = 1024
# Points of a stage before the islands.
STAGE = 1024

# Above, an evolving population needs more points than a budget has, and gradients are tried first.
HIGH_DIMENSION = 30

# Bytes of a number, of a key, and of what Python keeps beside the name of a point in a dictionary.
NUMBER, KEY, NAME = 8, 8, 160

# `examine(points, plain)` scores points for each claim; of plain draws it examines every suspect.
Examine = Callable[[Points, bool], list[Scored]]


def check_budget(setup: Setup, budget: int) -> None:
    """Refuse a budget whose plain draws do not fit into memory, where all of them are held.

    Each is a point with two numbers for each claim, as it was drawn and as all are put together,
    once for each claim; the best of them are found in one more copy, by their names.

    Raises:
        SizeError: with the bytes needed, the bytes there are and the remedy.
    """
    (reading,) = setup.readings
    claims = len(reading.claims)
    point = NUMBER * setup.theorem.space.dimension(setup.settings.sizes) + KEY
    each = (1 + claims) * point + 2 * claims * 2 * NUMBER + 2 * point + NAME
    held = each * budget // round(1 / DRAWN_SHARE)
    check_host(held, f"{setup}: a budget of {budget} points", "ask for a smaller one")


@dataclass
class Island:
    """A population for one claim, best first, of at most `room` members.

    It has not risen for `idle` generations.
    """

    members: Scored
    room: int = MEMBERS
    idle: int = 0

    def settle(self, arrivals: Scored) -> None:
        """Keep the best of old and new ones."""
        before = self.members.scores[0]
        self.members = Scored.join(self.members, arrivals).best(self.room)
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
        found: list[list[Scored]] = []
        for examine in self._first_stages(key):
            if not self._left:
                return
            found.append(examine())
            if not open_claims():
                return
        start = [Scored.join(*parts) for parts in zip(*found, strict=True)]
        islands = {
            claim: self._populate(start[claim], len(open_claims())) for claim in open_claims()
        }
        if self._objective.dimension > HIGH_DIMENSION:
            self._ascend(islands, open_claims)
        while self._left and open_claims():
            evolving = {claim: islands[claim] for claim in open_claims()}
            self._evolve(evolving)
            self._restart(evolving)

    def _first_stages(self, key: np.ndarray) -> Iterator[Callable[[], list[Scored]]]:
        """The draws of a verification, the boundary, then the other plain draws."""
        drawn = max(self._draws.verified, int(DRAWN_SHARE * self._budget), 1)
        first = min(drawn, max(self._draws.verified, 1))
        yield lambda: self._draw(first)
        edges = edge_points(self._known, max(1, int(BOUNDARY_SHARE * self._budget)), self._rng)
        for part in np.array_split(edges, -(-len(edges) // STAGE)):
            yield lambda part=part: self._examine(Points.under(key, part[: self._left]), False)
        for done in range(first, drawn, STAGE):
            yield lambda done=done: self._draw(min(STAGE, drawn - done))

    @property
    def _left(self) -> int:
        return max(0, self._budget - self._objective.spent)

    def _draw(self, count: int) -> list[Scored]:
        return self._examine(self._draws.take(min(count, self._left)), True)

    def _populate(self, start: Scored, claims: int) -> list[Island]:
        """The first island sees all points, now and later; each other one starts in a basin."""
        count = int(np.clip(GENERATION // (BROOD * claims), 1, ISLANDS))
        niches = basins(start, count - 1, MEMBERS)
        first = Island(start.best(FIRST_MEMBERS), FIRST_MEMBERS)
        return [first, *map(Island, niches)]

    def _ascend(
        self, islands: dict[int, list[Island]], open_claims: Callable[[], Sequence[int]]
    ) -> None:
        for claim in open_claims():
            if (ASCENT_STEPS + 1) * FIRST_MEMBERS > self._left:
                return
            climbed = self._objective.ascend(islands[claim][0].members.points, claim)
            if climbed is None:
                return
            _settle_first(islands, self._examine(climbed, False))

    def _evolve(self, islands: dict[int, list[Island]]) -> None:
        """One generation: children of every island; the first ones take all of them."""
        evolving = [(claim, island) for claim, several in islands.items() for island in several]
        weights = np.concatenate([_weights(several) for several in islands.values()])
        ends = np.rint(np.cumsum(weights) / np.sum(weights) * min(GENERATION, self._left)).astype(
            int
        )
        starts = np.append(0, ends[:-1])
        broods = [
            self._children(island.members.points, end - start)
            for (_, island), start, end in zip(evolving, starts, ends)
        ]
        found = self._examine(Points.join(*broods), False)
        for (claim, island), start, end in zip(evolving, starts, ends):
            if island is not islands[claim][0]:
                island.settle(found[claim].rows(slice(start, end)))
        _settle_first(islands, found)

    def _children(self, members: Points, count: int) -> Points:
        """Children of random members, simulated with the key of these."""
        parents = self._rng.integers(0, len(members), count)
        cube = vary(members.cube, parents, self._known, self._rng)
        return Points(cube, members.keys[parents])

    def _restart(self, islands: dict[int, list[Island]]) -> None:
        """Replace islands that have come to rest; the first ones remember what they reached."""
        for claim, several in islands.items():
            for place, island in enumerate(several[1:], 1):
                if island.idle >= PATIENCE and self._left:
                    found = self._draw(ARRIVALS)
                    _settle_first(islands, found)
                    niches = basins(found[claim], ISLANDS, MEMBERS)
                    several[place] = Island(niches[self._rng.integers(len(niches))])


def _settle_first(islands: dict[int, list[Island]], found: list[Scored]) -> None:
    for claim, several in islands.items():
        several[0].settle(found[claim])


def _weights(several: list[Island]) -> np.ndarray:
    """Shares of a claim's children: half for the first island while it rises, little for rest."""
    shares = np.array([max(1, len(several) - 1), *[1] * (len(several) - 1)], float)
    idle = np.array([island.idle >= PATIENCE for island in several])
    return shares / np.sum(shares) * np.where(idle, AT_REST, 1)


def basins(found: Scored, count: int, members: int) -> list[Scored]:
    """Points about the seeds of so many basins, by nearest-better clustering.

    A seed is far from every better point [Preuss 2010]; to it belong the points next to it.
    """
    if not count:
        return []
    pool = found.best(POOL)
    cube = pool.points.cube
    square = np.sum(cube**2, axis=1)
    distance = square[:, None] + square - 2 * cube @ cube.T
    better = np.where(np.tri(len(cube), k=-1, dtype=bool), distance, np.inf)
    seeds = np.argsort(-np.min(better, axis=1), kind="stable")[:count]
    near = np.argsort(distance[seeds], axis=1)[:, :members]
    return [pool.rows(np.sort(rows)) for rows in near]
