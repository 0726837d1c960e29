"""A task for every statement of the catalogue: one after the other here, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from theorysim.engine import registry
from theorysim.engine.many.cluster import RETRIES, on_workers
from theorysim.engine.many.kept import Kept
from theorysim.engine.many.outcome import AnyOutcome
from theorysim.engine.many.standing import standing
from theorysim.engine.many.task import Code
from theorysim.engine.registry import Entry
from theorysim.engine.registry.index import Files
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

if TYPE_CHECKING:
    from distributed import Client


def code_with(files: Files) -> Code:
    """The code of these files of theorems, which all machines find at one place."""
    return Code(tuple(str(Path(file).resolve()) for file in files))


def chosen(only: str, files: Files) -> list[Entry]:
    """The statements whose ids contain this text.

    Raises:
        UsageError: where there is none.
    """
    found = [entry for entry in registry.catalogue(files) if only in entry.id]
    if not found:
        raise UsageError(f"no id contains {only!r}; `theorysim list` shows all ids")
    return found


@dataclass(frozen=True)
class Every(Generic[AnyOutcome]):
    """How many statements are worked through.

    Args:
        kind: what becomes of each.
        kept: a folder in which finished reports are kept.
        fresh: do again what is kept.
        client: of a cluster; None: in this process.
        retries: how often a task is tried again whose machine had too little memory or a bad disk.
        progress: called with the statements that are done, all of them, and the one at hand.
        tell: called with every result as it comes.
    """

    kind: type[AnyOutcome]
    kept: Path | None = None
    fresh: bool = False
    client: Client | None = None
    retries: int = RETRIES
    progress: Progress = silent
    tell: Callable[[AnyOutcome], None] | None = None

    def results(self, tasks: Sequence[Any]) -> tuple[AnyOutcome, ...]:
        """What became of each task (Verification, Reviewing), in their order.

        Raises:
            UsageError: for a cluster none of whose workers has the same versions and code.
        """
        found: dict[str, AnyOutcome] = {}
        for one in self._as_they_come(tasks):
            found[one.theorem] = one
            self.progress(len(found), len(tasks), one.theorem)
            if self.tell is not None:
                self.tell(one)
        return tuple(found[task.theorem] for task in tasks)

    def _as_they_come(self, tasks: Sequence[Any]) -> Iterator[AnyOutcome]:
        """First what is kept, then the rest as it is made."""
        here = standing(tasks[0].code)
        keep = Kept(self.kept, here, self.kind)
        known = {task: None if self.fresh else keep.load(task) for task in tasks}
        yield from (found for found in known.values() if found is not None)
        missing = [task for task, found in known.items() if found is None]
        if self.client is None:
            made = self._one_by_one(missing, len(tasks))
        else:
            made = on_workers(
                missing, self.client, here, retries=self.retries, failed=lambda t, e: t.failed(e)
            )
        for task, found in made:
            keep.store(task, found)
            yield found

    def _one_by_one(self, tasks: Sequence[Any], total: int) -> Iterator[tuple[Any, AnyOutcome]]:
        for number, task in enumerate(tasks, total - len(tasks)):
            self.progress(number, total, task.theorem)
            try:
                yield task, task.work()
            except Exception as error:  # whatever the work raises; the others go on
                yield task, task.failed(error)
