"""What is checked, and what a step of the check found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.setup import Setup, parse_settings
from theorysim.engine.registry.entries import Entry

# Exit codes of what is to be mended, beside those of verdicts.
MISTAKE = 2

# Recorded verdicts of a statement, by reading and claim.
Verdicts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Subject:
    """A statement that is checked, the seed, and the verdicts that are expected of it.

    Without expected verdicts the primary reading is expected to hold.
    """

    entry: Entry
    theorem: Theorem
    seed: int = 0
    expected: Verdicts | None = None

    @property
    def primary(self) -> ResolvedReading:
        """The reading whose verdict is the statement's."""
        return self.theorem.primary()

    def setup(self) -> Setup:
        """The primary reading at the statement's own sizes."""
        return Setup(self.theorem, (self.primary,), parse_settings(self.theorem, {}), self.seed)


@dataclass(frozen=True)
class Step:
    """What one step found.

    Attributes:
        name: what was looked at.
        told: what was found, in a clause.
        warnings: what may be wrong, but stops nothing.
        mend: what to mend, with its remedy, in one line; "" where nothing is.
        code: the exit code: 0, or that of what is to be mended.
        verdicts: of the step that verifies, the verdicts by reading and claim.
    """

    name: str
    told: str = ""
    warnings: tuple[str, ...] = ()
    mend: str = ""
    code: int = 0
    verdicts: Verdicts | None = None

    def as_json(self) -> dict[str, Any]:
        """The step as JSON data."""
        return asdict(self)
