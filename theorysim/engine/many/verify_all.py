"""Verifying every statement of the catalogue: one after the other, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.engine import registry
from theorysim.engine.many.attempt import attempt, failed
from theorysim.engine.many.cluster import RETRIES, on_workers
from theorysim.engine.many.kept import Kept
from theorysim.engine.many.standing import standing
from theorysim.engine.many.task import Task
from theorysim.engine.many.verified import Verifications, Verified
from theorysim.engine.measure.setup import check_seed
from theorysim.engine.registry.index import Files
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

if TYPE_CHECKING:
    from distributed import Client

Tell = Callable[[Verified], None]


def verify_all(
    only: str = "",
    *,
    instances: int | None = None,
    seed: int = 0,
    theorems: Files = (),
    kept: Path | None = None,
    fresh: bool = False,
    client: Client | None = None,
    retries: int = RETRIES,
    progress: Progress = silent,
    tell: Tell | None = None,
) -> Verifications:
    """Verify every statement of the catalogue; one that raises does not stop the others.

    Args:
        only: only statements whose ids contain this text.
        instances: as for `verify`; experiments, which have runs instead, are not asked for it.
        seed: seed of instances and simulations.
        theorems: further files of theorems, which all machines of a cluster find at one place.
        kept: a folder in which finished reports are kept: a run that was interrupted goes on
            there, as long as seed, versions and code are the same.
        fresh: verify again what is kept.
        client: of a Dask cluster (package `distributed`), whose workers are processes with one
            thread each. Without it statements are verified one after the other in this process.
        retries: how often a task is tried again whose machine had too little memory or a bad disk.
            What a lost worker did is done by others in any case.
        progress: called with the statements that are done, all of them, and the one at hand.
        tell: called with every result as it comes.

    Raises:
        UsageError: where no id contains the text, for a bad seed or number of instances, and for a
            cluster whose workers have other versions or code.
    """
    check_seed(seed)
    if instances is not None and instances < 1:
        raise UsageError(f"{instances} instances: expected at least 1")
    tasks = _tasks(only, instances, seed, tuple(str(Path(file).resolve()) for file in theorems))
    found: dict[str, Verified] = {}
    for one in _results(tasks, kept, fresh, client, retries, progress):
        found[one.theorem] = one
        progress(len(found), len(tasks), one.theorem)
        if tell is not None:
            tell(one)
    return Verifications(tuple(found[task.theorem] for task in tasks))


def _tasks(only: str, instances: int | None, seed: int, files: tuple[str, ...]) -> list[Task]:
    chosen = [entry for entry in registry.catalogue(files) if only in entry.id]
    if not chosen:
        raise UsageError(f"no id contains {only!r}; `theorysim list` shows all ids")
    return [
        Task(entry.id, files, seed, None if entry.is_experiment else instances) for entry in chosen
    ]


def _results(
    tasks: Sequence[Task],
    folder: Path | None,
    fresh: bool,
    client: Client | None,
    retries: int,
    progress: Progress,
) -> Iterator[Verified]:
    """First what is kept, then the rest as it is verified."""
    here = standing(tasks[0].files)
    keep = Kept(folder, here)
    known = {task: None if fresh else keep.load(task) for task in tasks}
    yield from (found for found in known.values() if found is not None)
    missing = [task for task, found in known.items() if found is None]
    if client is None:
        made = _one_by_one(missing, len(tasks), progress)
    else:
        made = on_workers(missing, client, here, retries)
    by_id = {task.theorem: task for task in missing}
    for found in made:
        keep.store(by_id[found.theorem], found)
        yield found


def _one_by_one(tasks: Sequence[Task], total: int, progress: Progress) -> Iterator[Verified]:
    for number, task in enumerate(tasks, total - len(tasks)):
        progress(number, total, task.theorem)
        try:
            yield attempt(task)
        except Exception as error:  # whatever a statement raises; the others go on
            yield failed(task, error)
