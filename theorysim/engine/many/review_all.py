"""Reviewing statements: one after the other, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.counts import checked_seed
from theorysim.engine import registry
from theorysim.engine.many.cluster import RETRIES, on_workers
from theorysim.engine.many.every import Every, chosen, code_with
from theorysim.engine.many.reviewed import Reviewed, Reviews
from theorysim.engine.many.reviewing import FOLDERS, Reviewing
from theorysim.engine.many.standing import standing
from theorysim.engine.registry.index import Files
from theorysim.engine.review.readings import Pictures
from theorysim.engine.review.review import DEFAULT_SECONDS, Review
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

if TYPE_CHECKING:
    from distributed import Client

# Of the finished reports in the folder of what is kept, beside those of stages and of runs.
FINISHED = "reviewed"


def review_all(
    only: str = "",
    *,
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
    theorems: Files = (),
    kept: Path | None = None,
    fresh: bool = False,
    client: Client | None = None,
    retries: int = RETRIES,
    progress: Progress = silent,
    tell: Callable[[Reviewed], None] | None = None,
) -> Reviews:
    """Review every statement of the catalogue, experiments too; one that raises stops no other.

    Args:
        only: only statements whose ids contain this text.
        seconds: for each of them, as for `review` and `referee`: how far a search comes in them
            depends on the machine.
        seed: seed of everything.
        theorems: further files of theorems, which all machines of a cluster find at one place.
        kept: a folder in which finished reviews are kept, and their stages, as far as a worker has
            that folder: a run that was interrupted goes on there, as long as seed, seconds,
            versions and code are the same.
        fresh: review again what is kept.
        client: of a Dask cluster; `verify_all` says what it is and what it does.
        retries: how often a task is tried again whose machine had too little memory or a bad disk.
        progress: called with the statements that are done, all of them, and the one at hand.
        tell: called with every result as it comes.

    Raises:
        UsageError: where no id contains the text, for a bad seed, for seconds that are not
            positive, and for a cluster none of whose workers has the same versions and code.
    """
    seed = checked_seed(seed)
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{seconds} seconds: expected a positive number")
    code = code_with(theorems)
    folder = None if kept is None else str(kept.resolve())
    tasks = [
        Reviewing(entry.id, code, seed, seconds, folder, fresh)
        for entry in chosen(only, code.files)
    ]
    finished = None if kept is None else _made(kept)
    every = Every(Reviewed, finished, fresh, client, retries, progress, tell)
    return Reviews(every.results(tasks))


def _made(folder: Path) -> Path:
    """The folder of finished reviews, with those of stages and runs beside it."""
    for name in (FINISHED, *FOLDERS):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return folder / FINISHED


def review_there(
    theorem: str,
    client: Client,
    *,
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
    theorems: Files = (),
    kept: Path | None = None,
    fresh: bool = False,
    pictures: Pictures | None = None,
) -> Review:
    """What `review` gives of a theorem, made by a worker of a cluster.

    Raises:
        UsageError: as `review` does, and for a cluster none of whose workers is fit.
    """
    code = code_with(theorems)
    entry = registry.find(theorem, code.files)
    folder = None if kept is None else str(kept.resolve())
    task = Reviewing(entry.id, code, seed, seconds, folder, fresh, pictures)
    ((_, found),) = on_workers([task], client, standing(code))
    if found.report is None:
        raise (RuntimeError if found.internal else UsageError)(found.error)
    return Review.from_json(found.report)
