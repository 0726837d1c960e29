"""What became of every statement: a verdict with its report as JSON, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from theorysim.claims.verdict import Verdict
from theorysim.engine.verify.report import EXIT_CODES
from theorysim.tabular import Tabular
from theorysim.versions import versions

# What stands where a verdict would, of a statement that raised.
ERROR = "error"
BAD_USAGE, INTERNAL = 2, 1
# Which exit code a whole has that has several: an error says least, then a violation tells most.
GRAVEST = (INTERNAL, BAD_USAGE, 3, 4, 0)


@dataclass(frozen=True)
class Outcome:
    """One statement: its report as JSON and the seconds it took, or its error.

    `internal` says of an error that it is none of the statement's author; `kept`, of a report, that
    an earlier run finished it.
    """

    theorem: str
    seconds: float = 0.0
    report: Mapping[str, Any] | None = None
    error: str = ""
    internal: bool = False
    kept: bool = False

    @property
    def verdict(self) -> str:
        """The verdict on the primary reading, or "error"."""
        return ERROR if self.report is None else self.report["verdict"]

    @property
    def exit_code(self) -> int:
        """That of the report; of an error 2, or 1 for an internal one."""
        if self.report is None:
            return INTERNAL if self.internal else BAD_USAGE
        return EXIT_CODES[Verdict(self.verdict)]

    def as_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "theorem": self.theorem,
            "verdict": self.verdict,
            "seconds": self.seconds,
            "error": self.error,
            "report": self.report,
        }

    def row(self) -> dict[str, Any]:
        """As a row of a table."""
        return {
            "statement": self.theorem,
            "verdict": self.verdict,
            "seconds": self.seconds,
            "error": self.error,
        }


AnyOutcome = TypeVar("AnyOutcome", bound=Outcome)


class Outcomes(Tabular, Generic[AnyOutcome]):
    """The outcomes of many statements, in the order of the catalogue."""

    statements: tuple[AnyOutcome, ...]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many primary readings came out so; "error" counts those without a verdict."""
        found = [one.verdict for one in self.statements]
        return {name: found.count(name) for name in (*Verdict, ERROR) if name in found}

    @property
    def exit_code(self) -> int:
        """0 all hold, else 1 an internal error, 2 another error, 3 violated, 4 the rest."""
        codes = {one.exit_code for one in self.statements}
        return next(code for code in GRAVEST if code in codes)

    @property
    def caption(self) -> str:
        """How many there are of each verdict."""
        counts = ", ".join(f"{many} {name}" for name, many in self.verdicts.items())
        many = len(self.statements)
        return f"{many} statement{'' if many == 1 else 's'}: {counts}"

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One row per statement."""
        return (one.row() for one in self.statements)

    def as_json(self) -> dict[str, Any]:
        """As JSON data: the versions, the counts, and of each statement the whole report."""
        return {
            "versions": versions(),
            "verdicts": {str(name): many for name, many in self.verdicts.items()},
            "statements": [one.as_json() for one in self.statements],
        }

    def __str__(self) -> str:
        return self.caption
