"""The runs of an experiment, kept one by one: what is finished is not run again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.experiment import Experiment
from theorysim.claims.instance import Instance
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.reproduce.dataset import (
    RUN,
    Form,
    coordinates,
    form_of,
    read,
    to_dataset,
    write,
)
from theorysim.jaxprs.fingerprint import fingerprint
from theorysim.memory import check_host, most_that_fit, tree_bytes
from theorysim.precision import in_precision
from theorysim.progress import Progress
from theorysim.versions import versions

if TYPE_CHECKING:
    import xarray


# Called with the runs and the missing numbers: their data as they come.
Elsewhere: TypeAlias = Callable[["Runs", Sequence[int]], Iterator[tuple[int, "xarray.Dataset"]]]


@jax.jit
def _key_of_run(seed: int, number: int) -> jax.Array:
    return jax.random.fold_in(jax.random.key(seed), number)


@dataclass(frozen=True)
class Runs:
    """Runs of one reading of an experiment: their settings, and where they are kept, if anywhere.

    A run is known by its traced program, which holds the data and whatever a simulation has closed
    over: experiments that share a simulation share its runs, and what computes something else has
    runs of its own. At most so many as `together` says are made at once, by one vectorised program;
    None means one after another on a CPU, which a single run occupies, and elsewhere all that fit
    into the memory of the device. With `elsewhere`, other processes make them.
    """

    theorem: Experiment
    reading: ResolvedReading
    sizes: dict[str, int]
    seed: int
    folder: Path | None
    together: int | None = None
    elsewhere: Elsewhere | None = None

    @cached_property
    def instance(self) -> Instance:
        """The settings, in the precision of training."""
        with jax.enable_x64(False):
            return self.theorem.space.sample(jax.random.key(0), self.sizes)

    def measured(self, count: int, progress: Progress) -> xarray.Dataset:
        """So many runs, along the axis `run`; those that are kept are read.

        Raises:
            SizeError: where not even one fits into the memory of the device, or all results into
                that of the machine.
        """
        import xarray

        held = 2 * count * tree_bytes(self._traced.out_info)  # one by one, and put together
        check_host(held, f"{count} runs of {self.theorem.id}", "ask for fewer")
        axes = coordinates(self._form, self.theorem.axes(self.instance))
        parts = self._parts(count, progress)
        axis = xarray.IndexVariable(RUN, np.arange(count))
        found = xarray.concat(parts, axis, join="exact", combine_attrs="drop")
        return found.assign_coords(axes)

    def results(self, data: xarray.Dataset) -> Any:
        """The runs in the form in which `simulate` returns one, their axis first."""
        return self._form.kind(*(data[name].values for name in self._form.axes))

    @cached_property
    def _traced(self) -> Any:
        """The program of one run; traced anew each time, since data may be others than before."""
        return self._trace(self.reading.simulate, self._key(0))

    def _trace(self, simulate: Callable[..., Any], keys: jax.Array) -> Any:
        def anew(x: Instance, keys: jax.Array) -> Any:  # JAX would find an earlier trace of another
            return simulate(x, keys)

        with in_precision(double=False):
            return jax.jit(anew).trace(self.instance, keys)

    @cached_property
    def _form(self) -> Form:
        return form_of(self._traced.out_info)

    def _key(self, number: int) -> jax.Array:
        with jax.enable_x64(True):  # else a seed counts modulo 2^32
            return _key_of_run(self.seed, number)

    def _keys(self, numbers: Sequence[int]) -> jax.Array:
        return jnp.stack([self._key(number) for number in numbers])

    def _parts(self, count: int, progress: Progress) -> list[xarray.Dataset]:
        found = {number: self._kept(number) for number in range(count)}
        missing = [number for number, data in found.items() if data is None]
        done = count - len(missing)
        progress(done, count, "training")
        made = self.elsewhere(self, missing) if self.elsewhere else self.made(missing)
        for number, data in made:
            if self.folder is not None:
                write(data, self._place(self.folder, number))
            found[number] = data
            done += 1
            progress(done, count, "training")
        return [data for data in found.values() if data is not None]

    def made(
        self, numbers: Sequence[int], wanted: int | None = None
    ) -> Iterator[tuple[int, xarray.Dataset]]:
        """The runs of these numbers, of which some are made at once, as of `wanted` in all."""
        if not numbers:
            return
        program, length = self._program(wanted or len(numbers))
        for first in range(0, len(numbers), length):
            several = numbers[first : first + length]
            full = [*several, *[several[-1]] * (length - len(several))]
            begun = time.perf_counter()
            results = program(full)
            seconds = (time.perf_counter() - begun) / len(several)
            for number, *leaves in zip(several, *results, strict=False):
                yield number, to_dataset(self._form.kind(*leaves), self._form, seconds)

    @cached_property
    def _programs(self) -> dict[int, tuple[Callable[[Sequence[int]], Any], int]]:
        return {}

    def _program(self, wanted: int) -> tuple[Callable[[Sequence[int]], Any], int]:
        """What makes so many runs by their numbers, or as many as fit into memory, and how many."""
        if wanted not in self._programs:
            self._programs[wanted] = self._new_program(wanted)
        return self._programs[wanted]

    def _new_program(self, wanted: int) -> tuple[Callable[[Sequence[int]], Any], int]:
        by_default = 1 if jax.default_backend() == "cpu" else wanted
        most = min(wanted, self.together or by_default)
        compiled, length = most_that_fit(self._compiled, most, f"a run of {self.theorem.id}")

        def program(numbers: Sequence[int]) -> Any:
            keys = self._keys(numbers) if length > 1 else self._key(*numbers)
            with jax.enable_x64(False):
                found = jax.tree.map(np.asarray, compiled(self.instance, keys))
            return found if length > 1 else jax.tree.map(lambda leaf: leaf[None], found)

        return program, length

    def _compiled(self, length: int) -> Any:
        if length == 1:
            traced = self._traced
        else:
            vectorised = jax.vmap(self.reading.simulate, in_axes=(None, 0))
            traced = self._trace(vectorised, self._keys(range(length)))
        with jax.enable_x64(False):
            return traced.lower().compile()

    def _place(self, folder: Path, number: int) -> Path:
        return folder / self.mark / f"{number}.zarr"

    def _kept(self, number: int) -> xarray.Dataset | None:
        return None if self.folder is None else read(self._place(self.folder, number), self._form)

    @cached_property
    def mark(self) -> str:
        """What distinguishes these runs from others: the program, the seed and the versions."""
        what = {
            "program": fingerprint(self._traced.jaxpr),
            "results": repr(self._form),
            "seed": self.seed,
            "versions": versions(),
        }
        return sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
