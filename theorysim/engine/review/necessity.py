"""Stage 3: every hypothesis dropped in turn, and the statement tried where only that one fails."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from theorysim.claims.kinds import Attack
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.ladders import EmptyRungError
from theorysim.engine.review.adversary import Adversary, Outcome, gather
from theorysim.engine.review.other_sizes import UNFIT, where_they_fail
from theorysim.engine.review.readings import ReadingVerdict
from theorysim.engine.review.record import Record
from theorysim.engine.review.rounds import Deadline, search_rounds
from theorysim.engine.review.without import without_each
from theorysim.engine.review.words import count, number, sizes_in_words
from theorysim.engine.verify.report import ReadingReport, excluded_share
from theorysim.engine.verify.verify import verify


class Need(StrEnum):
    """Whether a statement needs a hypothesis."""

    NEEDED = "needed"
    NOT_NEEDED = "not needed on this space"
    IMPLIED = "implied by the others here"
    ALWAYS_MET = "met by all draws"
    UNDECIDED = "undecided"


# A hypothesis is called idle only where violations by this share of the draws that fail it would
# have been found with 95 %: about 300 draws, and a search besides.
IDLE_SHARE = 0.01
# What evaluating hypotheses at other sizes may take, even where time is over.
SIZES_SECONDS = 3.0


@dataclass(frozen=True)
class HypothesisNeed(Record):
    """What becomes of the statement where one hypothesis fails and all others are met.

    Attributes:
        hypothesis: its name.
        need: whether it is needed.
        fails: how many of the theorem's own draws fail it, whatever they do to the others.
        failing: how many of the `drawn` instances fail it and meet all others.
        draws: on how many of these, and of those that a search draws, every claim was decided.
        sizes: at which other sizes that was, as no draw at the theorem's own ones fails it alone.
        tried: at how many other sizes draws were to fail it.
        points: how many points were searched besides.
        reached: how many of these fail it and meet all others.
        excluded: violations by this share of the draws that fail it would have been found with
            95 %, of every claim; NaN where draws exclude no share.
        claim, lhs, rhs, error, instance: what is violated there, by an instance that meets all
            other hypotheses.
        besides: the other claims that are violated there.
        undecided: the claims that were not decided there, or that say nothing.
        note: why not, in words.
    """

    hypothesis: str
    need: Need
    fails: int = 0
    failing: int = 0
    drawn: int = 0
    draws: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    tried: int = 0
    points: int = 0
    reached: int = 0
    excluded: float = math.nan
    claim: str = ""
    lhs: float = math.nan
    rhs: float = math.nan
    error: float = math.nan
    instance: Mapping[str, Any] | None = None
    besides: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Necessity(Record):
    """Stage 3: every hypothesis of a reading; `claims` are those that it was tried on."""

    hypotheses: tuple[HypothesisNeed, ...]
    claims: tuple[str, ...]

    def of(self, need: Need) -> tuple[HypothesisNeed, ...]:
        """The hypotheses of one kind."""
        return tuple(one for one in self.hypotheses if one.need is need)


def drop_each(
    theorem: Theorem, verdict: ReadingVerdict, adversary: Adversary, seed: int, seconds: float
) -> Necessity:
    """Try the claims of a reading that stand where one hypothesis fails and the others are met.

    Claims that the adversary refutes with all hypotheses tell nothing of any. All hypotheses are
    tried on draws, at other sizes where no draw at the own ones fails them; those that draws do not
    show to be needed are searched, one after the other, while time is left.
    """
    refuted = {one.claim for one in adversary.of(verdict.name) if one.refuted}
    held = tuple(c.name for c in verdict.of(Verdict.HOLDS) if c.name not in refuted)
    reading = theorem.reading(verdict.name)
    if not (held and reading.hypotheses):
        return Necessity((), held)
    deadline = Deadline.after(seconds)
    relaxed = without_each(theorem, reading.only(held))
    shares = {one.name: one.drawn - one.satisfied for one in verdict.hypotheses}
    tried: list[_Trial] = []
    found: list[HypothesisNeed] = []
    for name, report in zip(reading.hypotheses, _verified(relaxed, seed)):
        one = HypothesisNeed(name, Need.UNDECIDED, fails=shares[name])
        if isinstance(report, str):
            found.append(replace(one, note=report))
        else:
            tried.append(_Trial(one, report))
    never = [one.found.hypothesis for one in tried if not one.report.satisfying]
    sizes_deadline = Deadline.after(max(deadline.left, SIZES_SECONDS))
    elsewhere = where_they_fail(theorem, reading, never, seed, sizes_deadline)
    order = sorted(tried, key=lambda one: not one.report.satisfying)
    for done, trial in enumerate(order):
        one = replace(trial.found, tried=len(elsewhere.tried))
        portion = Deadline.after(deadline.left / (len(order) - done))
        sizes = elsewhere.fails.get(one.hypothesis, {})
        found.append(_tried(relaxed, replace(one, sizes=sizes), trial.report, seed, portion))
    names = list(reading.hypotheses)
    return Necessity(tuple(sorted(found, key=lambda one: names.index(one.hypothesis))), held)


def _verified(relaxed: Theorem, seed: int) -> list[ReadingReport | str]:
    """The report of every reading, or why there is none: a rung of a ladder that nothing meets."""
    try:
        return list(verify(relaxed, seed=seed).readings)
    except EmptyRungError:
        return [_by_itself(relaxed, reading.name, seed) for reading in relaxed.all_readings()]


def _by_itself(relaxed: Theorem, reading: str, seed: int) -> ReadingReport | str:
    try:
        (report,) = verify(relaxed, reading=reading, seed=seed).readings
    except EmptyRungError as error:
        return str(error).partition(": ")[2]
    return report


@dataclass(frozen=True)
class _Trial:
    """A hypothesis, and what draws at the theorem's own sizes say without it."""

    found: HypothesisNeed
    report: ReadingReport


def _tried(
    relaxed: Theorem, one: HypothesisNeed, report: ReadingReport, seed: int, deadline: Deadline
) -> HypothesisNeed:
    """What draws, then a search, say where a hypothesis fails; at its own sizes, if it has some."""
    try:
        if one.sizes:
            again = verify(relaxed, reading=report.name, settings=one.sizes, seed=seed)
            (report,) = again.readings
        found = _drawn(one, report)
        if found.need is Need.NEEDED:
            return found
        outcomes: list[Outcome] = []
        if deadline.left:
            claims = [claim.name for claim in report.claims]
            rounds = search_rounds(relaxed, report.name, claims, seed, deadline, one.sizes)
            outcomes = gather(report.name, claims, _until_refuted(rounds))
    except UNFIT:
        if not one.sizes:
            raise
        at = sizes_in_words([one.sizes])
        return replace(one, note=f"it fails at {at}, where the statement could not be run")
    return _judged(_searched(found, report, outcomes))


def _drawn(one: HypothesisNeed, report: ReadingReport) -> HypothesisNeed:
    """What the draws say: the claims that are violated, else those that were not decided."""
    found = replace(one, failing=report.satisfying, drawn=report.drawn)
    violated = [claim for claim in report.claims if claim.verdict is Verdict.VIOLATED]
    if violated:
        first, *others = violated
        return replace(
            found,
            need=Need.NEEDED,
            claim=first.name,
            lhs=float(first.lhs),
            rhs=float(first.rhs),
            error=float(first.error),
            instance=first.worst_instance,
            besides=tuple(claim.name for claim in others),
            note=first.note,
        )
    if not report.satisfying:
        return found
    undecided = [claim for claim in report.claims if claim.verdict is not Verdict.HOLDS]
    note = next((claim.note for claim in undecided if claim.note), "")
    return replace(found, undecided=tuple(claim.name for claim in undecided), note=note)


def _searched(
    found: HypothesisNeed, report: ReadingReport, outcomes: list[Outcome]
) -> HypothesisNeed:
    """What a search adds to what the draws say."""
    draws = {claim.name: claim.resolved for claim in report.claims}
    for one in outcomes:  # both begin with the same draws, so that they do not add up
        draws[one.claim] = max(draws[one.claim], one.draws)
    together = any(claim.claim.attack is not Attack.SEARCH for claim in report.claims)
    fewest = min(draws.values())
    found = replace(
        found,
        points=max((outcome.points for outcome in outcomes), default=0),
        reached=min((outcome.evaluations for outcome in outcomes), default=0),
        draws=fewest,
        excluded=math.nan if together or not fewest else excluded_share(fewest),
    )
    refuted = [outcome for outcome in outcomes if outcome.refuted]
    if not refuted:
        return found
    first, *others = refuted
    return replace(
        found,
        need=Need.NEEDED,
        claim=first.claim,
        lhs=first.lhs,
        rhs=first.rhs,
        error=first.error,
        instance=first.instance,
        besides=tuple(outcome.claim for outcome in others),
        note=first.note,
    )


def _judged(found: HypothesisNeed) -> HypothesisNeed:
    """Whether what was seen is enough to call a hypothesis idle, where no claim failed."""
    if found.need is Need.NEEDED or found.undecided:
        return found
    if not (found.failing or found.reached):
        if not found.fails:
            return replace(found, need=Need.ALWAYS_MET)
        if found.points and excluded_share(found.fails) <= IDLE_SHARE:
            return replace(found, need=Need.IMPLIED)
        seen = f"{count(found.fails, 'draw')} fail it and another one"
        unsearched = "" if found.points else ", and time was over before a search"
        return replace(found, note=f"none of the draws fails it alone, {seen}{unsearched}")
    if found.points and found.excluded <= IDLE_SHARE:
        return replace(found, need=Need.NOT_NEEDED)
    return replace(found, note=_too_little(found))


def _too_little(found: HypothesisNeed) -> str:
    """Why nothing follows from claims that hold where a hypothesis fails."""
    seen = f"no claim failed on {count(found.draws, 'draw')} that fail it alone"
    if not found.failing:
        points = count(found.reached, "searched point")
        return f"no draw fails it alone, {points} do, and no claim failed there"
    if found.reached:
        seen += f" and {count(found.reached, 'searched point')}"
    if not found.points:
        return f"{seen}, and time was over before a search"
    if math.isnan(found.excluded):
        return f"{seen}, which exclude no share of violations"
    missed = number(100 * found.excluded, 2)
    return f"{seen}, but violations by {missed} % of what fails it may have been missed"


def _until_refuted(rounds: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Rounds until some claim is refuted: one violation shows that a hypothesis is needed."""
    for points, attacks in rounds:
        yield points, attacks
        if any(attack.refuted for attack in attacks):
            return
