"""The task of reviewing one statement. It imports nothing heavy before it works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorysim.engine.many.task import NO_CODE, Code

if TYPE_CHECKING:
    from theorysim.engine.many.reviewed import Reviewed


# In the folder of what is kept: those of stages and of runs.
STAGES, RUNS = FOLDERS = "reviews", "experiments"


@dataclass(frozen=True)
class Reviewing:
    """A statement of the catalogue with these files, and how `review` is asked for it.

    Finished stages, or runs of an experiment, are kept in the folder, as far as the machine has it:
    where all machines do, a review whose worker is lost goes on where it was.
    """

    theorem: str
    code: Code = NO_CODE
    seed: int = 0
    seconds: float = 120.0
    folder: str | None = None
    fresh: bool = False
    pictures: Callable[[Any], Mapping[str, str]] | None = None

    def work(self) -> Reviewed:
        """The referee's report; what the statement raises is a result, too."""
        from theorysim.engine.many.attempt import attempt
        from theorysim.engine.many.reviewed import Reviewed

        return attempt(Reviewed, self.theorem, self._report)

    def failed(self, error: Exception) -> Reviewed:
        """The result where the work could not be done."""
        from theorysim.engine.many.attempt import failed
        from theorysim.engine.many.reviewed import Reviewed

        return failed(Reviewed, self.theorem, error)

    def _report(self) -> Mapping[str, Any]:
        from theorysim.engine import registry
        from theorysim.engine.reproduce.referee import referee
        from theorysim.engine.review.review import review

        files = self.code.files
        if registry.find(self.theorem, files).is_experiment:
            kept = None if self.fresh else self._place(RUNS)
            found, _ = referee(
                self.theorem, seconds=self.seconds, seed=self.seed, theorems=files, kept=kept
            )
            return found.as_json()
        return review(
            self.theorem,
            seconds=self.seconds,
            seed=self.seed,
            theorems=files,
            kept=self._place(STAGES),
            fresh=self.fresh,
            pictures=self.pictures,
        ).as_json()

    def _place(self, name: str) -> Path | None:
        place = Path(self.folder) / name if self.folder else None
        return place if place is not None and place.is_dir() else None
