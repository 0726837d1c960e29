"""Stage 1: what a verification says of every reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict, conjunction
from theorysim.engine.review.record import Record
from theorysim.engine.verify.report import ClaimReport, HypothesisReport, ReadingReport, Report
from theorysim.engine.verify.verify import verify

# Pictures of a verification as `data:` addresses, by the name of the reading that each shows.
Pictures = Callable[[Report], Mapping[str, str]]


@dataclass(frozen=True)
class ClaimVerdict(Record):
    """The verdict on one claim; the numbers are those of `ClaimReport`.

    `over` are the fields and sizes that a ladder of it climbs.
    """

    name: str
    kind: str
    statement: str
    strict: bool
    verdict: Verdict
    lhs: float
    rhs: float
    slack: float
    error: float
    tightness: float
    ties: int
    checked: int
    resolved: int
    draws: int
    excluded: float
    note: str
    confirmation: str
    instance: Mapping[str, Any] | None
    over: tuple[str, ...]


@dataclass(frozen=True)
class HypothesisShare(Record):
    """How many of the drawn instances meet one hypothesis."""

    name: str
    satisfied: int
    drawn: int


@dataclass(frozen=True)
class Requirement(Record):
    """What the hypotheses ask for: the least and the median number over what was checked."""

    name: str
    least: float
    median: float


@dataclass(frozen=True)
class ReadingVerdict(Record):
    """The verdict on one reading.

    `kind` is that of its source: "printed", "corrected" or "finding"; `place` is where it is
    printed, or what was changed, or what it is about; `words` are those of the print.
    """

    name: str
    kind: str
    place: str
    words: str
    primary: bool
    note: str
    claims: tuple[ClaimVerdict, ...]
    hypotheses: tuple[HypothesisShare, ...]
    requirements: tuple[Requirement, ...]
    satisfying: int
    drawn: int

    @property
    def verdict(self) -> Verdict:
        """The verdict on all claims together."""
        return conjunction(claim.verdict for claim in self.claims)

    def of(self, *verdicts: Verdict) -> tuple[ClaimVerdict, ...]:
        """The claims of these verdicts."""
        return tuple(claim for claim in self.claims if claim.verdict in verdicts)

    @property
    def named(self) -> str:
        """The reading and its place: "main text (Theorem 4.7)"."""
        if self.kind != "printed" or self.place in ("", self.name):
            return self.name
        return self.place if self.name == "as printed" else f"{self.name} ({self.place})"

    def claim(self, name: str) -> ClaimVerdict:
        """The verdict on the claim of that name."""
        return next(claim for claim in self.claims if claim.name == name)


@dataclass(frozen=True)
class Readings(Record):
    """Stage 1. `pictures` are addresses that hold them, by the name of the reading."""

    readings: tuple[ReadingVerdict, ...]
    sizes: Mapping[str, int]
    warnings: tuple[str, ...]
    pictures: Mapping[str, str]

    @property
    def primary(self) -> ReadingVerdict:
        """The reading whose verdict is the theorem's."""
        return next(reading for reading in self.readings if reading.primary)

    @property
    def examined(self) -> tuple[ReadingVerdict, ...]:
        """The readings that an adversary attacks: the primary one, prints, other corrections.

        Of each sort those come first that are not violated.
        """
        kept = (one for one in self.readings if one.primary or one.kind != "finding")
        return tuple(sorted(kept, key=_order))


def _order(reading: ReadingVerdict) -> tuple[bool, ...]:
    violated = reading.verdict is Verdict.VIOLATED
    return not reading.primary, reading.kind != "printed", violated


def verify_readings(theorem: Theorem, seed: int, pictures: Pictures | None = None) -> Readings:
    """Verify all readings of a theorem, as `theorysim verify` does."""
    report = verify(theorem, seed=seed)
    return Readings(
        tuple(_reading(reading) for reading in report.readings),
        report.sizes,
        report.warnings,
        pictures(report) if pictures is not None else {},
    )


def _reading(report: ReadingReport) -> ReadingVerdict:
    source = report.source
    place = next(
        str(getattr(source, n)) for n in ("place", "change", "about") if hasattr(source, n)
    )
    return ReadingVerdict(
        name=report.name,
        kind=source.kind,
        place=place,
        words=getattr(source, "words", ""),
        primary=report.primary,
        note=report.note,
        claims=tuple(_claim(claim) for claim in report.claims),
        hypotheses=tuple(_share(hypothesis) for hypothesis in report.hypotheses),
        requirements=tuple(
            Requirement(name, least, median)
            for name, (least, median) in report.requirements.items()
        ),
        satisfying=report.satisfying,
        drawn=report.drawn,
    )


def _share(report: HypothesisReport) -> HypothesisShare:
    return HypothesisShare(report.name, report.satisfied, report.drawn)


def _claim(report: ClaimReport) -> ClaimVerdict:
    return ClaimVerdict(
        name=report.name,
        kind=report.kind,
        statement=report.statement,
        strict=report.claim.strict,
        verdict=report.verdict,
        lhs=float(report.lhs),
        rhs=float(report.rhs),
        slack=float(report.slack),
        error=float(report.error),
        tightness=float(report.tightness),
        ties=report.ties,
        checked=report.checked,
        resolved=report.resolved,
        draws=report.draws,
        excluded=float(report.excluded),
        note=report.note,
        confirmation=report.confirmation,
        instance=report.worst_instance,
        over=tuple(report.claim.over),
    )
