"""Attacking a theorem: search for violations of its claims, draw anew where many runs decide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import jax

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine import registry
from theorysim.engine.falsify.attack import Pursuit, pursue
from theorysim.engine.falsify.report import Attack, FalsifyReport
from theorysim.engine.falsify.resample import by_redrawing
from theorysim.engine.measure.draw import Settings, check_seed, parse_settings
from theorysim.engine.verify.verify import readings_named
from theorysim.errors import UsageError

# Claims of these kinds are decided by many runs together, not by one instance: they are attacked
# by verifying them on ever new draws. So are constants, which may grow along a ladder; after that
# the largest one is searched for.
STATISTICAL = (Kind.WITH_PROBABILITY, Kind.SCALES_AS, Kind.TENDS_TO)
CONSTANT = Kind.EXISTS_CONSTANT

DEFAULT_BUDGET = 20_000

Progress = Callable[[int, int], None]


def falsify(
    theorem: Theorem | str,
    *,
    claim: str | Collection[str] | None = None,
    reading: str | None = None,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> FalsifyReport:
    """Search for instances that violate a theorem's claims subject to its hypotheses.

    The claims of a reading are searched together: each point is scored for all of them.

    Args:
        theorem: a theorem or its id.
        claim, reading: attack only these: one claim or several, one reading.
        budget: points to try per reading (and runs, where claims are drawn anew).
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
    check_seed(seed)
    with jax.enable_x64(True):
        fixed = parse_settings(theorem, settings or {})
        chosen = readings_named(theorem, reading, claim)
        total = sum(len(r.claims) for r in chosen)
        attacks: list[Attack] = []
        for r in chosen:
            attacks += _attacks(theorem, r, fixed, settings or {}, budget, seed)
            if progress is not None:
                progress(len(attacks), total)
    primary = theorem.primary().name
    return FalsifyReport(theorem.id, theorem.title, seed, budget, tuple(attacks), primary)


def _attacks(
    theorem: Theorem,
    reading: ResolvedReading,
    settings: Settings,
    given: Mapping[str, Any],
    budget: int,
    seed: int,
) -> list[Attack]:
    """One attack per claim of a reading."""
    claims = reading.claims
    drawn = [claim for claim in claims if claim.kind in STATISTICAL or claim.kind is CONSTANT]
    attacks: dict[Claim, Attack] = {}
    if drawn:
        attacks = by_redrawing(theorem, reading, drawn, given, budget, seed)
    searched = [claim for claim in claims if claim.kind not in STATISTICAL]
    pursuits = [
        Pursuit(theorem, reading, claim, attacks.get(claim))
        for claim in searched
        if claim not in attacks or not attacks[claim].refuted
    ]
    pursue(pursuits, settings, given, budget, seed)
    attacks |= {pursuit.claim: pursuit.outcome() for pursuit in pursuits}
    return [attacks[claim] for claim in claims]
