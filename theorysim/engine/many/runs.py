"""Runs of an experiment, made by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.claims.experiment import Experiment
from theorysim.data import own
from theorysim.engine import registry
from theorysim.engine.many.cluster import on_workers
from theorysim.engine.many.standing import standing
from theorysim.engine.many.task import Code, UnfitWorker
from theorysim.engine.measure.setup import select_readings
from theorysim.engine.reproduce.runs import Elsewhere, Runs
from theorysim.errors import UsageError

if TYPE_CHECKING:
    import xarray
    from distributed import Client


def on_cluster(client: Client, theorem: Experiment, code: Code) -> Elsewhere:
    """Has runs of an experiment made by the workers, each of which writes nothing.

    Raises:
        UsageError: where the workers could not find it by its id.
    """
    try:
        found = registry.theorem(theorem.id, code.files)
    except UsageError as error:
        raise UsageError(f"workers cannot find the experiment: {error}") from None
    if found is not theorem:
        raise UsageError(
            f"workers would find another {theorem.id}: name the file of yours in `theorems`"
        )
    return partial(_made, client, code)


def _made(
    client: Client, code: Code, runs: Runs, missing: Sequence[int]
) -> Iterator[tuple[int, xarray.Dataset]]:
    together = min(len(missing), runs.together or 1)
    files = tuple((name, str(own.file_of(name))) for name in own.names())
    which = Which(runs.theorem.id, runs.reading.name, tuple(runs.sizes.items()), runs.seed, files)
    tasks = [
        SomeRuns(which, tuple(missing[first : first + together]), together, runs.mark, code)
        for first in range(0, len(missing), max(together, 1))
    ]
    for _, found in on_workers(tasks, client, standing(code)):
        yield from found


@dataclass(frozen=True)
class Which:
    """The runs of a reading of an experiment, in plain data; `files` are data of the user's own."""

    theorem: str
    reading: str
    sizes: tuple[tuple[str, int], ...]
    seed: int
    files: tuple[tuple[str, str], ...]

    @property
    def data(self) -> Mapping[str, Path]:
        """The files by the name of the data that they take the place of."""
        return {name: Path(file) for name, file in self.files}


@dataclass(frozen=True)
class SomeRuns:
    """The task of making some runs, so many at once; `mark` says which program makes them."""

    which: Which
    numbers: tuple[int, ...]
    together: int
    mark: str
    code: Code

    def work(self) -> list[tuple[int, xarray.Dataset]]:
        """The runs with their numbers.

        Raises:
            UnfitWorker: where this process would run another program, or has other data.
        """
        try:
            with own.instead(self.which.data):
                runs = _runs(self.which, self.together, self.mark, self.code.files)
                if runs.mark != self.mark:
                    raise UnfitWorker(f"other data or another program of {self.which.theorem}")
                return list(runs.made(self.numbers, self.together))
        except ImportError as error:  # packages that only some experiments take their data from
            raise UnfitWorker(str(error)) from None


@lru_cache(maxsize=1)
def _runs(which: Which, together: int, mark: str, files: tuple[str, ...]) -> Runs:
    """With its compiled programs, for all tasks of one mark."""
    theorem = registry.theorem(which.theorem, files)
    assert isinstance(theorem, Experiment)
    (reading,) = select_readings(theorem, which.reading, None)
    return Runs(theorem, reading, dict(which.sizes), which.seed, None, together)
