"""What a verification returns: frozen records with a JSON form and a readable text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theorysim.claims.kinds import Attack, Claim
from theorysim.claims.kinds.average import OnAverage
from theorysim.claims.source import Source
from theorysim.claims.verdict import Verdict, conjunction
from theorysim.tabular import Tabular, json_number

EXIT_CODES = {
    Verdict.HOLDS: 0,
    Verdict.VIOLATED: 3,
    Verdict.VACUOUS: 4,
    Verdict.INCONCLUSIVE: 4,
}

# Of the share of violations that clean draws exclude.
CONFIDENCE = 0.95


def excluded_share(draws: int) -> float:
    """The least violating share that so many draws would have found with CONFIDENCE: about 3/draws.

    A share p escapes n draws with chance (1 - p)^n. Without draws it is 1.
    """
    return -math.expm1(math.log1p(-CONFIDENCE) / draws) if draws else 1.0


@dataclass(frozen=True)
class ClaimReport:
    """The judgement on one claim, with its decisive instance in a form that can be replayed.

    The numbers are those of `Judgement`. `draws` is how many random instances it was judged on (0
    for a given instance), `checked` on how many of them it says something. `path` and `scatter`
    are for plots and not part of the JSON.
    """

    claim: Claim = field(repr=False)
    verdict: Verdict
    lhs: float = math.nan
    rhs: float = math.nan
    slack: float = math.nan
    error: float = math.nan
    error_parts: Mapping[str, float] = field(default_factory=dict)
    tightness: float = math.nan
    ties: int = 0
    checked: int = 0
    resolved: int = 0
    draws: int = 0
    worst_instance: Mapping[str, Any] | None = None
    note: str = ""
    confirmation: str = ""
    path: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    scatter: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The claim's name."""
        return self.claim.name

    @property
    def kind(self) -> str:
        """The name of the claim's kind."""
        return self.claim.kind

    @property
    def statement(self) -> str:
        """The formula as printed."""
        return self.claim.statement

    @property
    def excluded(self) -> float:
        """The `excluded_share` of the draws that are resolved, of which it is a share.

        NaN for a claim that is violated or that no single draw violates.
        """
        seen = self.draws and self.resolved
        if not seen or self.claim.attack is not Attack.SEARCH or self.verdict is Verdict.VIOLATED:
            return math.nan
        return excluded_share(seen)


@dataclass(frozen=True)
class HypothesisReport:
    """How many of the drawn instances satisfy one hypothesis, and the worst margin."""

    name: str
    satisfied: int
    drawn: int
    worst_margin: float


@dataclass(frozen=True)
class ReadingReport:
    """The verdict on one reading. `requirements` are (least, median) over what was checked."""

    name: str
    source: Source
    primary: bool
    note: str
    hypotheses: tuple[HypothesisReport, ...]
    claims: tuple[ClaimReport, ...]
    requirements: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    satisfying: int = 0
    drawn: int = 0

    @property
    def verdict(self) -> Verdict:
        """The verdict on the conjunction of the claims."""
        return conjunction(claim.verdict for claim in self.claims)


@dataclass(frozen=True)
class Report(Tabular):
    """The outcome of `verify`."""

    theorem: str
    title: str
    seed: int
    instances: int
    sizes: Mapping[str, int]
    versions: Mapping[str, str]
    readings: tuple[ReadingReport, ...]
    warnings: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on the primary reading (on the only one, where one was asked for)."""
        primary = [reading for reading in self.readings if reading.primary]
        return (primary or list(self.readings))[0].verdict

    @property
    def exit_code(self) -> int:
        """0 holds, 3 violated, 4 vacuous or inconclusive."""
        return EXIT_CODES[self.verdict]

    @property
    def is_experiment(self) -> bool:
        """Whether it judges runs of an experiment: there is no instance to search for."""
        return any(c.kind == OnAverage.kind for reading in self.readings for c in reading.claims)

    @property
    def caption(self) -> str:
        """The theorem and its verdict."""
        return f"{self.theorem}: {self.verdict}"

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One row per claim of every reading."""
        numbers = ("lhs", "rhs", "slack", "error", "tightness")
        for reading in self.readings:
            for claim in reading.claims:
                yield {
                    "reading": reading.name,
                    "source": reading.source.kind,
                    "claim": claim.name,
                    "kind": claim.kind,
                    "verdict": str(claim.verdict),
                    **{name: getattr(claim, name) for name in numbers},
                    "resolved": claim.resolved,
                    "checked": claim.checked,
                    "draws": claim.draws,
                    "excluded": claim.excluded,
                    "note": claim.note,
                }

    def reading(self, name: str) -> ReadingReport:
        """The report on the reading of that name."""
        return next(reading for reading in self.readings if reading.name == name)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON data; NaN becomes null, infinities "inf" and "-inf"."""
        return {
            "theorem": self.theorem,
            "title": self.title,
            "verdict": str(self.verdict),
            "seed": self.seed,
            "instances": self.instances,
            "sizes": dict(self.sizes),
            "versions": dict(self.versions),
            "warnings": list(self.warnings),
            "readings": [_reading_json(reading) for reading in self.readings],
        }

    def __str__(self) -> str:
        lines = [self.caption]
        for reading in self.readings:
            mark = " (primary)" if reading.primary else ""
            lines.append(f"  {reading.name}{mark}: {reading.verdict}")
            lines += [f"    {claim.name}: {claim.verdict}" for claim in reading.claims]
        return "\n".join(lines)


def _reading_json(reading: ReadingReport) -> dict[str, Any]:
    return {
        "name": reading.name,
        "source": {"kind": reading.source.kind, **dataclasses.asdict(reading.source)},
        "primary": reading.primary,
        "verdict": str(reading.verdict),
        "note": reading.note,
        "satisfying": reading.satisfying,
        "drawn": reading.drawn,
        "requirements": {
            name: {"least": json_number(least), "median": json_number(median)}
            for name, (least, median) in reading.requirements.items()
        },
        "hypotheses": [
            {**dataclasses.asdict(h), "worst_margin": json_number(h.worst_margin)}
            for h in reading.hypotheses
        ],
        "claims": [_claim_json(claim) for claim in reading.claims],
    }


def _claim_json(claim: ClaimReport) -> dict[str, Any]:
    numbers = ("lhs", "rhs", "slack", "error", "tightness")
    return {
        "name": claim.name,
        "kind": claim.kind,
        "statement": claim.statement,
        "verdict": str(claim.verdict),
        **{name: json_number(getattr(claim, name)) for name in numbers},
        "error_parts": {name: json_number(part) for name, part in claim.error_parts.items()},
        "ties": claim.ties,
        "checked": claim.checked,
        "resolved": claim.resolved,
        "draws": claim.draws,
        "excluded": json_number(claim.excluded),
        "note": claim.note,
        "confirmation": claim.confirmation,
        "worst_instance": claim.worst_instance,
    }
