"""The author's loop: its steps in order, up to the first one that finds something to mend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from theorysim.claims.experiment import Experiment
from theorysim.claims.verdict import Verdict
from theorysim.engine import registry
from theorysim.engine.check.agreement import precision
from theorysim.engine.check.mutants import mutants
from theorysim.engine.check.purity import purity
from theorysim.engine.check.recorded import Record, expected_of, read_record, write_record
from theorysim.engine.check.shapes import shapes
from theorysim.engine.check.smoothness import smoothness
from theorysim.engine.check.step import MISTAKE, Step, Subject, Verdicts
from theorysim.engine.check.verdicts import attack, tightness, verification
from theorysim.engine.registry.entries import Entry
from theorysim.engine.registry.faults import fault_in_a_file, located
from theorysim.errors import UsageError

# What needs no verdict, in order.
FIRST: tuple[Callable[[Subject], Step], ...] = (shapes, purity, smoothness, precision, mutants)


@dataclass
class Loop:
    """Checks of statements, with what their files of recorded verdicts say.

    Attributes:
        theorems: files whose theorems are found, too.
        seed: seed of instances and simulations; that of the record, where there is one.
        record: where `finish` writes the verdicts; what is written there of others stays.
        against: a file of recorded verdicts. Without it and `record` the primary reading must hold;
            with one, the recorded verdicts are what counts, and only what holds is attacked.
    """

    theorems: tuple[Path, ...] = ()
    seed: int = 0
    record: Path | None = None
    against: Path | None = None
    found: dict[str, Verdicts] = field(default_factory=dict)

    def __post_init__(self):
        self._recorded: Record = {}
        if self.against is not None:
            self._recorded, self.seed = read_record(self.against)
        elif self.record is not None and self.record.exists():
            self._recorded = read_record(self.record)[0]

    def steps(self, query: str) -> Iterator[Step]:
        """Check a statement step by step; the last step is the first that finds something to mend.

        Args:
            query: an id, a name, or a file with a theorem.
        """
        try:
            entry = registry.find(query, self.theorems)
            subject = Subject(entry, registry.load(entry), self.seed, self._expected(entry))
        except UsageError as error:
            yield Step("load", mend=str(error), code=MISTAKE)
            return
        if isinstance(subject.theorem, Experiment):
            text = f"{entry.id} is an experiment, with no claims to check: `theorysim reproduce`"
            yield Step("load", mend=text, code=MISTAKE)
            return
        readings = len(subject.theorem.all_readings())
        yield Step("load", f"{entry.id}, {readings} reading" + "s" * (readings > 1))
        for step in _guarded(_steps(subject, recording=self.record is not None)):
            if step.verdicts is not None:
                self.found[entry.id] = step.verdicts
            yield step
            if step.mend:
                return

    def finish(self) -> None:
        """Write the verdicts that were found, beside those of other statements."""
        if self.record is not None:
            write_record(self.record, {**self._recorded, **self.found}, self.seed)

    def gone(self, paper: str) -> Iterator[str]:
        """Ids of recorded statements of a paper that are no longer there."""
        present = {
            entry.id for entry in registry.catalogue(self.theorems) if not entry.is_experiment
        }
        for id in self._recorded if self.against is not None else ():
            if id.startswith(f"{paper}/") and id not in present:
                yield id

    def _expected(self, entry: Entry) -> Verdicts | None:
        if self.against is None:
            return None
        return expected_of(self._recorded, entry.id, self.against)


def _steps(subject: Subject, recording: bool) -> Iterator[tuple[str, Callable[[], Step]]]:
    for step in FIRST:
        yield step.__name__, lambda step=step: step(subject)
    found: list = []

    def keep(pair: tuple) -> Step:
        found.append(pair[1])
        return pair[0]

    yield "verify", lambda: keep(verification(subject, recording))
    if found[0].verdict is Verdict.HOLDS:
        yield "falsify", lambda: keep(attack(subject))
        yield "tightness", lambda: tightness(subject, *found)


def _guarded(steps: Iterator[tuple[str, Callable[[], Step]]]) -> Iterator[Step]:
    """The steps taken; an error of the author's file is what its step found."""
    for name, take in steps:
        try:
            step = take()
        except UsageError as error:
            step = Step(name, mend=located(error), code=MISTAKE)
        except Exception as error:
            fault = fault_in_a_file(error)
            if fault is None:
                raise
            step = Step(name, mend=fault, code=MISTAKE)
        yield step
