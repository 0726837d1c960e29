"""Attacking claims that many runs decide together: verifying them on ever new draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.falsify.report import Attack, decisive_numbers
from theorysim.engine.verify.report import ClaimReport, Report
from theorysim.engine.verify.verify import verify


def by_redrawing(
    theorem: Theorem,
    reading: ResolvedReading,
    claims: Sequence[Claim],
    given: Mapping[str, Any],
    budget: int,
    seed: int,
) -> dict[Claim, Attack]:
    """Verify on fresh draws, seed after seed, until each is refuted or the budget of runs ends.

    Claims without a ladder are verified apart from the others, so that none is climbed for them.
    """
    groups = [[c for c in claims if bool(c.ladders) is climbs] for climbs in (False, True)]
    attacks: dict[Claim, Attack] = {}
    for group in filter(None, groups):
        attacks |= _Redrawing(theorem, reading, tuple(group), given).attacks(budget, seed)
    return attacks


@dataclass(frozen=True)
class _Redrawing:
    """Claims that are verified together again and again."""

    theorem: Theorem
    reading: ResolvedReading
    claims: tuple[Claim, ...]
    given: Mapping[str, Any]

    def attacks(self, budget: int, seed: int) -> dict[Claim, Attack]:
        """One attack per claim."""
        most = max(self._instances(claim) for claim in self.claims)
        rounds = max(1, budget // (most * self.theorem.keys))
        note = "decided by many runs together; drawn anew instead of searched"
        attacks = {c: self._attack(c, note=note) for c in self.claims}
        for done in range(rounds):
            standing = [claim for claim in self.claims if not attacks[claim].refuted]
            if not standing:
                break
            report = self._verified(seed + done, settings=self.given)
            for claim in standing:
                found = of_claim(report, claim)
                attacks[claim] = self._counted(attacks[claim], claim, found)
                if found.verdict == "violated" and self._replicated(
                    claim, found, seed + rounds + done
                ):
                    attacks[claim] = replace(
                        attacks[claim],
                        refuted=True,
                        **decisive_numbers(found),
                        instance=found.worst_instance,
                        note=found.note,
                    )
        return attacks

    def _attack(self, claim: Claim, **outcome: Any) -> Attack:
        kind = str(claim.kind)
        return Attack(self.reading.name, claim.name, kind, 0, 0, refuted=False, **outcome)

    def _counted(self, attack: Attack, claim: Claim, found: ClaimReport) -> Attack:
        """With the instances added that one more verification measured, on all rungs."""
        measured = found.checked * _rungs(claim)
        return replace(
            attack,
            evaluations=attack.evaluations + measured,
            runs=attack.runs + measured * self.theorem.keys,
        )

    def _instances(self, claim: Claim) -> int:
        """Instances, on all rungs, that one verification of a claim asks for."""
        return self.theorem.instances * _rungs(claim)

    def _verified(self, seed: int, **where: Any) -> Report:
        names = [claim.name for claim in self.claims]
        return verify(self.theorem, reading=self.reading.name, claims=names, seed=seed, **where)

    def _replicated(self, claim: Claim, found: ClaimReport, seed: int) -> bool:
        """Whether a violation comes back with fresh draws.

        A verdict is a test with some chance of a false alarm, and redrawing repeats it hundreds of
        times. A printed probability is tried again on its own instance with fresh keys.
        """
        if claim.kind is Kind.WITH_PROBABILITY and found.worst_instance is not None:
            instance = {k: v for k, v in found.worst_instance.items() if k != "key"}
            report = self._verified(seed, instance=instance)
        else:
            report = self._verified(seed, settings=self.given)
        return of_claim(report, claim).verdict == "violated"


def _rungs(claim: Claim) -> int:
    return max(1, sum(len(rungs) for rungs in claim.ladders.values()))


def of_claim(report: Report, claim: Claim) -> ClaimReport:
    """What a report on one reading says of a claim."""
    return next(c for c in report.readings[0].claims if c.name == claim.name)
