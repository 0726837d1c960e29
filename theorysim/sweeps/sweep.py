"""Sweeping a pure function over a grid: a labelled dataset, computed tile by tile.

Every tile is computed by one device with one program, and cells and keys are laid out by their
index in the grid: how many devices or processes take part changes no number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import jax

from theorysim.counts import checked_count, checked_seed
from theorysim.errors import UsageError
from theorysim.memory import check_host
from theorysim.progress import Progress, progress_bar, silent
from theorysim.sweeps.dataset import Frame, MemoryResult, Result, frame
from theorysim.sweeps.elsewhere import Elsewhere, Work
from theorysim.sweeps.grid import Seeds, grid
from theorysim.sweeps.processes import wait_for_all
from theorysim.sweeps.provenance import IDENTITY, provenance
from theorysim.sweeps.run import Compute, Executor, Plan, fill, plan
from theorysim.sweeps.statistics import Statistics
from theorysim.sweeps.store import StoreResult, create, is_store, sole_writer
from theorysim.sweeps.tiles import Tiling

if TYPE_CHECKING:
    import xarray

# Of a coordinate along an axis.
LABEL_BYTES = 8


class SweepOptions(TypedDict, total=False):
    """The options of `sweep`, for functions that hand them on; it says what they mean."""

    sizes: Mapping[str, Any] | None
    seeds: int | None
    seed: int
    independent_keys: bool
    statistics: str | Sequence[str]
    quantiles: Sequence[float]
    dims: Mapping[str, Sequence[str]] | None
    coords: Mapping[str, Any] | None
    units: Mapping[str, str] | None
    attributes: Mapping[str, Any] | None
    out: str | Path | None
    memory: int | None
    tile: int | None
    progress: Progress | bool
    elsewhere: Elsewhere | None


def sweep(
    f: Callable[..., Any],
    axes: Mapping[str, Any],
    *,
    sizes: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    seed: int = 0,
    independent_keys: bool = False,
    statistics: str | Sequence[str] = (),
    quantiles: Sequence[float] = (),
    dims: Mapping[str, Sequence[str]] | None = None,
    coords: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    attributes: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    memory: int | None = None,
    tile: int | None = None,
    progress: Progress | bool = False,
    elsewhere: Elsewhere | None = None,
) -> xarray.Dataset:
    """Evaluate a pure function on a grid.

    A cell with a NaN or an infinity is marked in the variable `diverged` (with statistics: the
    number of its seeds that diverged) and affects no other cell. A function that knows better
    returns an output of that name.

    Args:
        f: a pure function of named arguments that returns a tree of arrays.
        axes: lists of values by argument name, which span a product grid; a mapping as value is
            one zipped axis: `{"schedule": {"rate": [...], "steps": [...]}}`.
        sizes: lists of integers by argument name, passed as Python integers: every combination
            is compiled once. Outputs whose shape depends on them are padded with NaN.
        seeds: how many keys each point gets, as the argument `key`, along the dimension `seed`.
            Key s is `fold_in(jax.random.key(seed), s)`, the same at all points.
        seed: the base of all keys.
        independent_keys: fold the index of sizes and point into the keys too.
        statistics: "mean" and "standard_error" over the seeds, instead of every seed.
        quantiles: quantiles over the seeds, instead of every seed.
        dims: names of an output's own dimensions, by the name of the output.
        coords: coordinates of those dimensions, by their name.
        units: units of axes and outputs, by their name.
        attributes: further attributes of the dataset.
        out: a zarr store instead of memory. If it holds this very sweep, only what is missing
            there is computed. With several processes of `jax.distributed`, each writes its share.
        memory: bytes that a tile may take on a device; a sixteenth of its memory by default.
            Several are computed at once where they fit into an eighth.
        tile: cells of a tile, instead of a choice by size and memory.
        progress: show a bar, or call `progress(cells done, cells in all, what happens)`.
        elsewhere: has tiles computed by other processes; this one keeps them.

    Returns:
        A dataset over (sizes, axes, seed) with the outputs under the names of their paths in the
        tree (a bare array under the name of the function) and its provenance in the attributes.

    Raises:
        UsageError: for axes, sizes, names or a store that do not fit, with the remedy.
        SizeError: where one cell does not fit into the budget of memory.
    """
    kept = Statistics(
        (statistics,) if isinstance(statistics, str) else tuple(statistics), tuple(quantiles)
    )
    if kept and seeds is None:
        raise UsageError("statistics are over seeds: give their number as seeds")
    keys = None
    if seeds is not None:
        count = checked_count(seeds, f"{seeds!r} seeds")
        keys = Seeds(count, checked_seed(seed), independent_keys, kept)
    tile = None if tile is None else checked_count(tile, f"a tile of {tile!r} cells")
    with _reporter(progress) as report:
        executor = Executor(plan(f, grid(axes, sizes or {}, keys), dims or {}), report)
        _check_held(executor.plan, out is None)
        origin = provenance(f, executor.plan.grid, executor.plan.jaxprs)
        shell = frame(
            executor.plan.grid,
            executor.plan.variables,
            coords or {},
            units or {},
            {**origin, **(attributes or {})},
        )
        run = _Run(executor, shell, elsewhere, lambda: executor.tiles(tile, memory))
        return run.in_memory() if out is None else run.to_store(Path(out))


def _reporter(progress: Progress | bool) -> AbstractContextManager[Progress]:
    """What to call: the user's function, a bar on the error stream, or nothing."""
    if callable(progress):
        return nullcontext(progress)
    return progress_bar("sweep") if progress else nullcontext(silent)


def _check_held(plan: Plan, in_memory: bool) -> None:
    """Refuse a grid whose results, or whose labels alone, cannot be held; a store holds results."""
    lengths = (*plan.grid.size_shape, *plan.grid.shape)
    if in_memory:
        needed = plan.cell_bytes * math.prod(lengths)
        check_host(needed, "the sweep in memory", "take fewer points, or write a store (out)")
    check_host(LABEL_BYTES * sum(lengths), "labelling the grid", "take fewer points")


@dataclass(frozen=True, eq=False)
class _Run:
    """A sweep that is ready to be computed."""

    executor: Executor
    shell: Frame
    elsewhere: Elsewhere | None
    choose_tiles: Callable[[], Tiling]

    def in_memory(self) -> xarray.Dataset:
        """Fill arrays."""
        if jax.process_count() > 1:
            raise UsageError("several processes share a store: name one as out")
        result = MemoryResult(self.shell, self.choose_tiles())
        fill(self.executor, result, compute=self._compute(result))
        return result.dataset()

    def to_store(self, path: Path) -> xarray.Dataset:
        """Fill a new or an unfinished store; the first process creates it."""
        process, processes = jax.process_index(), jax.process_count()
        if self.elsewhere is not None and processes > 1:
            raise UsageError("several processes or a cluster: choose one")
        if process == 0 and not is_store(path):
            create(path, self.shell, self.choose_tiles())
        wait_for_all("created", path)
        with sole_writer(path) if process == 0 else nullcontext():
            result = StoreResult(path, self.shell, process, processes)
            fill(self.executor, result, process, processes, self._compute(result))
            wait_for_all("filled", path)
        return result.dataset()

    def _compute(self, result: Result) -> Compute | None:
        """What computes the tiles of a result, if not this process."""
        if self.elsewhere is None:
            return None
        plan, tiles = self.executor.plan, result.tiles
        in_float64 = jax.dtypes.canonicalize_dtype(float) == "float64"
        origin = {name: self.shell.attributes[name] for name in IDENTITY}
        work = Work(plan.grid, tiles.block, plan.cell_bytes * tiles.cells, in_float64, origin)
        return partial(self.elsewhere, work)
