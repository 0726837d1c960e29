"""Attacking a theorem: search its space for a violation, shrink it, confirm it with its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.space import Instance
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine import registry
from theorysim.engine.attack import INFEASIBLE, Scored, Target, search
from theorysim.engine.attack_results import Attack, FalsifyReport
from theorysim.engine.draw import Settings, SizeItems, parse_settings
from theorysim.engine.judge import violated_rows
from theorysim.engine.judge_points import slack, tabulate
from theorysim.engine.measure_many import instance_bytes, measured
from theorysim.engine.memory import chunk_length
from theorysim.engine.redraw import by_redrawing, of_claim
from theorysim.engine.shrink import Values, shrunk
from theorysim.engine.verify import readings_named, verify
from theorysim.errors import UsageError

# Claims of these kinds are decided by many runs together, not by one instance: they are attacked
# by verifying them on ever new draws. So are constants, which may grow along a ladder; after that
# the largest one is searched for.
STATISTICAL = (Kind.WITH_PROBABILITY, Kind.SCALES_AS, Kind.TENDS_TO)

# A search picks the worst rounding of thousands of points, while the measured one comes from a few
# lanes: over all true statements it lay up to 2.3 times below a difference that was found.
SEARCH_HEADROOM = 10.0

# How many of the best points are confirmed by a full measurement.
CONFIRMED = 16
# A simpler counterexample must keep this share of the relative violation.
KEPT_SHARE = 0.1
# Share of the budget for the smallest sizes, before the theorem's own.
SMALL_SHARE = 0.5

DEFAULT_BUDGET = 20_000

Progress = Callable[[int, int], None]


def falsify(
    theorem: Theorem | str,
    *,
    claim: str | None = None,
    reading: str | None = None,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> FalsifyReport:
    """Search for instances that violate a theorem's claims subject to its hypotheses.

    Args:
        theorem: a theorem or its id.
        claim, reading: attack only these.
        budget: evaluations per claim.
        seed: seed of the search; equal seeds give equal reports.
        settings: sizes and field values to keep fixed.
        progress: called with (attacked, total) claims.

    Raises:
        UsageError: for an unknown id, name or value, with the remedy.
    """
    if isinstance(theorem, str):
        theorem = registry.load(registry.find(theorem))
    if budget < 1:
        raise UsageError(f"budget {budget}: expected at least 1")
    with jax.enable_x64(True):
        fixed = parse_settings(theorem, settings or {})
        chosen = readings_named(theorem, reading)
        targets = [(r, c) for r in chosen for c in r.claims if claim in (None, c.name)]
        if not targets:
            names = sorted({c.name for r in chosen for c in r.claims})
            raise UsageError(f"{theorem.id} has no claim {claim!r}; it has {names}")
        attacks = []
        for done, (r, c) in enumerate(targets):
            attacks.append(_attack(theorem, r, c, fixed, settings or {}, budget, seed))
            if progress is not None:
                progress(done + 1, len(targets))
    primary = theorem.primary().name
    return FalsifyReport(theorem.id, theorem.title, seed, budget, tuple(attacks), primary)


def _attack(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    settings: Settings,
    given: Mapping[str, Any],
    budget: int,
    seed: int,
) -> Attack:
    by_ratio = claim.kind is Kind.EXISTS_CONSTANT
    spent, best, best_sizes = 0, None, settings.sizes
    if claim.kind in STATISTICAL or by_ratio:
        drawn = by_redrawing(theorem, reading, claim, given, budget, seed)
        if drawn.refuted or not by_ratio:
            return drawn
        spent = drawn.evaluations
    for sizes, share in _size_ladder(theorem, settings, given):
        tried: set[bytes] = set()
        target = Target(theorem, reading, claim, sizes, dict(settings.values), seed, by_ratio)
        for found in search(target, max(1, int(budget * share)), seed):
            positive = _untried(found, tried)
            if not by_ratio and len(positive):
                hit = _confirmed(theorem, reading, claim, sizes, settings, positive, seed)
                if hit is not None:
                    spent += target.evaluations
                    return _counterexample(theorem, reading, claim, sizes, hit, seed, spent)
            if best is None or np.max(found.ratios) > np.max(best.ratios):
                best, best_sizes = found, sizes
        spent += target.evaluations
    assert best is not None
    return _survived(theorem, reading, claim, best_sizes, settings, best, seed, spent)


def _size_ladder(
    theorem: Theorem, settings: Settings, given: Mapping[str, Any]
) -> Iterator[tuple[dict[str, int], float]]:
    """Sizes to search with their share of the budget: the smallest first, then the own ones."""
    own = dict(settings.sizes)
    small = {
        name: own[name] if name in given else min(own[name], max(size.low, 2))
        for name, size in theorem.space.sizes.items()
    }
    if small != own:
        yield small, SMALL_SHARE
        yield own, 1 - SMALL_SHARE
    else:
        yield own, 1.0


def _untried(found: Scored, tried: set[bytes]) -> np.ndarray:
    """The best violating points that were not measured before, which they are from now on."""
    violating = found.points[found.scores > 0]
    new = [point for point in violating if point.tobytes() not in tried][:CONFIRMED]
    tried.update(point.tobytes() for point in new)
    return np.array(new)


@lru_cache(maxsize=64)
def _decoding_program(theorem: Theorem, sizes: SizeItems) -> Callable:
    return jax.jit(jax.vmap(lambda u: theorem.space.decode(u, dict(sizes)).values))


@lru_cache(maxsize=64)
def _feasibility_program(reading: ResolvedReading) -> Callable:
    """Whether stacked instances satisfy every hypothesis; NaN does not."""

    def feasible(x: Instance) -> Array:
        met = [jnp.all(jnp.asarray(margin(x)) >= 0) for margin in reading.hypotheses.values()]
        return jnp.all(jnp.stack(met)) if met else jnp.asarray(True)

    return jax.jit(jax.vmap(feasible))


def _instances(
    theorem: Theorem, sizes: Mapping[str, int], settings: Settings, points: np.ndarray
) -> list[Values]:
    """Field values of at most CONFIRMED points of the cube."""
    decode = _decoding_program(theorem, tuple(sizes.items()))
    padded = points[np.minimum(np.arange(CONFIRMED), len(points) - 1)]  # one compiled length
    stacked = {name: np.asarray(value) for name, value in decode(padded).items()}
    values = [{k: np.asarray(v[row]) for k, v in stacked.items()} for row in range(len(points))]
    return [{**one, **settings.values} for one in values]


def _stacked(sizes: Mapping[str, int], candidates: list[Values] | tuple) -> Instance:
    values = {name: np.stack([c[name] for c in candidates]) for name in candidates[0]}
    return Instance(values, tuple(sizes.items()), np.ones(len(candidates)))


@dataclass(frozen=True)
class _Measured:
    """Full measurements of candidates: whether each is a confirmed violation, and by how much."""

    violated: np.ndarray
    relative: np.ndarray


def _key(seed: int) -> np.ndarray:
    return np.asarray(jax.random.key_data(jax.random.key(seed)))


def _measure_candidates(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    sizes: Mapping[str, int],
    candidates: list[Values],
    seed: int,
) -> _Measured:
    """Measure in batches of one length, so that every pass runs the same compiled program."""
    need = instance_bytes(theorem, (reading,), sizes)
    chunk = chunk_length(need, CONFIRMED, theorem.id)
    padded = candidates + [candidates[-1]] * (-len(candidates) % chunk)
    x = _stacked(sizes, padded)
    keys = np.tile(_key(seed), (len(padded), 1))
    settings = Settings(sizes, {})
    m = measured(theorem, (reading,), settings, x, keys, chunk)[reading.name][claim.name]
    feasible = np.asarray(_feasibility_program(reading)(x))
    points = tabulate(m)
    with np.errstate(invalid="ignore", divide="ignore"):
        room = slack(claim.kind, points.lhs, points.rhs)
        relative = np.where(points.given & (points.scale > 0), -room / points.scale, -1)
    kept = slice(0, len(candidates))
    blurred = replace(m, rounding=SEARCH_HEADROOM * m.rounding)
    violated = violated_rows(claim, blurred) & feasible
    known = np.where(np.isnan(relative), -np.inf, relative)
    return _Measured(violated[kept], np.max(known, axis=1)[kept])


def _confirmed(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    sizes: Mapping[str, int],
    settings: Settings,
    positive: np.ndarray,
    seed: int,
) -> Values | None:
    """The shrunk form of the best point that a full measurement confirms as a violation."""
    candidates = _instances(theorem, sizes, settings, positive)
    outcome = _measure_candidates(theorem, reading, claim, sizes, candidates, seed)
    if not outcome.violated.any():
        return None
    row = int(np.argmax(np.where(outcome.violated, outcome.relative, -np.inf)))
    floor = KEPT_SHARE * outcome.relative[row]

    def violates(candidates: Any) -> np.ndarray:
        again = _measure_candidates(theorem, reading, claim, sizes, list(candidates), seed)
        fixed = [
            all(np.array_equal(c[name], value) for name, value in settings.values.items())
            for c in candidates
        ]
        return again.violated & (again.relative >= floor) & np.array(fixed)

    return shrunk(theorem.space, sizes, candidates[row], violates)


def _as_json(theorem: Theorem, sizes: Mapping[str, int], values: Values, seed: int) -> dict:
    data = theorem.space.to_json(Instance(dict(values), tuple(sizes.items())))
    return {"theorem": theorem.id, **data, "key": _key(seed).tolist()}


def _counterexample(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    sizes: Mapping[str, int],
    values: Values,
    seed: int,
    evaluations: int,
) -> Attack:
    instance = _as_json(theorem, sizes, values, seed)
    replay = verify(theorem, reading=reading.name, instance=instance)
    found = of_claim(replay, claim)
    return Attack(
        reading.name,
        claim.name,
        str(claim.kind),
        refuted=True,
        evaluations=evaluations,
        lhs=found.lhs,
        rhs=found.rhs,
        slack=found.slack,
        error=found.error,
        instance=instance,
    )


def _survived(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    sizes: Mapping[str, int],
    settings: Settings,
    best: Scored,
    seed: int,
    evaluations: int,
) -> Attack:
    row = int(np.argmax(best.ratios))
    feasible = np.max(best.scores) > INFEASIBLE / 2
    (values,) = _instances(theorem, sizes, settings, best.points[row : row + 1])
    ratio = float(np.exp(best.ratios[row])) if np.isfinite(best.ratios[row]) else math.nan
    return Attack(
        reading.name,
        claim.name,
        str(claim.kind),
        refuted=False,
        evaluations=evaluations,
        ratio=ratio,
        ratio_instance=_as_json(theorem, sizes, values, seed) if math.isfinite(ratio) else None,
        note="" if feasible else "no feasible point was found",
    )
