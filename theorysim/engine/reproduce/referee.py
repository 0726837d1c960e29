"""The referee's report on an experiment: its nulls, another seed, half of every size."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theorysim.claims.experiment import Experiment
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine import registry
from theorysim.engine.registry.index import Files
from theorysim.engine.reproduce.reproduce import WORDS, Reproduction, reproduce, unmet
from theorysim.engine.reproduce.runs import Runs
from theorysim.engine.review.recommendations import Recommendation, Weight
from theorysim.engine.review.record import Record
from theorysim.engine.review.words import count
from theorysim.engine.verify.report import EXIT_CODES
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent
from theorysim.versions import versions

if TYPE_CHECKING:
    from distributed import Client

DEFAULT_SECONDS = 300.0


class Change(StrEnum):
    """What a trial changes in an experiment."""

    NOTHING = "as it is"
    NULL = "a null"
    SEED = "another seed"
    SIZE = "half of a size"


@dataclass(frozen=True)
class Trial(Record):
    """One way in which the experiment was run: what was changed, and the verdict on each claim."""

    change: Change
    name: str
    verdicts: Mapping[str, Verdict]


@dataclass(frozen=True)
class ExperimentReview(Record):
    """A referee's report on an experiment; the first trial is the experiment as it is."""

    theorem: str
    title: str
    seed: int
    seconds: float
    runs: int
    versions: Mapping[str, str]
    verdict: Verdict
    trials: tuple[Trial, ...]
    left_out: tuple[str, ...]
    recommendations: tuple[Recommendation, ...]

    @property
    def exit_code(self) -> int:
        """0 shown, 3 contrary, 4 not shown."""
        return EXIT_CODES[self.verdict]

    @property
    def decision(self) -> str:
        """What a referee would tick; where trials were left out, only what was not found."""
        weights = {recommendation.weight for recommendation in self.recommendations}
        for weight in (Weight.MAJOR, Weight.MINOR):
            if weight in weights:
                return f"{weight} revision"
        found = f"no objection found in {count(len(self.trials), 'trial')}"
        return found if self.left_out else "accept"


def referee(
    theorem: Theorem | str,
    *,
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
    theorems: Files = (),
    kept: Path | None = None,
    client: Client | None = None,
    progress: Progress = silent,
) -> tuple[ExperimentReview, Reproduction]:
    """Review an experiment; also what its own runs gave, for a picture.

    Args:
        theorem: an experiment, its id, or a Python file with one.
        seconds: how long it may take. The experiment itself runs in full; a further trial is begun
            while there is time for as many runs as that took.
        seed: seed of the experiment's own runs.
        theorems: further files of theorems.
        kept: a folder where finished runs are kept and found again.
        client: of a Dask cluster, whose workers make the runs, as for `reproduce`.
        progress: called with the finished trials, all of them, and what runs now.

    Raises:
        UsageError: for what is no experiment, for an unknown id or file, and for seconds that are
            not positive.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem, theorems)
    if not isinstance(theorem, Experiment):
        raise UsageError(f"{theorem.id} is no experiment: review it as a theorem")
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{seconds} seconds: expected a positive number")
    begun = time.monotonic()
    plans = list(_plans(theorem, seed))
    trials: list[Trial] = []
    left_out: list[str] = []
    own = None
    for number, plan in enumerate(plans):
        progress(number, len(plans), plan.name)
        if own is not None and time.monotonic() - begun + own.seconds > seconds:
            left_out.append(plan.name)
            continue
        options = {"seed": seed, **plan.options}
        found = reproduce(theorem, kept=kept, theorems=theorems, client=client, **options)
        own = own or found
        trials.append(_trial(plan, found))
    assert own is not None
    report = own.report
    return ExperimentReview(
        theorem=theorem.id,
        title=theorem.title,
        seed=seed,
        seconds=seconds,
        runs=theorem.keys,
        versions=versions(),
        verdict=report.verdict,
        trials=tuple(trials),
        left_out=tuple(left_out),
        recommendations=tuple(recommend(trials, theorem.keys, _with_nulls(theorem))),
    ), own


@dataclass(frozen=True)
class _Plan:
    """A trial that is to be run: options of `reproduce`."""

    change: Change
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


def _plans(theorem: Experiment, seed: int) -> Iterator[_Plan]:
    primary = theorem.primary()
    yield _Plan(Change.NOTHING, "as it is", {"reading": primary.name})
    for mutant, variant in theorem.mutants_of(primary).items():
        touched = [c.name for c in primary.claims if mutant.touches(primary, c)]
        if touched:
            yield _Plan(Change.NULL, mutant.name, {"reading": variant.name, "claims": touched})
    other = seed ^ 1  # the largest seed has no next one
    yield _Plan(Change.SEED, f"seed {other}", {"reading": primary.name, "seed": other})
    for name, size in theorem.space.sizes.items():
        half = max(size.low, size.default // 2)
        if half < size.default and _is_admitted(theorem, {name: half}):
            settings = {"reading": primary.name, "settings": {name: half}}
            yield _Plan(Change.SIZE, f"{name} = {half}", settings)


def _is_admitted(theorem: Experiment, sizes: Mapping[str, int]) -> bool:
    """Whether these sizes and the other ones, as they are, meet the experiment's hypotheses."""
    every = theorem.space.default_sizes(**sizes)
    return unmet(Runs(theorem, theorem.primary(), every, seed=0, folder=None)) is None


def _trial(plan: _Plan, found: Reproduction) -> Trial:
    (reading,) = found.report.readings
    return Trial(plan.change, plan.name, {c.name: c.verdict for c in reading.claims})


def _with_nulls(theorem: Experiment) -> set[str]:
    """The claims of which some null should show nothing."""
    primary = theorem.primary()
    nulls = theorem.mutants_of(primary)
    return {c.name for c in primary.claims if any(null.touches(primary, c) for null in nulls)}


def recommend(
    trials: Sequence[Trial], runs: int, with_nulls: Collection[str]
) -> list[Recommendation]:
    """What to change or to know, gravest first.

    Args:
        trials: the first one is the experiment as it is.
        runs: how many each of them has.
        with_nulls: the claims that have a null, whether there was time for it or not.
    """
    own, *others = trials
    found = [_own(name, verdict, runs) for name, verdict in own.verdicts.items()]
    shown = [name for name, verdict in own.verdicts.items() if verdict is Verdict.HOLDS]
    found += [_nulls(name, others, name in with_nulls) for name in shown]
    found += [_other(name, trial) for name in shown for trial in others]
    told = [one for one in found if one is not None]
    return sorted(told, key=lambda one: list(Weight).index(one.weight))


def _own(name: str, verdict: Verdict, runs: int) -> Recommendation | None:
    if verdict is Verdict.VIOLATED:
        return Recommendation(Weight.MAJOR, f"“{name}” comes out contrary in {runs} runs.")
    if verdict is not Verdict.HOLDS:
        return Recommendation(Weight.MINOR, f"“{name}” is {WORDS[verdict]} by {runs} runs.")
    return None


def _nulls(name: str, others: Sequence[Trial], has_null: bool) -> Recommendation | None:
    """What the nulls say of a claim that the experiment shows."""
    tried = [t for t in others if t.change is Change.NULL and name in t.verdicts]
    showing = [t.name for t in tried if t.verdicts[name] is Verdict.HOLDS]
    told = ", ".join(f"“{null}”" for null in showing)
    if not has_null:
        return Recommendation(
            Weight.MINOR, f"“{name}” has no null: nothing shows that it can fail."
        )
    if tried and len(showing) == len(tried):
        text = f"“{name}” is shown by every null that was run ({told}): could it fail?"
        return Recommendation(Weight.MINOR, text)
    if showing:
        text = f"“{name}” is shown by {told}, too: what that leaves out is not its reason."
        return Recommendation(Weight.REMARK, text)
    return None


def _other(name: str, trial: Trial) -> Recommendation | None:
    """What another seed or size says of a claim that the experiment shows."""
    verdict = trial.verdicts.get(name)
    if trial.change is Change.NULL or verdict in (None, Verdict.HOLDS):
        return None
    is_grave = verdict is Verdict.VIOLATED and trial.change is Change.SEED
    weight = Weight.MAJOR if is_grave else Weight.MINOR
    return Recommendation(weight, f"“{name}” is shown, but {WORDS[verdict]} at {trial.name}.")
