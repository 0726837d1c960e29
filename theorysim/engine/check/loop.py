"""The author's loop: its steps in order, up to the first one that finds something to mend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from theorysim.claims.experiment import Experiment
from theorysim.claims.verdict import Verdict
from theorysim.engine import registry
from theorysim.engine.check.agreement import precision
from theorysim.engine.check.mutants import mutants
from theorysim.engine.check.purity import purity
from theorysim.engine.check.shapes import shapes
from theorysim.engine.check.smoothness import smoothness
from theorysim.engine.check.step import MISTAKE, Step, Subject, Verdicts
from theorysim.engine.check.verdicts import attack, tightness, verification
from theorysim.engine.registry.faults import fault_in_a_file, located
from theorysim.errors import UsageError

# What needs no verdict, in order.
FIRST: tuple[Callable[[Subject], Step], ...] = (shapes, purity, smoothness, precision, mutants)


def check(
    query: str, *, theorems: tuple[Path, ...] = (), seed: int = 0, expected: Verdicts | None = None
) -> Iterator[Step]:
    """Check a statement step by step; the last step is the first that finds something to mend.

    Args:
        query: an id, a name, or a file with a theorem.
        theorems: files whose theorems are found, too.
        seed: seed of instances and simulations.
        expected: verdicts by reading and claim. Without them the primary reading must hold; with
            them every verdict must be the expected one, and what is not said to hold is not
            attacked.
    """
    try:
        entry = registry.find(query, theorems)
        theorem = registry.load(entry)
    except UsageError as error:
        yield Step("load", mend=str(error), code=MISTAKE)
        return
    if isinstance(theorem, Experiment):
        text = f"{entry.id} is an experiment, which has no claims to check: `theorysim reproduce`"
        yield Step("load", mend=text, code=MISTAKE)
        return
    readings = len(theorem.all_readings())
    yield Step("load", f"{entry.id}, {readings} reading" + "s" * (readings > 1))
    for step in _guarded(_steps(Subject(entry, theorem, seed, expected))):
        yield step
        if step.mend:
            return


def _steps(subject: Subject) -> Iterator[tuple[str, Callable[[], Step]]]:
    for step in FIRST:
        yield step.__name__, lambda step=step: step(subject)
    found: list = []

    def keep(pair: tuple) -> Step:
        found.append(pair[1])
        return pair[0]

    yield "verify", lambda: keep(verification(subject))
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
