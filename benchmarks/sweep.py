"""Sweeps against the bare jitted vmap: throughput in memory and into a store.

`theorysim.sweep` against one `jit(vmap(f))` call on the same cells and against calls tile by tile
(which stay in caches), whose results are copied to NumPy; for a closed form and for descents whose
cells take about .4 and a whole microsecond of a processor. Compilation is what the call that a user
makes takes beyond the compiled part of it.

What is left: a call of a tile costs some 60 us beside its cells, which a closed form feels. Into a
store most is zarr's: it takes each chunk through its event loop and threads, 2 to 3 ms for a tile.
Chunks written by code of our own, byte for byte the same, took 68 ms in all in place of 244, of
which zstd took 8 and the files 10 to 25; so cells of some nanoseconds cannot go into compressed
chunks at 0.7 of the bare call, and stores are left to zarr: .25 us of a
processor for each cell, beside which the cells are computed while there is another one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

import theorysim
from benchmarks.race import ROUNDS, Contender, Row, called, race, seconds
from theorysim.progress import silent
from theorysim.sweeps.dataset import Frame, MemoryResult, frame
from theorysim.sweeps.grid import grid
from theorysim.sweeps.provenance import provenance
from theorysim.sweeps.run import Executor, fill, plan
from theorysim.sweeps.store import StoreResult, create
from theorysim.sweeps.tiles import TILE_CELLS, Tiling


def closed_form(x: Array, y: Array) -> Array:
    """Some nanoseconds per cell."""
    return jnp.exp(-x * y) * jnp.sin(x + y)


def descent(x: Array, y: Array, steps: int = 2000) -> Array:
    """Steps on a quartic, of some .2 ns of a processor each."""
    return jax.lax.fori_loop(0, steps, lambda _, w: w - 0.01 * y * (w**3 - x), x)


def long_descent(x: Array, y: Array) -> Array:
    """About a microsecond of a processor per cell."""
    return descent(x, y, 5000)


def axes(cells: int, dtype: str = "float64") -> dict[str, np.ndarray]:
    """A square grid of about so many cells."""
    side = int(cells**0.5)
    return {
        "x": np.linspace(0.1, 1, side, dtype=dtype),
        "y": np.linspace(0.1, 1, side, dtype=dtype),
    }


def bare(f: Callable, cells: int) -> tuple[Contender, Contender]:
    """`jit(vmap(f))` on all cells at once and tile by tile, results copied to NumPy."""
    mesh = [m.ravel() for m in np.meshgrid(*axes(cells).values(), indexing="ij")]
    program = jax.jit(jax.vmap(f))

    def tiled() -> np.ndarray:
        starts = range(0, len(mesh[0]), TILE_CELLS)
        parts = [program(*(m[start : start + TILE_CELLS] for m in mesh)) for start in starts]
        return np.concatenate(parts)

    return (
        called("jit(vmap(f))", lambda: np.array(program(*mesh)), cells),
        called("jit(vmap(f)), tile by tile", tiled, cells),
    )


class Prepared(NamedTuple):
    """A compiled sweep that is yet to be filled, and the seconds that compiling it takes."""

    cells: int
    executor: Executor
    shell: Frame
    tiles: Tiling
    compile_seconds: float

    def in_memory(self) -> Contender:
        """Its cells into arrays."""
        result = MemoryResult(self.shell, self.tiles)
        run = partial(fill, self.executor, result)
        return Contender("sweep in memory", run, self.cells, self.compile_seconds)

    def into_store(self, folder: Path) -> Contender:
        """Its cells into stores that are there already, another one each time."""
        stores = [folder / f"{i}.zarr" for i in range(ROUNDS + 1)]
        for path in stores:
            create(path, self.shell, self.tiles)
        results = iter([StoreResult(path, self.shell) for path in stores])
        run = lambda: fill(self.executor, next(results))  # noqa: E731
        return Contender("sweep into a store", run, self.cells, self.compile_seconds)


def prepared(f: Callable, cells: int, dtype: str = "float64") -> Prepared:
    """The compiled part of a sweep, and what the call that a user makes takes beyond it."""
    given = axes(cells, dtype)
    executor = Executor(plan(f, grid(given, {}, None), {}), silent)
    origin = provenance(f, executor.plan.grid, executor.plan.jaxprs)
    shell = frame(executor.plan.grid, executor.plan.variables, {}, {}, origin)
    ready = Prepared(cells, executor, shell, executor.tiles(None, None), 0.0)
    whole = seconds(lambda: theorysim.sweep(f, given))
    warm = seconds(ready.in_memory().run)
    return ready._replace(compile_seconds=max(whole - warm, 0.0))


def rows(quick: bool) -> Iterator[Row]:
    """Sweeps in memory and into a store, each against both peers."""
    cells = 10**4 if quick else 10**6
    for f in (closed_form, descent, long_descent):
        peers = bare(f, cells)
        with tempfile.TemporaryDirectory() as folder:
            ready = prepared(f, cells)
            for ours in (ready.in_memory(), ready.into_store(Path(folder))):
                yield from race(
                    ours, *peers, size={f.__name__: cells}, unit="cell", dtype="float32"
                )
