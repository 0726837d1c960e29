"""What `review_all` finds of every statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from theorysim.engine.many.outcome import ERROR, Outcome, Outcomes
from theorysim.engine.reproduce.referee import ExperimentReview
from theorysim.engine.review.review import Review


@dataclass(frozen=True)
class Reviewed(Outcome):
    """One statement: what a review gives as JSON and the seconds it took, or its error."""

    @property
    def review(self) -> Review | ExperimentReview | None:
        """The referee's report; None where there is an error."""
        if self.report is None:
            return None
        kind = ExperimentReview if "trials" in self.report else Review
        return kind.from_json(self.report)

    @property
    def decision(self) -> str:
        """What a referee would tick, or "error"."""
        return ERROR if self.review is None else self.review.decision

    def row(self) -> dict[str, Any]:
        """As a row of a table."""
        statement, *others = super().row().items()
        return dict([statement, ("decision", self.decision), *others])


@dataclass(frozen=True)
class Reviews(Outcomes[Reviewed]):
    """The outcome of `review_all`, in the order of the catalogue."""

    statements: tuple[Reviewed, ...]
