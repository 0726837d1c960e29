"""Attacking a theorem: search for violations of its claims, draw anew where many runs decide."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from theorysim.claims.kinds import Attack as Way
from theorysim.claims.kinds import Claim
from theorysim.claims.theorem import Theorem
from theorysim.counts import checked_count, checked_seed
from theorysim.engine import registry
from theorysim.engine.falsify.attack import ClaimSearch, search_claims
from theorysim.engine.falsify.report import Attack, FalsifyReport
from theorysim.engine.falsify.resample import by_resampling
from theorysim.engine.falsify.search import check_budget
from theorysim.engine.measure.setup import Setup, parse_settings, refuse_experiment, select_readings
from theorysim.precision import in_precision
from theorysim.progress import Progress, silent

DEFAULT_BUDGET = 20_000


def falsify(
    theorem: Theorem | str,
    *,
    claim: str | Collection[str] | None = None,
    reading: str | None = None,
    budget: int = DEFAULT_BUDGET,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> FalsifyReport:
    """Search for instances that violate a theorem's claims subject to its hypotheses.

    The claims of a reading are searched together: each point is scored for all of them.

    Args:
        theorem: a theorem or its id.
        claim, reading: attack only these: one claim or several, one reading.
        budget: points to try per reading (and runs, where claims are drawn anew).
        seed: seed of the search; equal seeds give equal reports.
        settings: sizes and field values to keep fixed.
        progress: called with the attacked claims, all of them, and what is being done.

    Raises:
        UsageError: for an unknown id, name or value, with the remedy.
        SizeError: where the points of the budget, or one instance, do not fit into memory.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem)
    refuse_experiment(theorem, "attacked")
    budget = checked_count(budget, f"budget {budget!r}")
    seed = checked_seed(seed)
    with in_precision(double=True):
        fixed = parse_settings(theorem, settings or {})
        chosen = select_readings(theorem, reading, claim)
        setups = [Setup(theorem, (r,), fixed, seed) for r in chosen]
        for setup in setups:
            check_budget(setup, budget)
        total = sum(len(r.claims) for r in chosen)
        attacks: list[Attack] = []
        for r, setup in zip(chosen, setups, strict=True):
            progress(len(attacks), total, f"attacking {r.name}")
            attacks += _attacks(setup, settings or {}, budget)
    primary = theorem.primary().name
    return FalsifyReport(theorem.id, theorem.title, seed, budget, tuple(attacks), primary)


def _attacks(setup: Setup, given: Mapping[str, Any], budget: int) -> list[Attack]:
    """One attack per claim of the reading that is set up."""
    (reading,) = setup.readings
    claims = reading.claims
    resampled = [claim for claim in claims if claim.attack is not Way.SEARCH]
    attacks: dict[Claim, Attack] = {}
    if resampled:
        attacks = by_resampling(setup, resampled, given, budget)
    searches = [
        ClaimSearch(setup, claim, attacks.get(claim))
        for claim in claims
        if claim.attack is not Way.RESAMPLE and (claim not in attacks or not attacks[claim].refuted)
    ]
    search_claims(setup, searches, given, budget)
    attacks |= {search.claim: search.outcome() for search in searches}
    return [attacks[claim] for claim in claims]
