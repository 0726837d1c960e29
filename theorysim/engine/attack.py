"""Searching the closed unit cube of a space for the point that violates a claim most.

Counterexamples sit at boundaries, so boundary points come first, then random points, then the
refinement of an elite by steps of many scales, and gradient ascent where the dimension is high.
Scores order points: feasible ones by relative violation, infeasible ones below all of them by how
far they are from feasible, undefined ones last.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.draw import SizeItems
from theorysim.engine.measure import replace_coarsening, runs, sides
from theorysim.engine.measure_many import instance_bytes
from theorysim.engine.memory import chunk_length
from theorysim.errors import UsageError

Points = Float[np.ndarray, "points dimension"]

ELITE = 32
GENERATION = 512
RANDOM_POINTS = 4096
BOUNDARY_POINTS = 2187  # 3^7: every combination of 0, 1/2, 1 in up to seven dimensions
HIGH_DIMENSION = 30
ASCENT_STEPS = 64
ASCENT_RATE = 0.03

# Below every score of a feasible point, which lies in [-1, 1].
INFEASIBLE = -4.0
UNDEFINED = -8.0


@dataclass(frozen=True)
class Scored:
    """Points of the cube, best first, with scores (relative violation) and log lhs/rhs."""

    points: Points
    scores: np.ndarray
    ratios: np.ndarray

    def best(self, count: int) -> Scored:
        """The best few, without repetitions of a point."""
        _, first = np.unique(self.points, axis=0, return_index=True)
        order = first[np.argsort(-self.scores[first], kind="stable")][:count]
        return Scored(self.points[order], self.scores[order], self.ratios[order])

    @staticmethod
    def joined(*parts: Scored) -> Scored:
        """All points of several parts."""
        fields = [
            np.concatenate(f)
            for f in zip(*((p.points, p.scores, p.ratios) for p in parts), strict=True)
        ]
        return Scored(*fields)


def _relative(claim: Claim, lhs: Array, rhs: Array) -> Array:
    """Violation relative to the sides, in [-1, 1]; positive where violated."""
    excess = rhs - lhs if claim.kind in (Kind.AT_LEAST, Kind.DECREASING) else lhs - rhs
    if claim.kind is Kind.EQUAL:
        excess = jnp.abs(excess)
    scale = jnp.abs(lhs) + jnp.abs(rhs)
    return jnp.where(scale > 0, excess / jnp.where(scale > 0, scale, 1), 0)


def _log_ratio(claim: Claim, lhs: Array, rhs: Array) -> Array:
    if claim.kind in (Kind.AT_LEAST, Kind.DECREASING):
        lhs, rhs = rhs, lhs
    positive = (lhs > 0) & (rhs > 0)
    safe = jnp.where(positive, lhs, 1) / jnp.where(positive, rhs, 1)
    return jnp.where(positive, jnp.log(safe), -jnp.inf)


@lru_cache(maxsize=256)
def _scoring_program(theorem: Theorem, reading: ResolvedReading, claim: Claim, sizes: SizeItems):
    size_map = dict(sizes)

    def score(u: Any, fixed: dict, key_data: Any, by_ratio: Any) -> tuple[Array, Array]:
        x = theorem.space.decode(u, size_map).replace(**fixed)
        margins = [jnp.min(jnp.asarray(m(x), float)) for m in reading.hypotheses.values()]
        margin = jnp.min(jnp.stack(margins)) if margins else jnp.ones(())
        x = replace_coarsening(x, 1.0 if theorem.integrates else jnp.nan)
        keys = jax.random.split(jax.random.wrap_key_data(key_data), theorem.keys)
        run = runs((reading,), x, keys)[reading.name]
        lhs, rhs = sides(claim, run)
        given = jnp.ones(lhs.shape, bool)
        if claim.given is not None:
            given = jnp.broadcast_to(jnp.asarray(claim.given(run)) >= 0, lhs.shape)
        violation = jnp.max(jnp.where(given, _relative(claim, lhs, rhs), -1), initial=-1)
        ratio = jnp.max(jnp.where(given, _log_ratio(claim, lhs, rhs), -jnp.inf), initial=-jnp.inf)
        goal = jnp.where(by_ratio, jnp.tanh(jnp.maximum(ratio, -50) / 50), violation)
        outside = INFEASIBLE + jnp.tanh(margin)
        total = jnp.where(margin >= 0, goal, jnp.where(jnp.isnan(margin), UNDEFINED, outside))
        known = ~jnp.isnan(total)
        return jnp.where(known, total, UNDEFINED), jnp.where(margin >= 0, ratio, -jnp.inf)

    return jax.jit(jax.vmap(score, in_axes=(0, None, None, None))), score


class Target:
    """One claim of one reading at fixed sizes: what is evaluated, and how often it was."""

    def __init__(
        self,
        theorem: Theorem,
        reading: ResolvedReading,
        claim: Claim,
        sizes: dict[str, int],
        fixed: dict[str, np.ndarray],
        seed: int,
        by_ratio: bool,
    ):
        self.dimension = theorem.space.dimension(sizes)
        self.evaluations = 0
        items = tuple(sizes.items())
        self._batch, self._single = _scoring_program(theorem, reading, claim, items)
        self._arguments = (
            fixed,
            np.asarray(jax.random.key_data(jax.random.key(seed))),
            np.asarray(by_ratio),
        )
        what = f"{theorem.id} with " + ", ".join(f"{k} = {v}" for k, v in items)
        need = instance_bytes(theorem, (reading,), sizes)
        self.chunk = chunk_length(need, GENERATION, what)

    def scored(self, points: Points) -> Scored:
        """Scores of any number of points, in chunks of one compiled length."""
        scores, ratios = [], []
        for start in range(0, len(points), self.chunk):
            rows = np.minimum(np.arange(start, start + self.chunk), len(points) - 1)
            score, ratio = self._batch(points[rows], *self._arguments)
            kept = min(self.chunk, len(points) - start)
            scores.append(np.asarray(score)[:kept])
            ratios.append(np.asarray(ratio)[:kept])
        self.evaluations += len(points)
        return Scored(points, np.concatenate(scores), np.concatenate(ratios))

    def ascended(self, points: Points) -> Points | None:
        """Points after gradient ascent from the given ones; None where there is no gradient."""
        optimiser = optax.adam(ASCENT_RATE)

        def climb(u: Array) -> Array:
            def step(state: tuple, _: None) -> tuple:
                u, memory = state
                slope = jax.grad(lambda u: -self._single(u, *self._arguments)[0])(u)
                slope = jnp.nan_to_num(slope, posinf=0.0, neginf=0.0)
                updates, memory = optimiser.update(slope, memory)
                return (jnp.clip(u + jnp.asarray(updates), 0, 1), memory), None

            return jax.lax.scan(step, (u, optimiser.init(u)), None, length=ASCENT_STEPS)[0][0]

        try:
            climbed = jax.jit(jax.vmap(climb))(points)
        except ValueError:  # a loop of traced length has no reverse derivative
            return None
        self.evaluations += ASCENT_STEPS * len(points)
        return np.asarray(climbed)


def boundary_points(dimension: int, rng: np.random.Generator) -> Points:
    """Points with coordinates 0, 1/2 and 1: all of them, or a random choice where too many."""
    if 3**dimension <= BOUNDARY_POINTS:
        return np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=dimension)))
    choice = rng.integers(0, 3, size=(BOUNDARY_POINTS, dimension)) / 2
    choice[:3] = np.array([[0.0], [0.5], [1.0]])
    return choice


def _mutated(elite: Scored, rng: np.random.Generator, count: int) -> Points:
    """Steps of log-uniform scale on random coordinates, snaps to 0, 1/2, 1, and fresh points."""
    dimension = elite.points.shape[1]
    parents = elite.points[rng.integers(0, len(elite.points), count)]
    scale = 10 ** rng.uniform(-6, 0, size=(count, 1))
    chosen = rng.random((count, dimension)) < rng.choice([0.1, 0.3, 1.0], size=(count, 1))
    chosen[np.arange(count), rng.integers(0, dimension, count)] = True
    children = np.where(chosen, parents + scale * rng.normal(size=parents.shape), parents)
    snapped = rng.random((count, dimension)) < 0.2 * (rng.random((count, 1)) < 0.3)
    children = np.where(snapped, rng.integers(0, 3, size=children.shape) / 2, children)
    fresh = rng.random((count, 1)) < 0.05
    return np.clip(np.where(fresh, rng.random(children.shape), children), 0, 1)


def search(target: Target, budget: int, seed: int) -> Iterator[Scored]:
    """The best points so far, after each stage, until `budget` evaluations are spent."""
    if not target.dimension:
        raise UsageError("the space has no field to search over")
    rng = np.random.default_rng(seed)
    starts = [boundary_points(target.dimension, rng)]
    starts.append(rng.random((min(RANDOM_POINTS, max(budget // 4, 1)), target.dimension)))
    best: Scored | None = None
    for points in starts:
        points = points[: max(1, budget - target.evaluations)]
        found = target.scored(points)
        best = found.best(ELITE) if best is None else Scored.joined(best, found).best(ELITE)
        yield best
    assert best is not None
    if target.dimension > HIGH_DIMENSION and target.evaluations < budget:
        climbed = target.ascended(best.points)
        if climbed is not None:
            best = Scored.joined(best, target.scored(climbed)).best(ELITE)
            yield best
    while target.evaluations < budget:
        count = min(GENERATION, budget - target.evaluations)
        best = Scored.joined(best, target.scored(_mutated(best, rng, count))).best(ELITE)
        yield best
