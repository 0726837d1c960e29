"""The referee's report on a statement: all stages, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from theorysim.claims.experiment import Experiment
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.counts import checked_seed
from theorysim.engine import registry
from theorysim.engine.registry import Entry
from theorysim.engine.registry.index import Files
from theorysim.engine.review.adversary import Adversary, attack
from theorysim.engine.review.demands import Demands, demands_of
from theorysim.engine.review.kept import Kept, fingerprint
from theorysim.engine.review.measured import Measurements, measured_numbers
from theorysim.engine.review.mutants import Mutants, plant_errors
from theorysim.engine.review.necessity import Necessity, drop_each
from theorysim.engine.review.readings import Pictures, Readings, verify_readings
from theorysim.engine.review.recommendations import (
    Recommendation,
    Stages,
    Weight,
    overall,
    recommend,
    verdict_sentence,
)
from theorysim.engine.review.record import Record
from theorysim.engine.review.rounds import ENOUGH_POINTS
from theorysim.engine.review.sharpness import Sharpness, best_constants
from theorysim.engine.review.unchecked import Unchecked, left_out
from theorysim.engine.review.words import count
from theorysim.engine.verify.report import EXIT_CODES
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent
from theorysim.versions import versions

DEFAULT_SECONDS = 120.0

# Of the seconds that verification and planted errors leave: the adversary's; of what that leaves,
# the constants'. The rest is for the hypotheses.
ADVERSARY_SHARE, CONSTANTS_SHARE = 0.5, 1 / 3

# Of the bar: what each stage is called while it runs.
STAGES = (
    "readings and verdicts",
    "planted errors",
    "adversary",
    "constants",
    "hypotheses, dropped in turn",
)

# Called with the number of finished stages, their total, and what runs now.

AnyRecord = TypeVar("AnyRecord", bound=Record)


@dataclass(frozen=True)
class Review(Record):
    """A referee's report: the answer, the recommendations, and what every stage found."""

    theorem: str
    title: str
    seed: int
    seconds: float
    spent: Mapping[str, float]
    versions: Mapping[str, str]
    verdict: Verdict
    sentence: str
    recommendations: tuple[Recommendation, ...]
    readings: Readings
    adversary: Adversary
    necessity: Necessity
    sharpness: Sharpness
    measured: Measurements
    demands: Demands
    mutants: Mutants
    unchecked: Unchecked

    @property
    def exit_code(self) -> int:
        """0 holds, 3 violated, 4 vacuous or inconclusive."""
        return EXIT_CODES[self.verdict]

    @property
    def decision(self) -> str:
        """What a referee would tick; after few searched points only what was not found."""
        if self.gravest is Weight.MAJOR:
            return "major revision"
        minor = self.gravest is Weight.MINOR
        if self.effort < ENOUGH_POINTS:
            return f"no {'major ' * minor}objection found in {count(self.effort, 'point')}"
        return "minor revision" if minor else "accept"

    @property
    def gravest(self) -> Weight:
        """The weight of the gravest recommendation; a remark where there is none."""
        weights = {recommendation.weight for recommendation in self.recommendations}
        return next((weight for weight in Weight if weight in weights), Weight.REMARK)

    @property
    def effort(self) -> int:
        """How many points that meet the hypotheses every claim of the primary reading withstood."""
        attacked = self.adversary.of(self.readings.primary.name)
        return min((outcome.evaluations for outcome in attacked), default=0)

    def __str__(self) -> str:
        lines = [f"{self.theorem}: {self.decision}", f"  {self.sentence}"]
        return "\n".join(lines + [f"  {one.weight}: {one.text}" for one in self.recommendations])


def review(
    theorem: Theorem | str,
    *,
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
    theorems: Files = (),
    kept: Path | None = None,
    fresh: bool = False,
    progress: Progress = silent,
    pictures: Pictures | None = None,
) -> Review:
    """Review a statement as a referee does: verdicts, hypotheses, constants, planted errors, gaps.

    Args:
        theorem: a theorem, its id, or a Python file with one.
        seconds: how long it may take. Verification and planted errors always run in full, and so
            does the first round of the adversary; the adversary gets 60 % of what is left, the
            search where hypotheses fail the rest.
        seed: seed of everything. Equal seeds draw alike, but how far a search comes in the time
            depends on the machine.
        theorems: further files of theorems.
        kept: a folder in which finished stages are kept: a review that was interrupted goes on
            there. Not for a theorem that is handed in.
        fresh: forget the stages that are kept.
        progress: called with (finished, total) stages and what runs now.
        pictures: draws the verification, for a report; the results are kept.

    Raises:
        UsageError: for an unknown id or file, a bad seed, and seconds that are not positive.
    """
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{seconds} seconds: expected a positive number")
    seed = checked_seed(seed)
    entry = None
    if isinstance(theorem, str):
        entry = registry.find(theorem, theorems)
        theorem = registry.load(entry)
    if isinstance(theorem, Experiment):
        raise UsageError(f"{theorem.id} is an experiment: `theorysim.referee` reviews it")
    keep = Kept(_place(kept, entry, seconds, seed))
    if fresh:
        keep.forget()
    run = _Run(keep, progress, {})
    stages = _examine(theorem, run, seconds, seed, pictures)
    readings, adversary = stages.readings, stages.adversary
    return Review(
        theorem=theorem.id,
        title=theorem.title,
        seed=seed,
        seconds=seconds,
        spent=run.spent,
        versions=versions(),
        verdict=overall(readings, adversary),
        sentence=verdict_sentence(readings, adversary),
        recommendations=recommend(stages),
        **vars(stages),
        unchecked=left_out(theorem, readings, adversary, stages.necessity),
    )


def _examine(
    theorem: Theorem, run: _Run, seconds: float, seed: int, pictures: Pictures | None
) -> Stages:
    """All stages one after the other, each with its portion of the time that is left."""
    readings = run.stage(0, Readings, lambda: verify_readings(theorem, seed, pictures))
    mutants = run.stage(1, Mutants, lambda: plant_errors(theorem, readings, seed))
    portion = ADVERSARY_SHARE * (seconds - run.total)
    adversary = run.stage(2, Adversary, lambda: attack(theorem, readings, seed, portion, pictures))
    portion = CONSTANTS_SHARE * (seconds - run.total)
    constants = run.stage(
        3, Sharpness, lambda: best_constants(theorem, readings, adversary, seed, portion)
    )
    portion = seconds - run.total
    necessity = run.stage(
        4, Necessity, lambda: drop_each(theorem, readings.primary, adversary, seed, portion)
    )
    return Stages(
        readings,
        adversary,
        necessity,
        constants,
        measured_numbers(theorem, readings),
        demands_of(readings),
        mutants,
    )


def _place(folder: Path | None, entry: Entry | None, *options: object) -> Path | None:
    if folder is None or entry is None:
        return None
    return folder / f"{fingerprint(entry, *options)}.json"


@dataclass(frozen=True)
class _Run:
    """Stages that run or are taken from those that are kept, with the seconds of each."""

    kept: Kept
    progress: Progress
    spent: dict[str, float]

    @property
    def total(self) -> float:
        """The seconds of all stages so far, also of those that an earlier run finished."""
        return sum(self.spent.values())

    def stage(self, number: int, kind: type[AnyRecord], work: Callable[[], AnyRecord]) -> AnyRecord:
        """The result of a stage."""
        name = STAGES[number]
        self.progress(number, len(STAGES), name)
        found = self.kept.load(name, kind)
        if found is None:
            begun = time.monotonic()
            result, seconds = work(), time.monotonic() - begun
            self.kept.store(name, result, seconds)
            found = result, seconds
        result, self.spent[name] = found
        return result
