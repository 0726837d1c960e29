"""Stage 3: every hypothesis dropped in turn, and the statement tried where only that one fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from theorysim.claims.hypotheses import Margin, is_strict, least, strict
from theorysim.claims.instance import Instance
from theorysim.claims.reading import Reading, ResolvedReading
from theorysim.claims.source import Finding
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.review.adversary import gather
from theorysim.engine.review.readings import Readings
from theorysim.engine.review.record import Record
from theorysim.engine.review.rounds import Deadline, search_rounds
from theorysim.engine.review.words import count
from theorysim.engine.verify.report import ReadingReport
from theorysim.engine.verify.verify import verify


class Need(StrEnum):
    """Whether a statement needs a hypothesis."""

    NEEDED = "needed"
    NOT_NEEDED = "not needed on this space"
    ALWAYS_MET = "always met on this space"
    INCONCLUSIVE = "inconclusive"


# Where fewer draws fail a hypothesis, claims that hold on them do not show that it is superfluous.
FEWEST = 8


@dataclass(frozen=True)
class HypothesisNeed(Record):
    """What becomes of the statement where one hypothesis fails and all others are met.

    Attributes:
        hypothesis: its name.
        need: whether it is needed.
        failing: how many of the `drawn` instances fail it and meet all others.
        checked: how many of these every claim was judged on.
        points: how many points were searched besides.
        reached: how many of these fail it and meet all others.
        claim, lhs, rhs, error, instance: what is violated there, by an instance that meets all
            other hypotheses.
        undecided: the claims that were not decided there, or that say nothing.
        note: why not, in words.
    """

    hypothesis: str
    need: Need
    failing: int = 0
    drawn: int = 0
    checked: int = 0
    points: int = 0
    reached: int = 0
    claim: str = ""
    lhs: float = math.nan
    rhs: float = math.nan
    error: float = math.nan
    instance: Mapping[str, Any] | None = None
    undecided: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Necessity(Record):
    """Stage 3: every hypothesis of the primary reading; `claims` are those that it was tried on."""

    hypotheses: tuple[HypothesisNeed, ...]
    claims: tuple[str, ...]

    def of(self, need: Need) -> tuple[HypothesisNeed, ...]:
        """The hypotheses of one kind."""
        return tuple(one for one in self.hypotheses if one.need is need)


def drop_each(theorem: Theorem, readings: Readings, seed: int, seconds: float) -> Necessity:
    """Verify, then search, the claims that hold where one hypothesis fails and the others are met.

    All hypotheses are tried on draws; those that draws do not show to be needed are searched, one
    after the other, while time is left.
    """
    held = tuple(claim.name for claim in readings.primary.of(Verdict.HOLDS))
    primary = theorem.primary()
    if not (held and primary.hypotheses):
        return Necessity((), held)
    deadline = Deadline.after(seconds)
    names = list(primary.hypotheses)
    relaxed = without_each(theorem, primary.only(held))
    report = verify(relaxed, seed=seed)
    found = [_drawn(name, reading) for name, reading in zip(names, report.readings, strict=True)]
    order = sorted(range(len(names)), key=lambda row: found[row].failing == 0)
    for done, row in enumerate(order):
        if found[row].need is not Need.NEEDED and deadline.left:
            portion = Deadline.after(deadline.left / (len(order) - done))
            found[row] = _searched(relaxed, found[row], report.readings[row], seed, portion)
    return Necessity(tuple(found), held)


def without_each(theorem: Theorem, reading: ResolvedReading) -> Theorem:
    """The theorem whose readings each have one hypothesis negated, in their order."""
    readings = [
        Reading(
            f"without hypothesis {place}",
            Finding(f"what becomes of the statement without: {name}"),
            hypotheses=_negated(reading.hypotheses, name),
        )
        for place, name in enumerate(reading.hypotheses, 1)
    ]
    own, *others = readings
    return Theorem(
        space=theorem.space,
        simulate=reading.simulate,
        predict=reading.predict,
        claims=reading.claims,
        hypotheses=own.hypotheses or {},
        source=own.source,
        printed=own.name,
        readings=tuple(others),
        keys=theorem.keys,
        instances=theorem.instances,
        integrates=theorem.integrates,
        id=theorem.id,
        title=theorem.title,
    )


def _negated(hypotheses: Mapping[str, Margin], dropped: str) -> dict[str, Margin]:
    """All hypotheses with one negated: strictly, unless it is strict itself."""
    margin = hypotheses[dropped]

    def fails(x: Instance) -> Any:
        return -least(margin, x)

    negated = fails if is_strict(margin) else strict(fails)
    others = {name: other for name, other in hypotheses.items() if name != dropped}
    return {**others, f"not: {dropped}": negated}


def _drawn(name: str, report: ReadingReport) -> HypothesisNeed:
    """What the draws say."""
    checked = min(claim.checked for claim in report.claims)
    found = HypothesisNeed(name, Need.ALWAYS_MET, report.satisfying, report.drawn, checked)
    if not report.satisfying:
        return found
    for claim in report.claims:
        if claim.verdict is Verdict.VIOLATED:
            return replace(
                found,
                need=Need.NEEDED,
                claim=claim.name,
                lhs=float(claim.lhs),
                rhs=float(claim.rhs),
                error=float(claim.error),
                instance=claim.worst_instance,
                note=claim.note,
            )
    undecided = [claim for claim in report.claims if claim.verdict is not Verdict.HOLDS]
    note = next((claim.note for claim in undecided if claim.note), "")
    if checked < FEWEST and not note:
        note = f"only {count(report.satisfying, 'draw')} of {report.drawn:,} fail it alone"
    return replace(
        found,
        need=Need.INCONCLUSIVE if undecided or checked < FEWEST else Need.NOT_NEEDED,
        undecided=tuple(claim.name for claim in undecided),
        note=note,
    )


def _searched(
    relaxed: Theorem, drawn: HypothesisNeed, report: ReadingReport, seed: int, deadline: Deadline
) -> HypothesisNeed:
    """What a search adds to what the draws say."""
    claims = [claim.name for claim in report.claims]
    outcomes = gather(
        report.name, claims, _until_refuted(relaxed, report.name, claims, seed, deadline)
    )
    points = max((outcome.points for outcome in outcomes), default=0)
    reached = min((outcome.evaluations for outcome in outcomes), default=0)
    drawn = replace(drawn, points=points, reached=reached)
    for outcome in outcomes:
        if outcome.refuted:
            return replace(
                drawn,
                need=Need.NEEDED,
                claim=outcome.claim,
                lhs=outcome.lhs,
                rhs=outcome.rhs,
                error=outcome.error,
                instance=outcome.instance,
                note=outcome.note,
            )
    return drawn


def _until_refuted(*arguments: Any) -> Iterator[tuple[int, Any]]:
    """Rounds until some claim is refuted: one violation shows that a hypothesis is needed."""
    for points, attacks in search_rounds(*arguments):
        yield points, attacks
        if any(attack.refuted for attack in attacks):
            return
