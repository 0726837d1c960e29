"""Scoring points of a space's unit cube: by how much they violate each claim of a reading.

Scores order points: feasible ones by relative violation, infeasible ones below all of them by how
far they are from feasible, undefined ones last. One simulation of a point scores it for all claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from theorysim.chunks import Chunked
from theorysim.claims.instance import SizeItems
from theorysim.claims.kinds import Attack, Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import Run
from theorysim.claims.theorem import Theorem
from theorysim.engine.falsify.points import Points, Scored
from theorysim.engine.measure.batch import instance_bytes
from theorysim.engine.measure.declared import sides_with_errors
from theorysim.engine.measure.errors import (
    replace_tolerance_scale,
    runs,
    simulation_keys,
)
from theorysim.engine.measure.making import made_of, no_key
from theorysim.engine.measure.setup import Setup
from theorysim.errors import SizeError
from theorysim.jaxprs.cost import LIBRARIES
from theorysim.jaxprs.fingerprint import fingerprint
from theorysim.jaxprs.structure import contains
from theorysim.jaxprs.waiting import side_by_side, waits
from theorysim.kept import Program, kept_value
from theorysim.memory import chunk_length
from theorysim.threads import threads_for

# Points that are simulated side by side, memory permitting.
CHUNK = 512

# A budget is spent in at least so many chunks, unless they would be shorter than this.
CHUNKS, LEAST_CHUNK = 8, 16

# Steps of this rate cross the cube, whose side is 1, about twice.
ASCENT_STEPS = 64
ASCENT_RATE = 0.03

# Standard errors by which an average must miss before a point is suspected: otherwise the noisiest
# points come first.
NOISE = 3.5

# A strict inequality is suspected where its sides differ by rounding only, and scores so little.
TIE = 64 * float(np.finfo(np.float64).eps)

# The least score of a feasible point, and what lies below all of them.
LEAST = -1.9
INFEASIBLE = -4.0
UNDEFINED = -8.0


def _relative(claim: Claim, lhs: Array, rhs: Array, error: Array) -> Array:
    """Violation beyond an error, relative to the sides, in [-1, 1]; positive where violated.

    Sides of different signs all lie at -1: below it the nearer ones come first. Least where both
    sides are zero, which says nothing: such points would crowd out those where a bound is nearly
    attained.
    """
    scale, room = jnp.abs(lhs) + jnp.abs(rhs), claim.slack(lhs, rhs)
    relative = (-room - error) / jnp.where(scale > 0, scale, 1)
    distance = jnp.maximum(room, 0)
    apart = -1 - (-1 - LEAST) * distance / (1 + distance)
    return jnp.where(scale == 0, LEAST, jnp.where(relative <= -1, apart, relative))


def _log_ratio(claim: Claim, lhs: Array, rhs: Array) -> Array:
    bounded, bound = claim.bounded_and_bound(lhs, rhs)
    positive = (bounded > 0) & (bound > 0)
    safe = jnp.where(positive, bounded, 1) / jnp.where(positive, bound, 1)
    return jnp.where(positive, jnp.log(safe), -jnp.inf)


def _goal(claim: Claim, run: Run) -> tuple[Array, Array]:
    """What the search maximises for a claim, at least LEAST, and the log of lhs/rhs.

    That is the violation; of a constant, which nothing violates at one instance, its size. Points
    without a number are passed over, as long as there are others, and so are those where the sides
    are equal: the start of a path often is, at every instance, and hides how near the others come.
    """
    lhs, rhs, errors = sides_with_errors(claim, run)
    applies = claim.applies(run, lhs.shape)
    relative = _relative(claim, lhs, rhs, errors.limit + NOISE * errors.sampling)
    log_ratio = _log_ratio(claim, lhs, rhs)
    known = applies & ~jnp.isnan(relative) & ~jnp.isnan(log_ratio)
    ratio = jnp.max(jnp.where(known, log_ratio, -jnp.inf), initial=-jnp.inf)
    apart = known & (relative != 0)
    counted = jnp.where(jnp.any(apart), apart, known)
    goal = jnp.max(jnp.where(counted, relative, LEAST), initial=LEAST)
    if claim.strict:
        ties = known & (jnp.abs(lhs - rhs) <= TIE * jnp.maximum(jnp.abs(lhs) + jnp.abs(rhs), 1))
        goal = jnp.where(jnp.any(ties), jnp.maximum(goal, TIE), goal)
    if claim.attack is Attack.ENLARGE:
        goal = jnp.tanh(jnp.maximum(ratio, -50) / 50)
    undefined = jnp.any(applies) & ~jnp.any(known)
    return jnp.where(undefined, jnp.nan, goal), ratio


class _Scoring(NamedTuple):
    """How the claims of a reading are scored at fixed sizes.

    `score` takes points, `climb` moves them uphill in the score of one claim. So many are worth
    simulating `side_by_side`, in so many `threads`; `computation` is the fingerprint of the score.
    """

    score: Program
    climb: Program
    side_by_side: int
    threads: int
    computation: str


@lru_cache(maxsize=256)
def _scoring(
    theorem: Theorem, reading: ResolvedReading, claims: tuple[Claim, ...], sizes: SizeItems
) -> _Scoring:
    size_map = dict(sizes)

    def one(u: Any, fixed: dict, key_data: Any) -> tuple[Array, Array]:
        x = theorem.space.decode(u, size_map).replace(**fixed)
        margin = reading.margin(x)
        x = replace_tolerance_scale(x, 1.0 if theorem.integrates else jnp.nan)
        keys = simulation_keys(jax.random.wrap_key_data(key_data), theorem.keys)
        run = runs((reading,), x, keys)[reading.name]
        goals, ratios = map(jnp.stack, zip(*(_goal(claim, run) for claim in claims), strict=True))
        outside = jnp.where(jnp.isnan(margin), UNDEFINED, INFEASIBLE + jnp.tanh(margin))
        scores = jnp.where(margin >= 0, goals, outside)
        scores = jnp.where(jnp.isnan(scores), UNDEFINED, scores)
        return scores, jnp.where(margin >= 0, ratios, -jnp.inf)

    def traits() -> tuple[int, bool, str]:
        origin = jnp.zeros(theorem.space.dimension(size_map))
        whole = jax.make_jaxpr(one)(origin, {}, no_key())
        several = side_by_side(waits(whole.jaxpr), CHUNK)
        return several, contains(whole.jaxpr, LIBRARIES), fingerprint(whole)

    across = jax.vmap(one, in_axes=(0, None, 0))
    uphill = jax.vmap(partial(_climb, one), in_axes=(0, None, None, 0))
    names = [claim.name for claim in claims]
    known_by = partial(made_of, theorem, (reading,), sizes, names)
    several, calls_libraries, computation = kept_value(known_by("score"), "traits", traits)
    return _Scoring(
        Program(lambda rows, fixed: across(rows[0], fixed, rows[1]), known_by("score")),
        Program(lambda rows, *given: uphill(rows[0], *given, rows[1]), known_by("climb")),
        several,
        threads_for(calls_libraries),
        computation,
    )


def _climb(score: Callable, u: Array, claim: Array, *arguments: Any) -> Array:
    """A point after gradient ascent in the score of one claim, within the cube."""
    optimiser = optax.adam(ASCENT_RATE)

    def step(state: tuple, _: None) -> tuple:
        u, memory = state
        slope = jax.grad(lambda u: -score(u, *arguments)[0][claim])(u)
        slope = jnp.nan_to_num(slope, posinf=0.0, neginf=0.0)
        updates, memory = optimiser.update(slope, memory)
        return (jnp.clip(u + jnp.asarray(updates), 0, 1), memory), None

    return jax.lax.scan(step, (u, optimiser.init(u)), None, length=ASCENT_STEPS)[0][0]


class Objective:
    """Claims of one reading at fixed sizes: what is scored, and how many points were.

    `evaluations` counts the points at which the hypotheses hold and some claim gave a number,
    `spent` all of them and the steps of gradient ascent. Objectives of equal `computation` score
    every point alike. With a small `budget` few points are simulated side by side: a chunk that is
    not filled costs as much as a full one.
    """

    def __init__(self, setup: Setup, claims: Sequence[Claim], budget: int):
        theorem, settings = setup.theorem, setup.settings
        (reading,) = setup.readings
        self.dimension = theorem.space.dimension(settings.sizes)
        self.evaluations = 0
        self.spent = 0
        scoring = _scoring(theorem, reading, tuple(claims), settings.size_items)
        self.computation = scoring.computation
        self._fixed = dict(settings.values)
        need = instance_bytes(theorem, (reading,), settings.sizes)
        wanted = min(scoring.side_by_side, max(LEAST_CHUNK, budget // CHUNKS))
        chunk = chunk_length(need, wanted, str(setup))
        self._score = Chunked(scoring.score, chunk, str(setup), scoring.threads)
        self._climb = Chunked(scoring.climb, chunk, str(setup))  # of other operations

    def score(self, points: Points) -> list[Scored]:
        """Any number of points scored for each claim, in chunks of one compiled length."""
        scores, ratios = self._score((points.cube, points.keys), self._fixed)
        self.evaluations += int(np.sum(np.max(scores, axis=1) > INFEASIBLE / 2))
        self.spent += len(points)
        return [Scored(points, *both) for both in zip(scores.T, ratios.T, strict=True)]

    def ascend(self, points: Points, claim: int) -> Points | None:
        """Points after gradient ascent in the score of one claim.

        None without a gradient, or without the memory for one, which keeps all steps of a run.
        """
        try:
            climbed = self._climb((points.cube, points.keys), claim, self._fixed)
        except (ValueError, SizeError):  # a loop of traced length has no reverse derivative
            return None
        self.spent += ASCENT_STEPS * len(points)
        return Points(climbed, points.keys)
