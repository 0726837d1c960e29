"""Tiles of a sweep, computed by the workers of a cluster."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from theorysim.engine.many.cluster import on_workers
from theorysim.engine.many.standing import standing
from theorysim.engine.many.task import Code, UnfitWorker
from theorysim.errors import UsageError
from theorysim.sweeps.dataset import Blocks
from theorysim.sweeps.elsewhere import Computer, Elsewhere, Unlike, Work

if TYPE_CHECKING:
    from distributed import Client

# A sweep is cut into about so many tasks: each costs some milliseconds beside its work.
TASKS = 128
# Bytes that come back from a task, unless one tile has more.
TASK_BYTES = 2**25


def on_cluster(client: Client, f: Callable[..., Any]) -> Elsewhere:
    """Has the tiles of a sweep of this function computed by the workers."""
    recipe = getattr(f, "recipe", None)
    code = Code(files=recipe.files if recipe else ())
    return partial(_computed, client, recipe or partial(_itself, f), code)


def _itself(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


def _computed(
    client: Client,
    make: Callable[[], Callable[..., Any]],
    code: Code,
    work: Work,
    missing: Sequence[tuple[int, int]],
) -> Iterator[tuple[int, int, Blocks]]:
    packed = _packed(make, work)
    many = max(1, min(len(missing) // TASKS, TASK_BYTES // max(work.tile_bytes, 1)))
    tasks = [
        Tiles(packed, index, tuple(tile for _, tile in places[start : start + many]), code)
        for index, group in itertools.groupby(missing, key=lambda place: place[0])
        for places in [list(group)]
        for start in range(0, len(places), many)
    ]
    for task, found in on_workers(tasks, client, standing(code)):
        yield from ((task.index, tile, blocks) for tile, blocks in found)


def _packed(make: Callable[[], Callable[..., Any]], work: Work) -> bytes:
    """Pickled, by value what cannot be imported."""
    import cloudpickle  # comes with `distributed`

    try:
        return cloudpickle.dumps((make, work))
    except Exception as error:  # whatever an object makes pickle raise
        raise UsageError(
            f"the function cannot be sent to workers ({type(error).__name__}: {error}): define it "
            "in a module that they can import, or name a theorem by its id"
        ) from None


@dataclass(frozen=True)
class Tiles:
    """The task of computing some tiles of a combination of sizes."""

    sweep: bytes
    index: int
    tiles: tuple[int, ...]
    code: Code

    def work(self) -> list[tuple[int, Blocks]]:
        """Each tile with its blocks.

        Raises:
            UnfitWorker: where the function is another one in this process, or cannot be made.
        """
        return list(_computer(self.sweep).blocks(self.index, self.tiles))


@lru_cache(maxsize=1)
def _computer(sweep: bytes) -> Computer:
    """With its compiled programs, for all tasks of a sweep."""
    try:
        make, work = pickle.loads(sweep)
    except (ImportError, AttributeError) as error:
        raise UnfitWorker(f"it cannot import the function: {error}") from None
    try:
        return work.computer(make())
    except Unlike as error:
        raise UnfitWorker(str(error)) from None
