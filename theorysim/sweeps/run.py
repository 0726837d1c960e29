"""Running a sweep: the plan, the choice of tiles, and the loop that keeps the devices busy."""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar

import jax
import numpy as np
from jax.extend import core

from theorysim.jaxprs.cost import CALLBACKS, LIBRARIES
from theorysim.jaxprs.structure import contains
from theorysim.memory import (
    CHUNK_SHARE,
    chunk_length,
    device_bytes,
    programs_that_fit,
    tree_bytes,
)
from theorysim.progress import Progress
from theorysim.sweeps.compile import (
    Inputs,
    Program,
    compile_inputs,
    compile_tiles,
    fit_tiles,
    local_mesh,
    whole_vectors,
)
from theorysim.sweeps.dataset import Blocks, Result
from theorysim.sweeps.grid import Grid
from theorysim.sweeps.outputs import Cell, Variable, cell_function, example_arguments
from theorysim.sweeps.outputs import variables as output_variables
from theorysim.sweeps.tiles import Tiling, default_cells, tiling
from theorysim.threads import side_by_side, threads_for

# Calls that wait for the devices while the host keeps the results of an earlier one.
CALLS_AHEAD = 2
# Seconds from which on a call is worth a thread, which costs a tenth of a millisecond.
LONG = 1e-3

Group = TypeVar("Group")
Called = TypeVar("Called")


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be computed: a cell function per combination of sizes, and what they return."""

    grid: Grid
    cells: tuple[Cell, ...]
    jaxprs: tuple[core.ClosedJaxpr, ...]
    variables: tuple[Variable, ...]
    cell_bytes: int


def plan(f: Callable[..., Any], grid: Grid, dims: Mapping[str, Sequence[str]]) -> Plan:
    """Trace the function once per combination of sizes."""
    cells = tuple(
        cell_function(f, grid, index, sizes) for index, sizes in enumerate(grid.combinations())
    )
    traced = [jax.make_jaxpr(cell, return_shape=True)(*example_arguments(grid)) for cell in cells]
    jaxprs, shapes = zip(*traced)
    cell_bytes = max(tree_bytes(shape) for shape in shapes)
    return Plan(grid, cells, jaxprs, output_variables(shapes, grid, dims), cell_bytes)


class Executor:
    """The devices of this process and the programs compiled for them."""

    def __init__(self, plan: Plan, report: Progress):
        self.plan = plan
        self.report = report
        self.done = 0
        self.mesh = local_mesh()
        self.compiled = cache(self._compile)
        self.inputs = cache(self._inputs)

    def _inputs(self, tiles: Tiling) -> Inputs:
        # A call of a library is no loop over vectors, and one of the user's is made once for each
        # cell. All sizes share the inputs.
        plain = not any(contains(closed.jaxpr, LIBRARIES) for closed in self.plan.jaxprs)
        length = whole_vectors(tiles.cells) if plain else tiles.cells
        return compile_inputs(self.plan.grid, tiles, self.mesh, length)

    def _compile(self, index: int, tiles: Tiling) -> tuple[Program, int]:
        sizes = ", ".join(f"{k} = {v}" for k, v in self.plan.grid.combinations()[index].items())
        self.tell(f"compiling {sizes}".strip())
        return compile_tiles(self.plan.cells[index], self.inputs(tiles))

    def calls_at_once(self, index: int, tiles: Tiling) -> int:
        """How many calls may run side by side, if memory lets them: one for each processor.

        Fewer of those with linear algebra (`threads_for`). One at a time where cells call back into
        Python, which need not expect threads; where the user looks for NaN, which threads would not
        know of; and on several devices of a CPU, which share its processors within a call.
        """
        program = self.plan.jaxprs[index].jaxpr
        looks = jax.config.jax_debug_nans or jax.config.jax_debug_infs  # type: ignore[attr-defined]
        if self.mesh.size > 1 or looks or contains(program, CALLBACKS):
            return 1
        fitting = programs_that_fit(self.compiled(index, tiles)[1])
        return min(threads_for(contains(program, LIBRARIES)), fitting)

    def tell(self, text: str, more: int = 0) -> None:
        """Report that so many more cells are done."""
        self.done += more
        self.report(self.done, math.prod((*self.plan.grid.size_shape, *self.plan.grid.shape)), text)

    def tiles(self, cells: int | None, budget: int | None) -> Tiling:
        """Tiles of so many cells, or of as many as are fast and fit into the budget."""
        shape = self.plan.grid.shape
        if cells is not None:
            return tiling(shape, cells)
        budget = int(device_bytes() * CHUNK_SHARE) if budget is None else budget
        most = default_cells(shape, jax.default_backend())
        most = chunk_length(self.plan.cell_bytes, most, "the sweep")
        combinations = range(len(self.plan.cells))
        return fit_tiles(
            shape, most, budget, lambda t: max(self.compiled(i, t)[1] for i in combinations)
        )


# Called with the missing tiles, each with the index of its sizes: their blocks as they come.
Compute: TypeAlias = Callable[[Sequence[tuple[int, int]]], Iterator[tuple[int, int, Blocks]]]


def fill(
    executor: Executor,
    result: Result,
    process: int = 0,
    processes: int = 1,
    compute: Compute | None = None,
) -> None:
    """Compute what the result lacks of this process's share: every `processes`-th tile.

    Without `compute`, the devices of this process do it.
    """
    every = range(len(executor.plan.cells)), range(process, len(result.tiles), processes)
    share = list(itertools.product(*every))
    missing = [place for place in share if not result.is_done(*place)]
    executor.done += sum(_cells(result.tiles, tile) for _, tile in {*share} - {*missing})
    made = compute(missing) if compute else _computed_here(executor, result.tiles, missing)
    # Where keeping them fails, nothing more is computed, however long the error is held.
    with closing(made) if isinstance(made, Generator) else nullcontext():
        for index, tile, blocks in made:
            result.write(index, tile, blocks)
            executor.tell("sweep", more=_cells(result.tiles, tile))


def _computed_here(
    executor: Executor, tiles: Tiling, missing: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, Blocks]]:
    for index, places in itertools.groupby(missing, key=lambda place: place[0]):
        for tile, blocks in computed(executor, index, tiles, [tile for _, tile in places]):
            yield index, tile, blocks


def _cells(tiles: Tiling, tile: int) -> int:
    return math.prod(part.stop for part in tiles.inside(tile))


def computed(
    executor: Executor,
    index: int,
    tiles: Tiling,
    missing: Sequence[int],
    at_once: int | None = None,
) -> Iterator[tuple[int, Blocks]]:
    """The blocks of the missing tiles, in order, while others are computed.

    Of a CPU's calls so many run `at_once`: by default as many as it has processors and memory for.
    """
    if not missing:
        return
    devices = executor.mesh.size
    groups = [missing[start : start + devices] for start in range(0, len(missing), devices)]
    program, _ = executor.compiled(index, tiles)

    def call(group: Sequence[int]) -> tuple[Sequence[int], Mapping[str, jax.Array]]:
        # Devices without a tile of their own repeat the last one.
        every = [*group, *[group[-1]] * (devices - len(group))]
        origins = np.array([tiles.origin(tile) for tile in every])
        return group, program(origins.reshape(devices, len(tiles.shape)))

    threads = executor.calls_at_once(index, tiles) if at_once is None else at_once
    for group, found in _called(call, groups, threads):
        yield from _blocks(tiles, group, found)


def _called(
    call: Callable[[Group], Called], groups: Sequence[Group], at_once: int
) -> Iterator[Called]:
    """What a call makes of each group, in order; long calls on threads, so many at once.

    How long one takes is seen at the first, which is waited for. Short ones are begun, and not
    waited for, while an earlier one is kept.
    """
    begun = time.perf_counter()
    first = jax.block_until_ready(call(groups[0]))
    is_long, others = time.perf_counter() - begun > LONG, groups[1:]
    yield first
    threads = min(at_once, len(others)) if is_long else 1
    if threads > 1:
        done = lambda group: jax.block_until_ready(call(group))  # noqa: E731
        yield from side_by_side(done, others, threads)
        return
    running: deque[Called] = deque()
    for group in others:
        running.append(call(group))
        if len(running) > CALLS_AHEAD:
            yield running.popleft()
    while running:
        yield running.popleft()


def _blocks(
    tiles: Tiling, group: Sequence[int], found: Mapping[str, jax.Array]
) -> Iterator[tuple[int, Blocks]]:
    """Each tile's cells in the shape of the tile, cut to the grid."""
    on_host = {name: np.asarray(values) for name, values in found.items()}
    for place, tile in enumerate(group):
        cells = slice(place * tiles.cells, (place + 1) * tiles.cells)
        yield (
            tile,
            {
                name: values[cells].reshape(tiles.block + values.shape[1:])[tiles.inside(tile)]
                for name, values in on_host.items()
            },
        )
