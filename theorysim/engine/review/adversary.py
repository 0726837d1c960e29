"""Stage 2: an adversary searches for what the draws missed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.falsify.report import Attack
from theorysim.engine.review.readings import Pictures, Readings
from theorysim.engine.review.record import Record
from theorysim.engine.review.rounds import Deadline, search_rounds
from theorysim.engine.verify.report import excluded_share
from theorysim.engine.verify.verify import verify


@dataclass(frozen=True)
class Outcome(Record):
    """What all rounds of attacks on one claim found; the numbers are those of `Attack`.

    With `points` as the budget, the hypotheses were met at `evaluations` of those that were tried,
    which took `runs` of the simulation: several each, where a claim averages over keys.
    """

    reading: str
    claim: str
    refuted: bool
    points: int
    evaluations: int
    runs: int
    draws: int
    excluded: float
    lhs: float
    rhs: float
    slack: float
    error: float
    instance: Mapping[str, Any] | None
    ratio: float
    ratio_limit: float
    ratio_instance: Mapping[str, Any] | None
    sizes: tuple[Mapping[str, int], ...]
    note: str


@dataclass(frozen=True)
class Adversary(Record):
    """Stage 2: the claims that were attacked, those that were not refuted by the draws.

    `pictures` are addresses of what refutes a reading, by its name: those of the verification show
    draws, on which it holds.
    """

    outcomes: tuple[Outcome, ...]
    pictures: Mapping[str, str]

    @property
    def refuted(self) -> tuple[Outcome, ...]:
        """What was refuted."""
        return tuple(outcome for outcome in self.outcomes if outcome.refuted)

    def of(self, reading: str) -> tuple[Outcome, ...]:
        """The attacks on one reading."""
        return tuple(outcome for outcome in self.outcomes if outcome.reading == reading)


def attack(
    theorem: Theorem,
    readings: Readings,
    seed: int,
    seconds: float,
    pictures: Pictures | None = None,
) -> Adversary:
    """Attack what the draws did not refute: the primary reading for half of the time, then prints.

    Prints share the time that is left equally, so that what one does not need serves the next; the
    primary reading gets one round at least, the others none when time is over.
    """
    deadline = Deadline.after(seconds)
    targets = [
        (reading.name, [claim.name for claim in open_claims])
        for reading in readings.examined
        if (open_claims := reading.of(Verdict.HOLDS, Verdict.INCONCLUSIVE))
    ]
    outcomes: list[Outcome] = []
    for place, (reading, claims) in enumerate(targets):
        if place and not deadline.left:
            break
        others = len(targets) - place
        portion = deadline.left / (others if place else min(others, 2))
        rounds = search_rounds(theorem, reading, claims, seed, Deadline.after(portion))
        outcomes += gather(reading, claims, rounds)
    found = Adversary(tuple(outcomes), {})
    return found if pictures is None else replace(found, pictures=_drawn(theorem, found, pictures))


def _drawn(theorem: Theorem, found: Adversary, pictures: Pictures) -> dict[str, str]:
    """A picture of the first counterexample to each reading that a replay violates."""
    drawn: dict[str, str] = {}
    for one in found.refuted:
        if one.reading in drawn or one.instance is None:
            continue
        report = verify(theorem, reading=one.reading, claims=one.claim, instance=one.instance)
        if report.verdict is Verdict.VIOLATED:
            drawn |= pictures(report)
    return drawn


def gather(
    reading: str, claims: Iterable[str], rounds: Iterable[tuple[int, tuple[Attack, ...]]]
) -> list[Outcome]:
    """One outcome per claim, of all rounds together."""
    tried: dict[str, list[tuple[int, Attack]]] = {claim: [] for claim in claims}
    for points, attacks in rounds:
        for found in attacks:
            tried[found.claim].append((points, found))
    return [_outcome(reading, claim, several) for claim, several in tried.items() if several]


def _outcome(reading: str, claim: str, tried: list[tuple[int, Attack]]) -> Outcome:
    attacks = [found for _, found in tried]
    last = attacks[-1]  # a refuted claim is not attacked again
    highest = max(attacks, key=lambda a: -math.inf if math.isnan(a.ratio) else a.ratio)
    draws = sum(found.draws for found in attacks)
    return Outcome(
        reading=reading,
        claim=claim,
        refuted=last.refuted,
        points=sum(points for points, _ in tried),
        evaluations=sum(found.evaluations for found in attacks),
        runs=sum(found.runs for found in attacks),
        draws=draws,
        excluded=excluded_share(draws) if draws and not last.refuted else math.nan,
        lhs=float(last.lhs),
        rhs=float(last.rhs),
        slack=float(last.slack),
        error=float(last.error),
        instance=last.instance,
        ratio=float(highest.ratio),
        ratio_limit=float(last.ratio_limit),
        ratio_instance=highest.ratio_instance,
        sizes=_distinct(sizes for found in attacks for sizes in found.sizes),
        note="; ".join(dict.fromkeys(found.note for found in attacks if found.note)),
    )


def _distinct(sizes: Iterable[Mapping[str, int]]) -> tuple[Mapping[str, int], ...]:
    return tuple({tuple(each.items()): each for each in sizes}.values())
