"""Sweeping a pure function over a grid: a labelled dataset, computed tile by tile.

Every tile is computed by one device with one program, and cells and keys are laid out by their
index in the grid: how many devices or processes take part changes no number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import jax

from theorysim.errors import UsageError
from theorysim.memory import check_host
from theorysim.progress import Progress, progress_bar, silent
from theorysim.sweeps.dataset import Frame, MemoryResult, frame
from theorysim.sweeps.grid import Seeds, grid
from theorysim.sweeps.processes import wait_for_all
from theorysim.sweeps.provenance import provenance
from theorysim.sweeps.run import Executor, Plan, fill, plan
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
        tile: cells of a tile, instead of a choice by size and memory.
        progress: show a bar, or call `progress(cells done, cells in all, what happens)`.

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
    keys = None if seeds is None else Seeds(seeds, seed, independent_keys, kept)
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
        if out is not None:
            return _to_store(executor, shell, Path(out), lambda: executor.tiles(tile, memory))
        if jax.process_count() > 1:
            raise UsageError("several processes share a store: name one as out")
        result = MemoryResult(shell, executor.tiles(tile, memory))
        fill(executor, result)
        return result.dataset()


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


def _to_store(
    executor: Executor, shell: Frame, path: Path, tiles: Callable[[], Tiling]
) -> xarray.Dataset:
    """Fill a new or an unfinished store; the first process creates it."""
    process, processes = jax.process_index(), jax.process_count()
    if process == 0 and not is_store(path):
        create(path, shell, tiles())
    wait_for_all("created", path)
    with sole_writer(path) if process == 0 else nullcontext():
        result = StoreResult(path, shell, process, processes)
        fill(executor, result, process, processes)
        wait_for_all("filled", path)
    return result.dataset()
