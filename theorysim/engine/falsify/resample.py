"""Attacking claims that many runs decide together: verifying them on ever new draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theorysim.claims.kinds import Claim
from theorysim.engine.falsify.report import Attack, decisive_numbers
from theorysim.engine.measure.setup import Setup
from theorysim.engine.verify.report import ClaimReport, Report
from theorysim.engine.verify.verify import verify


def by_resampling(
    setup: Setup, claims: Sequence[Claim], given: Mapping[str, Any], budget: int
) -> dict[Claim, Attack]:
    """Verify on fresh draws, seed after seed, until each is refuted or the budget of runs ends.

    Claims without a ladder are verified apart from the others, so that none is climbed for them.
    """
    groups = [[c for c in claims if bool(c.over) is climbs] for climbs in (False, True)]
    attacks: dict[Claim, Attack] = {}
    for group in filter(None, groups):
        attacks |= _Resampling(setup, tuple(group), given).attacks(budget)
    return attacks


@dataclass(frozen=True)
class _Resampling:
    """Claims that are verified together again and again."""

    setup: Setup
    claims: tuple[Claim, ...]
    given: Mapping[str, Any]

    def attacks(self, budget: int) -> dict[Claim, Attack]:
        """One attack per claim."""
        most = max(self._instances(claim) for claim in self.claims)
        rounds = max(1, budget // (most * self.setup.theorem.keys))
        note = "decided by many runs together; drawn anew instead of searched"
        attacks = {c: self._attack(c, note=note) for c in self.claims}
        for done in range(rounds):
            standing = [claim for claim in self.claims if not attacks[claim].refuted]
            if not standing:
                break
            report = self._verify(self.setup.seed + done, settings=self.given)
            for claim in standing:
                found = of_claim(report, claim)
                attacks[claim] = self._count(attacks[claim], claim, found)
                if found.verdict == "violated" and self._comes_back(
                    claim, found, self.setup.seed + rounds + done
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
        told = (self._reading, claim.name, claim.kind)
        return Attack(*told, 0, 0, refuted=False, strict=claim.strict, **outcome)

    @property
    def _reading(self) -> str:
        (reading,) = self.setup.readings
        return reading.name

    def _count(self, attack: Attack, claim: Claim, found: ClaimReport) -> Attack:
        """With the instances added that one more verification measured, on all rungs."""
        measured = found.checked * _rungs(claim)
        return replace(
            attack,
            evaluations=attack.evaluations + measured,
            runs=attack.runs + measured * self.setup.theorem.keys,
        )

    def _instances(self, claim: Claim) -> int:
        """Instances, on all rungs, that one verification of a claim asks for."""
        return self.setup.theorem.instances * _rungs(claim)

    def _verify(self, seed: int, **where: Any) -> Report:
        names = [claim.name for claim in self.claims]
        return verify(self.setup.theorem, reading=self._reading, claims=names, seed=seed, **where)

    def _comes_back(self, claim: Claim, found: ClaimReport, seed: int) -> bool:
        """Whether a violation comes back with fresh draws.

        A verdict is a test with some chance of a false alarm, and drawing anew repeats it hundreds
        of times. A printed probability is tried again on its own instance with fresh keys.
        """
        if claim.averages_keys and found.worst_instance is not None:
            instance = {k: v for k, v in found.worst_instance.items() if k != "key"}
            report = self._verify(seed, instance=instance)
        else:
            report = self._verify(seed, settings=self.given)
        return of_claim(report, claim).verdict == "violated"


def _rungs(claim: Claim) -> int:
    return max(1, sum(len(rungs) for rungs in claim.over.values()))


def of_claim(report: Report, claim: Claim) -> ClaimReport:
    """What a report on one reading says of a claim."""
    return next(c for c in report.readings[0].claims if c.name == claim.name)
