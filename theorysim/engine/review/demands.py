"""Stage 6: how often the hypotheses are met, and what sizes they ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from theorysim.engine.review.readings import HypothesisShare, Readings, Requirement
from theorysim.engine.review.record import Record
from theorysim.engine.review.words import number

LOGARITHM = re.compile(r"^log10,?(?: of)?(?: the)? ")


@dataclass(frozen=True)
class Demand(Record):
    """Of one reading: the share of draws that meets each hypothesis and all, and what they need."""

    reading: str
    satisfying: int
    drawn: int
    hypotheses: tuple[HypothesisShare, ...]
    requirements: tuple[Requirement, ...]

    @property
    def vacuous(self) -> bool:
        """Whether no draw meets all hypotheses."""
        return self.drawn > 0 and not self.satisfying


@dataclass(frozen=True)
class Demands(Record):
    """Stage 6: the readings that the adversary attacks."""

    readings: tuple[Demand, ...]


def demands_of(readings: Readings) -> Demands:
    """What the verification counted."""
    return Demands(
        tuple(
            Demand(one.name, one.satisfying, one.drawn, one.hypotheses, one.requirements)
            for one in readings.examined
        )
    )


def in_words(requirement: Requirement) -> str:
    """What a requirement asks for; logarithms are written as powers of ten."""
    name = LOGARITHM.sub("", requirement.name)
    shown = (number(requirement.median), number(requirement.least))
    if name != requirement.name:
        shown = (f"10^{shown[0]}", f"10^{shown[1]}")
    median, least = shown
    return f"asks for {name} = {median} at the median draw, {least} at the least"
