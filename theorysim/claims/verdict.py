"""The four verdicts and how they combine."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a check found."""

    HOLDS = "holds"
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"


# A single violation decides; a part that says nothing keeps the whole from holding.
SEVERITY = (Verdict.VIOLATED, Verdict.VACUOUS, Verdict.INCONCLUSIVE, Verdict.HOLDS)


def conjunction(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a conjunction; an empty one says nothing."""
    return min(verdicts, key=SEVERITY.index, default=Verdict.VACUOUS)
