"""What a referee would write: the verdict in a sentence, then what to change, gravest first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from theorysim.claims.verdict import Verdict
from theorysim.engine.review.adversary import Adversary
from theorysim.engine.review.demands import Demands, in_words
from theorysim.engine.review.measured import Measurements
from theorysim.engine.review.mutants import Mutants
from theorysim.engine.review.necessity import HypothesisNeed, Necessity, Need
from theorysim.engine.review.readings import ClaimVerdict, Readings, ReadingVerdict
from theorysim.engine.review.record import Record
from theorysim.engine.review.sharpness import Constant, Sharpness
from theorysim.engine.review.words import count, instance, number

# A bound is called loose where its right side could be better by this factor.
LOOSE = 2.0


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
    """The answer: the verdict on the primary reading, then on what is printed otherwise."""
    primary = readings.primary
    said = _said(primary, adversary)
    others = [reading for reading in readings.examined if not reading.primary]
    for reading in others:
        said += f" {_capital(reading.named)}: {_word(reading, adversary)}."
    return said


def _said(reading: ReadingVerdict, adversary: Adversary) -> str:
    verdict, named = _word(reading, adversary), reading.named
    claims = count(len(reading.claims), "claim")
    draws = max((claim.checked for claim in reading.claims), default=0)
    points = max((outcome.points for outcome in adversary.of(reading.name)), default=0)
    searched = f" and {count(points, 'searched point')}" if points else ""
    if verdict == Verdict.HOLDS:
        return f"{_capital(named)}: holds on {count(draws, 'draw')}{searched}, {claims}."
    if verdict == Verdict.VACUOUS:
        return f"{_capital(named)}: says nothing here, because nothing meets its conditions."
    if verdict == Verdict.INCONCLUSIVE:
        undecided = len(reading.of(Verdict.INCONCLUSIVE, Verdict.VACUOUS))
        return f"{_capital(named)}: undecided, {undecided} of {claims} could not be judged."
    return f"{_capital(named)}: violated."


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
        *_superfluous(found.necessity),
        *_loose(found),
        *_powers(found.measured),
        *_demands(found.demands),
        *_untested(found.mutants),
    ]
    order = list(Weight)
    return tuple(sorted(every, key=lambda one: order.index(one.weight)))


def _violations(found: Stages) -> Iterator[Recommendation]:
    for reading in found.readings.examined:
        for claim in reading.of(Verdict.VIOLATED):
            yield _violation(reading, claim.name, _numbers(claim), claim.instance)
        for outcome in found.adversary.of(reading.name):
            if outcome.refuted:
                numbers = sides(outcome.lhs, outcome.rhs, outcome.error)
                yield _violation(reading, outcome.claim, numbers, outcome.instance)


def _violation(
    reading: ReadingVerdict, claim: str, numbers: str, at: Mapping[str, Any] | None
) -> Recommendation:
    where = f", at {instance(at)}" if at is not None else ""
    text = f"{_capital(reading.named)}: {claim} fails: {numbers}{where}."
    return Recommendation(Weight.MAJOR, text, at)


def _numbers(claim: ClaimVerdict) -> str:
    """What refutes a claim: the note of what climbs a ladder, else both sides."""
    if claim.note and math.isnan(claim.rhs + claim.lhs):
        return claim.note
    if claim.kind in ("scales_as", "tends_to", "exists_constant", "with_probability"):
        return claim.note or sides(claim.lhs, claim.rhs, claim.error)
    return sides(claim.lhs, claim.rhs, claim.error)


def sides(lhs: float, rhs: float, error: float) -> str:
    """Both sides and their error in words; with the digits that tell them apart."""
    apart = abs(lhs - rhs) / max(abs(lhs), abs(rhs), 1e-300)
    digits = 4 if not 0 < apart < 1e-2 else min(16, 3 - math.floor(math.log10(apart)))
    left, right = number(lhs, digits), number(rhs, digits)
    return f"left side {left}, right side {right}, error {number(error, 2)}"


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
                text = f"{_capital(reading.named)}: {claim.name} could not be decided{why}."
                yield Recommendation(Weight.MINOR, text, claim.instance)


def _superfluous(necessity: Necessity) -> Iterator[Recommendation]:
    for one in necessity.of(Need.NOT_NEEDED):
        text = f'The hypothesis "{one.hypothesis}" is not needed on this space: {held_without(one)}'
        yield Recommendation(Weight.MINOR, f"{text}. It may be dropped, or the claim sharpened.")
    for one in necessity.of(Need.ALWAYS_MET):
        text = f'The hypothesis "{one.hypothesis}" excludes nothing here: every draw that meets the'
        yield Recommendation(Weight.REMARK, f"{text} others meets it.")


def held_without(one: HypothesisNeed) -> str:
    """On how much the claims hold where a hypothesis fails."""
    searched = f", and {count(one.points, 'searched point')}" if one.points else ""
    where = f"{count(one.failing, 'draw')} that fail it" if one.failing else "points that fail it"
    return f"every claim that holds also holds on {where}{searched}"


def _loose(found: Stages) -> Iterator[Recommendation]:
    for one in told_once(found):
        if not one.known or one.exists or one.ratio > 1 / LOOSE:
            continue
        side = "could be" if one.upper else "could be raised to"
        text = f"{_capital(one.claim)} is loose: its right side {side} {number(one.factor)} times "
        text += f"what it is, as far as {count(one.points, 'searched point')} can tell."
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
            yield Recommendation(Weight.MINOR, f"{_capital(one.claim)} is loose: {one.sentence}.")


def _demands(demands: Demands) -> Iterator[Recommendation]:
    shown: set[str] = set()
    for demand in demands.readings:
        for requirement in demand.requirements:
            text = in_words(requirement)
            if text not in shown:
                yield Recommendation(Weight.REMARK, f"{_capital(demand.reading)} {text}.")
            shown.add(text)


def _untested(mutants: Mutants) -> Iterator[Recommendation]:
    names = tuple(dict.fromkeys(one.claim for one in mutants.claims if one.unexplained))
    if names:
        text = f"No planted error is refuted by {', '.join(names)}: nothing shows that it can fail."
        yield Recommendation(Weight.MINOR, text)
