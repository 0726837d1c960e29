"""The runs of an experiment, kept one by one: what is finished is not run again."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from theorysim.claims.experiment import Experiment
from theorysim.claims.instance import Instance
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.registry.sources import PACKAGE, ROOMS, code_hash
from theorysim.engine.reproduce.dataset import RUN, SECONDS, dimensions, read, to_dataset, write
from theorysim.progress import Progress

if TYPE_CHECKING:
    import xarray

# What the results of an experiment rest on.
RESULTS = (*ROOMS, "data")


@dataclass(frozen=True)
class Runs:
    """Runs of one reading of an experiment: their settings, and where they are kept, if anywhere.

    Experiments that share a simulation share its runs.
    """

    theorem: Experiment
    reading: ResolvedReading
    sizes: dict[str, int]
    seed: int
    folder: Path | None

    def instance(self) -> Instance:
        """The settings, in the precision of training."""
        with jax.enable_x64(False):
            return self.theorem.space.sample(jax.random.key(self.seed), self.sizes)

    def measured(self, count: int, progress: Progress) -> xarray.Dataset:
        """So many runs, along the axis `run`; those that are kept are read."""
        import xarray

        parts = list(self._each(count, progress))
        axis = xarray.IndexVariable(RUN, np.arange(count))
        return xarray.concat(parts, axis, join="exact", combine_attrs="drop")

    def results(self, data: xarray.Dataset) -> Any:
        """The runs in the form in which `simulate` returns one, their axis first."""
        shape = jax.eval_shape(_program(self.reading.simulate), self.instance(), jax.random.key(0))
        named = dimensions(type(shape))
        return type(shape)(*(data[name].transpose(RUN, ...).values for name in named))

    def _each(self, count: int, progress: Progress) -> Iterator[xarray.Dataset]:
        for number in range(count):
            progress(number, count, "training")
            yield self._one(number)
        progress(count, count, "training")

    def _one(self, number: int) -> xarray.Dataset:
        place = self._place(number)
        found = None if place is None else read(place)
        if found is not None:
            return found
        x = self.instance()
        with jax.enable_x64(False):
            key = jax.random.fold_in(jax.random.key(self.seed), number)
            begun = time.perf_counter()
            result = jax.block_until_ready(_program(self.reading.simulate)(x, key))
            data = to_dataset(result, self.theorem.axes(x))
        data[SECONDS] = time.perf_counter() - begun
        if place is not None:
            write(data, place)
        return data

    def _place(self, number: int) -> Path | None:
        code = self._code()
        if self.folder is None or code is None:
            return None
        what = {"code": code, "sizes": self.sizes, "seed": self.seed}
        name = self.reading.simulate.__module__.rpartition(".")[2].strip("_").replace("_", "-")
        mark = sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]
        return self.folder / f"{name}-{mark}" / f"{number}.zarr"

    def _code(self) -> str | None:
        """What the results rest on; None where nobody can tell whether it has changed."""
        simulate = self.reading.simulate
        name = f"{simulate.__module__}.{simulate.__qualname__}"
        if "<" in name:  # made in a function: others may have its name
            name += f" of {self.theorem.id}, {self.reading.name}"
        if simulate.__module__.startswith(f"{PACKAGE.name}."):
            return name + code_hash(simulate.__module__, RESULTS)
        file = inspect.getsourcefile(simulate)
        if file is None or not Path(file).is_file():
            return None
        return f"{name} {file} {sha256(Path(file).read_bytes()).hexdigest()}"


@lru_cache(maxsize=16)
def _program(simulate: Callable) -> Callable:
    return jax.jit(simulate)
