"""Searching the closed unit cube of a space for the points that violate claims most.

Counterexamples sit at boundaries, so boundary points come first, then random points, then the
refinement of each claim's elite by steps of many scales, and gradient ascent where the dimension is
high. Every point is scored for all claims.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from theorysim.engine.falsify.objective import ASCENT_STEPS, Objective, Points, Scored
from theorysim.errors import UsageError

ELITE = 32
GENERATION = 512
RANDOM_POINTS = 4096
BOUNDARY_POINTS = 2187  # 3^7: every combination of 0, 1/2, 1 in up to seven dimensions
HIGH_DIMENSION = 30


def boundary_points(dimension: int, rng: np.random.Generator) -> Points:
    """Points with coordinates 0, 1/2 and 1: all of them, or a random choice where too many."""
    if 3**dimension <= BOUNDARY_POINTS:
        return np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=dimension)))
    choice = rng.integers(0, 3, size=(BOUNDARY_POINTS, dimension)) / 2
    choice[:3] = np.array([[0.0], [0.5], [1.0]])
    return choice


def _at_most(points: Points, count: int, rng: np.random.Generator) -> Points:
    """All points, or a random choice of so many: the interior needs its share of a small budget."""
    if len(points) <= count:
        return points
    return points[rng.choice(len(points), count, replace=False)]


def _vary(elite: Points, rng: np.random.Generator, count: int) -> Points:
    """Steps of log-uniform scale on random coordinates, snaps to 0, 1/2, 1, and fresh points."""
    dimension = elite.shape[1]
    parents = elite[rng.integers(0, len(elite), count)]
    scale = 10 ** rng.uniform(-6, 0, size=(count, 1))
    chosen = rng.random((count, dimension)) < rng.choice([0.1, 0.3, 1.0], size=(count, 1))
    chosen[np.arange(count), rng.integers(0, dimension, count)] = True
    children = np.where(chosen, parents + scale * rng.normal(size=parents.shape), parents)
    snapped = rng.random((count, dimension)) < 0.2 * (rng.random((count, 1)) < 0.3)
    children = np.where(snapped, rng.integers(0, 3, size=children.shape) / 2, children)
    fresh = rng.random((count, 1)) < 0.05
    return np.clip(np.where(fresh, rng.random(children.shape), children), 0, 1)


def search(
    objective: Objective, budget: int, seed: int, open_claims: Callable[[], Sequence[int]]
) -> Iterator[list[Scored]]:
    """Each claim's best points so far, after each stage, until the budget of points is spent.

    Only the elites of `open_claims()` are refined; the search ends when there is none.
    """
    if not objective.dimension:
        raise UsageError("the space has no field to search over")
    rng = np.random.default_rng(seed)
    best: list[Scored] | None = None

    def with_scored(points: Points) -> list[Scored]:
        found = objective.score(points)
        known = [Scored.join(*pair) for pair in zip(best, found, strict=True)] if best else found
        return [scored.best(ELITE) for scored in known]

    random = min(RANDOM_POINTS, max(budget // 4, 1))
    boundary = _at_most(boundary_points(objective.dimension, rng), max(budget // 2, 1), rng)
    for points in (boundary, rng.random((random, objective.dimension))):
        best = with_scored(points[: max(1, budget - objective.spent)])
        yield best
        if not open_claims():
            return
    assert best is not None
    for claim in open_claims() if objective.dimension > HIGH_DIMENSION else ():
        if objective.spent + ASCENT_STEPS * ELITE > budget:
            break
        climbed = objective.ascend(best[claim].points[:ELITE], claim)
        if climbed is None:
            break
        best = with_scored(climbed)
        yield best
    while objective.spent < budget and open_claims():
        count = min(GENERATION, budget - objective.spent)
        elites = [best[claim].points[:ELITE] for claim in open_claims()]
        shares = np.bincount(np.arange(count) % len(elites), minlength=len(elites))
        children = [_vary(e, rng, share) for e, share in zip(elites, shares, strict=True)]
        best = with_scored(np.concatenate(children))
        yield best
