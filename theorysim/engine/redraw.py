"""Attacking claims that many runs decide together: verifying them on ever new draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.attack_results import Attack, decisive_numbers
from theorysim.engine.results import ClaimReport, Report
from theorysim.engine.verify import verify


def by_redrawing(
    theorem: Theorem,
    reading: ResolvedReading,
    claims: Sequence[Claim],
    given: Mapping[str, Any],
    budget: int,
    seed: int,
) -> dict[Claim, Attack]:
    """Verify on fresh draws, seed after seed, until each is refuted or the budget of runs ends."""
    instances = {claim: _instances(theorem, claim) for claim in claims}
    rounds = max(1, budget // (max(instances.values()) * theorem.keys))

    def attack(claim: Claim, rounds: int, **outcome: Any) -> Attack:
        measured = rounds * instances[claim]
        runs = measured * theorem.keys
        kind = str(claim.kind)
        return Attack(reading.name, claim.name, kind, evaluations=measured, runs=runs, **outcome)

    refuted: dict[Claim, Attack] = {}
    for done in range(rounds):
        if len(refuted) == len(claims):
            break
        report = verify(theorem, reading=reading.name, seed=seed + done, settings=given)
        for claim in set(claims) - set(refuted):
            found = of_claim(report, claim)
            if found.verdict == "violated" and _replicated(
                theorem, reading, claim, found, given, seed + rounds + done
            ):
                refuted[claim] = attack(
                    claim,
                    done + 1,
                    refuted=True,
                    **decisive_numbers(found),
                    instance=found.worst_instance,
                    note=found.note,
                )
    note = "decided by many runs together; drawn anew instead of searched"
    stood = {claim: attack(claim, rounds, refuted=False, note=note) for claim in claims}
    return stood | refuted


def _instances(theorem: Theorem, claim: Claim) -> int:
    """Instances, on all rungs, that one verification of a claim measures."""
    return theorem.instances * max(1, sum(len(rungs) for rungs in claim.ladders.values()))


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
