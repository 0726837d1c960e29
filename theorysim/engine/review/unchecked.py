"""Stage 8: what was not checked, and what these means cannot see."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.review.adversary import Adversary
from theorysim.engine.review.necessity import Necessity, Need
from theorysim.engine.review.readings import Readings
from theorysim.engine.review.record import Record
from theorysim.engine.review.words import count, number


@dataclass(frozen=True)
class Gap(Record):
    """Something that was left out: `about` is a word or two, `sentence` says what."""

    about: str
    sentence: str


@dataclass(frozen=True)
class Unchecked(Record):
    """Stage 8."""

    gaps: tuple[Gap, ...]


def left_out(
    theorem: Theorem, readings: Readings, adversary: Adversary, necessity: Necessity
) -> Unchecked:
    """Every gap, those of this statement first, those of the method last."""
    return Unchecked(
        (
            *_undecided(readings),
            *_unattacked(readings, adversary),
            *_hypotheses(necessity),
            *_space(theorem, readings, adversary),
            *_method(theorem, readings, adversary),
        )
    )


def _undecided(readings: Readings) -> Iterator[Gap]:
    for reading in readings.examined:
        for claim in reading.of(Verdict.INCONCLUSIVE, Verdict.VACUOUS):
            why = f": {claim.note}" if claim.note else ""
            yield Gap("undecided", f"{reading.name}, {claim.name} ({claim.verdict}){why}.")


def _unattacked(readings: Readings, adversary: Adversary) -> Iterator[Gap]:
    others = [reading.name for reading in readings.readings if reading not in readings.examined]
    if others:
        names = "; ".join(others)
        yield Gap("readings", f"Only verified, not attacked, as they are ours: {names}.")
    late = [
        reading.name
        for reading in readings.examined
        if reading.of(Verdict.HOLDS, Verdict.INCONCLUSIVE) and not adversary.of(reading.name)
    ]
    if late:
        yield Gap("time", f"Only verified, as time was over: {'; '.join(late)}.")


def _hypotheses(necessity: Necessity) -> Iterator[Gap]:
    unsearched = [
        one.hypothesis
        for one in necessity.hypotheses
        if one.need is not Need.NEEDED and not one.points
    ]
    if unsearched:
        yield Gap("time", f"Dropped on draws only, no search: {'; '.join(unsearched)}.")


def _space(theorem: Theorem, readings: Readings, adversary: Adversary) -> Iterator[Gap]:
    if readings.sizes:
        searched = [dict(readings.sizes)]
        searched += [dict(sizes) for outcome in adversary.outcomes for sizes in outcome.sizes]
        reached = {name: sorted({sizes[name] for sizes in searched}) for name in readings.sizes}
        listed = "; ".join(f"{name} = {_listed(values)}" for name, values in reached.items())
        yield Gap("sizes", f"Draws and search ran at {listed}. Other sizes were not looked at.")
    fields = [f"{name}: {field.describe()}" for name, field in theorem.space.fields.items()]
    if fields:
        yield Gap("values", f"Nothing outside of these was tried: {'; '.join(fields)}.")


def _listed(values: list[int]) -> str:
    return ", ".join(map(str, values))


def _method(theorem: Theorem, readings: Readings, adversary: Adversary) -> Iterator[Gap]:
    keys = count(theorem.keys, "random key")
    yield Gap("chance", f"Every instance was simulated under {keys}; others may differ.")
    shares = [o.excluded for o in adversary.outcomes if not math.isnan(o.excluded)]
    shares = shares or [
        claim.excluded for claim in readings.primary.claims if not math.isnan(claim.excluded)
    ]
    rare = f"less than {number(100 * max(shares), 2)} % of the draws" if shares else "few draws"
    yield Gap("rare cases", f"A search is no proof: what violates {rare} may have been missed.")
    yield Gap(
        "precision",
        "All runs are in float64 with measured errors: a violation below its error is not seen.",
    )
