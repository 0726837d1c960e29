"""Attacking claims that many runs decide together: verifying them on ever new draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.attack_results import Attack
from theorysim.engine.results import ClaimReport, Report
from theorysim.engine.verify import verify


def by_redrawing(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    given: Mapping[str, Any],
    budget: int,
    seed: int,
) -> Attack:
    """Verify on fresh draws, seed after seed, until a violation comes back or the budget ends."""
    rungs = max(1, sum(len(r) for r in claim.ladders.values()))
    cost = theorem.instances * theorem.keys * rungs
    rounds = max(1, budget // cost)
    for attempt in range(rounds):
        report = verify(theorem, reading=reading.name, seed=seed + attempt, settings=given)
        found = of_claim(report, claim)
        if found.verdict == "violated" and _replicated(
            theorem, reading, claim, found, given, seed + rounds + attempt
        ):
            return Attack(
                reading.name,
                claim.name,
                str(claim.kind),
                refuted=True,
                evaluations=(attempt + 1) * cost,
                lhs=found.lhs,
                rhs=found.rhs,
                slack=found.slack,
                error=found.error,
                instance=found.worst_instance,
                note=found.note,
            )
    return Attack(
        reading.name,
        claim.name,
        str(claim.kind),
        refuted=False,
        evaluations=rounds * cost,
        note="decided by many runs together; drawn anew instead of searched",
    )


def _replicated(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    found: ClaimReport,
    given: Mapping[str, Any],
    seed: int,
) -> bool:
    """Whether a violation comes back with fresh draws.

    A verdict is a test with some chance of a false alarm, and redrawing repeats it hundreds of
    times. A printed probability is tried again on its own instance with fresh keys.
    """
    if claim.kind is Kind.WITH_PROBABILITY and found.worst_instance is not None:
        instance = {k: v for k, v in found.worst_instance.items() if k != "key"}
        report = verify(theorem, reading=reading.name, seed=seed, instance=instance)
    else:
        report = verify(theorem, reading=reading.name, seed=seed, settings=given)
    return of_claim(report, claim).verdict == "violated"


def of_claim(report: Report, claim: Claim) -> ClaimReport:
    """What a report on one reading says of a claim."""
    return next(c for c in report.readings[0].claims if c.name == claim.name)
