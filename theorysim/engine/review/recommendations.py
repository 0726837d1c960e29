"""What a referee would write: the verdict in a sentence, then what to change, gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from theorysim.claims.kinds import RELATIONS
from theorysim.claims.verdict import Verdict
from theorysim.engine.falsify.attack import EQUAL
from theorysim.engine.review.adversary import Adversary, Outcome
from theorysim.engine.review.demands import Demands, in_words
from theorysim.engine.review.measured import Measurements
from theorysim.engine.review.mutants import Mutants
from theorysim.engine.review.necessity import HypothesisNeed, Necessity, Need
from theorysim.engine.review.readings import ClaimVerdict, Readings, ReadingVerdict
from theorysim.engine.review.record import Record
from theorysim.engine.review.sharpness import Constant, Sharpness
from theorysim.engine.review.words import count, instance, number, sides, sizes_in_words

# Kinds whose right side is the next entry.
FOLLOWS = ("increasing", "decreasing")

# A bound is called loose where its right side could be better by this factor.
LOOSE = 2.0
ROUNDING = 1e-9


class Weight(StrEnum):
    """How grave a recommendation is."""

    MAJOR = "major"
    MINOR = "minor"
    REMARK = "remark"


@dataclass(frozen=True)
class Recommendation(Record):
    """One thing to change or to know; `instance` shows it, where one does."""

    weight: Weight
    text: str
    instance: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Stages:
    """What all stages before found."""

    readings: Readings
    adversary: Adversary
    necessity: Necessity
    sharpness: Sharpness
    measured: Measurements
    demands: Demands
    mutants: Mutants


def overall(readings: Readings, adversary: Adversary) -> Verdict:
    """The verdict on the primary reading, after draws and adversary."""
    primary = readings.primary
    refuted = any(outcome.refuted for outcome in adversary.of(primary.name))
    return Verdict.VIOLATED if refuted else primary.verdict


def verdict_sentence(readings: Readings, adversary: Adversary) -> str:
    """The answer: a sentence for every printed reading, then one for what holds instead."""
    printed = [reading for reading in readings.examined if reading.kind == "printed"]
    others = [reading for reading in readings.examined if reading.kind != "printed"]
    return " ".join(_said(reading, adversary) for reading in (*printed, *others))


def _said(reading: ReadingVerdict, adversary: Adversary) -> str:
    verdict = _word(reading, adversary)
    begun = f"{_capital(reading.named)}: {verdict}"
    claims = count(len(reading.claims), "claim")
    if verdict is Verdict.HOLDS:
        draws = max(claim.checked for claim in reading.claims)
        points = min((outcome.evaluations for outcome in adversary.of(reading.name)), default=0)
        searched = f" and {count(points, 'searched point')}" if points else ""
        return f"{begun} ({claims}, on {count(draws, 'draw')}{searched})."
    if verdict is Verdict.VACUOUS:
        return f"{begun}, because nothing meets its conditions here."
    if verdict is Verdict.INCONCLUSIVE:
        undecided = len(reading.of(Verdict.INCONCLUSIVE, Verdict.VACUOUS))
        return f"{begun}, as {undecided} of {claims} could not be judged."
    refuted = {outcome.claim for outcome in adversary.of(reading.name) if outcome.refuted}
    refuted |= {claim.name for claim in reading.of(Verdict.VIOLATED)}
    return f"{begun} ({len(refuted)} of {claims})."


def _word(reading: ReadingVerdict, adversary: Adversary) -> Verdict:
    refuted = any(outcome.refuted for outcome in adversary.of(reading.name))
    return Verdict.VIOLATED if refuted else reading.verdict


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def recommend(found: Stages) -> tuple[Recommendation, ...]:
    """All recommendations, gravest first."""
    every = [
        *_violations(found),
        *_vacuous(found),
        *_undecided(found),
        *_superfluous(found),
        *_loose(found),
        *_powers(found.measured),
        *_demands(found.demands),
        *_untested(found.mutants),
    ]
    order = list(Weight)
    return tuple(sorted(every, key=lambda one: order.index(one.weight)))


def _violations(found: Stages) -> Iterator[Recommendation]:
    """Every violated claim with its reading; what fails alike in several readings is told once."""
    told: dict[str, tuple[list[str], Mapping[str, Any] | None]] = {}
    for reading in found.readings.examined:
        text, at = _violated(reading, found.adversary)
        if text:
            told.setdefault(text, ([], at))[0].append(reading.named)
    for text, (names, at) in told.items():
        yield Recommendation(Weight.MAJOR, f"{_capital(' and '.join(names))}: {text}", at)


def _violated(
    reading: ReadingVerdict, adversary: Adversary
) -> tuple[str, Mapping[str, Any] | None]:
    """The first violated claim of a reading in numbers and where, the others by name."""
    refuted = {one.claim: one for one in adversary.of(reading.name) if one.refuted}
    failing = [
        claim
        for claim in reading.claims
        if claim.verdict is Verdict.VIOLATED or claim.name in refuted
    ]
    if not failing:
        return "", None
    first, *others = failing
    outcome = refuted.get(first.name, first)
    where = f", at {instance(outcome.instance, first.over)}" if outcome.instance is not None else ""
    text = f"{quoted(first.name)} fails: {violation(first, outcome)}{where}."
    if others:
        names = ", ".join(quoted(claim.name) for claim in others)
        text += f" So {'does' if len(others) == 1 else 'do'} {names}."
    return text, outcome.instance


def violation(claim: ClaimVerdict, at: ClaimVerdict | Outcome | HypothesisNeed) -> str:
    """What was measured at a place against what the claim says; of many runs, their note."""
    if claim.kind not in (*RELATIONS, *FOLLOWS):
        return at.note or claim.note
    left, right = sides(at.lhs, at.rhs)
    error = number(at.error, 2)
    equal = EQUAL in at.note
    if claim.kind in FOLLOWS:
        right = "an equal number, as enclosures prove" if equal else f"{right} (error {error})"
        return f"{left} is followed by {right}"
    must_be = RELATIONS[claim.kind][claim.strict]
    if equal:
        return f"both sides are {left}, as enclosures prove; the left must be {must_be} the right"
    return f"{left}, which must be {must_be} {right} (error {error})"


def quoted(name: str) -> str:
    """The name of a claim or a hypothesis within a sentence."""
    return f"\u201c{name}\u201d"


def _vacuous(found: Stages) -> Iterator[Recommendation]:
    for demand in found.demands.readings:
        if demand.vacuous:
            text = f"{_capital(demand.reading)}: none of {count(demand.drawn, 'draw')} meets the "
            yield Recommendation(Weight.MAJOR, text + "hypotheses; what it says was not seen.")


def _undecided(found: Stages) -> Iterator[Recommendation]:
    refuted = {(one.reading, one.claim) for one in found.adversary.refuted}
    for reading in found.readings.examined:
        for claim in reading.of(Verdict.INCONCLUSIVE):
            if (reading.name, claim.name) not in refuted:
                why = f": {claim.note}" if claim.note else ""
                text = f"{_capital(reading.named)}: {quoted(claim.name)} could not be decided{why}."
                yield Recommendation(Weight.MINOR, text, claim.instance)


def _superfluous(found: Stages) -> Iterator[Recommendation]:
    primary = found.readings.primary
    loose = [
        quoted(one.claim)
        for one in found.sharpness.constants
        if one.reading == primary.name and one.offered and not one.exists
    ]
    advice = (
        f"It may be dropped, or {' or '.join(loose)} sharpened." if loose else "It may be dropped."
    )
    fallen = [quoted(c.name) for c in primary.claims if c.name not in found.necessity.claims]
    if fallen:
        advice = f"{', '.join(fallen)} may need it: what does not hold was not tried."
    for one in found.necessity.of(Need.NOT_NEEDED):
        text = f"The hypothesis {quoted(one.hypothesis)} is not needed on this space: "
        text += f"{held_without(one)}. {advice}"
        yield Recommendation(Weight.REMARK if fallen else Weight.MINOR, text)
    yield from _implied(found.necessity.of(Need.IMPLIED))
    idle = [quoted(one.hypothesis) for one in found.necessity.of(Need.ALWAYS_MET)]
    if idle:
        they = "it is" if len(idle) == 1 else "they are"
        text = f"No draw that meets the other hypotheses fails {' or '.join(idle)}: what was drawn "
        yield Recommendation(Weight.REMARK, f"{text}does not show whether {they} needed.")


def _implied(found: tuple[HypothesisNeed, ...]) -> Iterator[Recommendation]:
    if not found:
        return
    names = [quoted(one.hypothesis) for one in found]
    draws = count(min(one.fails for one in found), "draw")
    points = count(min(one.points for one in found), "point")
    if len(found) == 1:
        begun, advice = f"The hypothesis {names[0]} is implied by the others", "It may be dropped"
    else:
        begun = f"The hypotheses {' and '.join(names)} are each implied by the others"
        each = "Either" if len(found) == 2 else "Any one"
        advice = f"{each} may be dropped, not {'both' if len(found) == 2 else 'all of them'}"
    seen = f"each of {draws} that fail it fails another one, and a search of {points} reached none "
    text = f"{begun} here: {seen}that fails it alone. {advice}."
    yield Recommendation(Weight.MINOR, text)


def held_without(one: HypothesisNeed) -> str:
    """On how much the claims hold where a hypothesis fails, and what that would have shown."""
    at = f" at {sizes_in_words([one.sizes])}" if one.sizes else ""
    searched = f" and at {count(one.reached, 'searched point')}" if one.reached else ""
    return (
        f"every claim that holds also holds on {count(one.draws, 'draw')}{at} that fail it alone"
        f"{searched}; violations by {number(100 * one.excluded, 2)} % of what fails it would have "
        "been found with 95 %"
    )


def _loose(found: Stages) -> Iterator[Recommendation]:
    for one in told_once(found):
        if not one.offered or one.exists or one.ratio > (1 + ROUNDING) / LOOSE:
            continue
        side = "could be" if one.upper else "could be raised to"
        text = f"{quoted(one.claim)} is loose: its right side {side} {number(one.factor)} times "
        text += f"what it is, as far as {count(one.points, 'searched point')} tell."
        yield Recommendation(Weight.MINOR, text, one.instance)


def told_once(found: Stages) -> tuple[Constant, ...]:
    """Constants without those of a print that repeats a claim of the primary reading."""
    primary = found.readings.primary.name
    own = {one.claim for one in found.sharpness.constants if one.reading == primary}
    return tuple(
        one for one in found.sharpness.constants if one.reading == primary or one.claim not in own
    )


def _powers(measured: Measurements) -> Iterator[Recommendation]:
    for one in measured.found:
        loose = "at most" in one.sentence and one.high < one.printed - 0.1
        loose |= "at least" in one.sentence and one.low > one.printed + 0.1
        if loose:
            yield Recommendation(Weight.MINOR, f"{quoted(one.claim)} is loose: {one.sentence}.")


def _demands(demands: Demands) -> Iterator[Recommendation]:
    primary, *_ = demands.readings
    for requirement in primary.requirements:
        text = f"{_capital(primary.reading)}: {in_words(requirement)}."
        yield Recommendation(Weight.REMARK, text)


def _untested(mutants: Mutants) -> Iterator[Recommendation]:
    names = tuple(dict.fromkeys(one.claim for one in mutants.claims if one.unexplained))
    if names:
        which = ", ".join(map(quoted, names))
        text = f"No planted error is refuted by {which}: nothing shows that it can fail."
        yield Recommendation(Weight.MINOR, text)
