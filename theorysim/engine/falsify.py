"""Attacking a theorem: search its space for a violation, shrink it, confirm it with its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine import registry
from theorysim.engine.attack import INFEASIBLE, Scored, Target, search
from theorysim.engine.attack_results import Attack, FalsifyReport
from theorysim.engine.confirm import Confirmation
from theorysim.engine.draw import Settings, parse_settings
from theorysim.engine.redraw import by_redrawing, of_claim
from theorysim.engine.verify import readings_named, verify
from theorysim.errors import UsageError

# Claims of these kinds are decided by many runs together, not by one instance: they are attacked
# by verifying them on ever new draws. So are constants, which may grow along a ladder; after that
# the largest one is searched for.
STATISTICAL = (Kind.WITH_PROBABILITY, Kind.SCALES_AS, Kind.TENDS_TO)

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
    spent: int = 0
    best: tuple[Scored, Confirmation] | None = None
    if claim.kind in STATISTICAL or by_ratio:
        drawn = by_redrawing(theorem, reading, claim, given, budget, seed)
        if drawn.refuted or not by_ratio:
            return drawn
        spent = drawn.evaluations
    for sizes, share in _size_ladder(theorem, settings, given):
        target = Target(theorem, reading, claim, sizes, dict(settings.values), seed, by_ratio)
        confirmation = Confirmation(theorem, reading, claim, Settings(sizes, settings.values), seed)
        for found in search(target, max(1, int(budget * share)), seed):
            hit = None if by_ratio else confirmation.confirmed(found)
            if hit is not None:
                spent += target.evaluations
                return _counterexample(theorem, reading, claim, confirmation.as_json(hit), spent)
            if best is None or np.max(found.ratios) > np.max(best[0].ratios):
                best = found, confirmation
        spent += target.evaluations
    assert best is not None
    return _survived(reading, claim, *best, spent)


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


def _counterexample(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    instance: dict[str, Any],
    evaluations: int,
) -> Attack:
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
    reading: ResolvedReading,
    claim: Claim,
    best: Scored,
    confirmation: Confirmation,
    evaluations: int,
) -> Attack:
    row = int(np.argmax(best.ratios))
    feasible = np.max(best.scores) > INFEASIBLE / 2
    (values,) = confirmation.instances(best.points[row : row + 1])
    ratio = float(np.exp(best.ratios[row])) if np.isfinite(best.ratios[row]) else math.nan
    return Attack(
        reading.name,
        claim.name,
        str(claim.kind),
        refuted=False,
        evaluations=evaluations,
        ratio=ratio,
        ratio_instance=confirmation.as_json(values) if math.isfinite(ratio) else None,
        note="" if feasible else "no feasible point was found",
    )
