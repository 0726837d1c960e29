"""Compiled programs of a sweep: tiles of cells, one per device, within a budget of memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Wrapped
from jaxtyping import Array, Int

from theorysim.compiled import jit
from theorysim.errors import SizeError
from theorysim.memory import program_bytes
from theorysim.sweeps.grid import Grid
from theorysim.sweeps.outputs import Cell, Columns, Picked, Position
from theorysim.sweeps.tiles import Tiling, tiling

CELLS = "cells"

# Kernels over multiples of 16 numbers have no rest that is computed one by one at every step of a
# loop: 2000 steps of descent take 665 ns for each of 13,000 cells, and 365 for each of 13,056. Of
# fewer vectors than these, the cells that are added would be a large part.
VECTOR, MANY_VECTORS = 16, 64

Origins = Int[np.ndarray, "devices dims"]
Program = Callable[[Origins], dict[str, Array]]
# Where the cells of tiles lie (empty where no key depends on it), and what stands in columns there.
Given = tuple[Position, Columns]


class Inputs(NamedTuple):
    """What computes the arguments of all cells of a tile on each device, one after another.

    They are of `length` cells, those of a tile first. It is a program of its own. Within the one
    that computes the cells, columns would be read by every operation that uses them, and what cells
    share computed once, and rounded otherwise.
    """

    program: Callable[[Origins], Given]
    shapes: Given
    bytes: int
    tiles: Tiling
    length: int
    mesh: Mesh


def local_mesh() -> Mesh:
    """All devices of this process in a row."""
    return Mesh(np.array(jax.local_devices()), (CELLS,))


def compile_inputs(grid: Grid, tiles: Tiling, mesh: Mesh, length: int) -> Inputs:
    """The arguments of cells, from the first position of every device's tile.

    What sticks out of the grid repeats the last position of an axis, and what is added to a tile's
    cells, up to a `length`, the last of them.
    """
    shared, split = PartitionSpec(), PartitionSpec(CELLS)

    def inputs(origins: Array, columns: Columns) -> Given:
        rows = [
            jnp.minimum(origins[0, axis] + jnp.arange(part, dtype=jnp.int32), positions - 1)
            for axis, (part, positions) in enumerate(zip(tiles.block, tiles.shape))
        ]
        position = tuple(_spread(tiles, axis, row) for axis, row in enumerate(rows))
        picked: Columns = tuple(
            {name: Picked(_spread(tiles, axis, values[row])) for name, values in column.items()}
            for axis, (row, column) in enumerate(zip(rows, columns))
        )
        given = (position if grid.seeds else ()), picked
        return jax.tree.map(partial(_lengthened, length), given)

    columns = jax.device_put(grid.columns(), NamedSharding(mesh, shared))
    placed = NamedSharding(mesh, split)
    origins = jax.ShapeDtypeStruct((mesh.size, len(tiles.shape)), np.int32, sharding=placed)
    lowered = _on_mesh(inputs, mesh, (split, shared)).lower(origins, columns)
    compiled = lowered.compile()
    shapes = jax.tree.map(
        lambda out: jax.ShapeDtypeStruct(out.shape, out.dtype, sharding=placed), lowered.out_info
    )
    return Inputs(
        lambda origins: compiled(origins.astype(np.int32), columns),
        shapes,
        program_bytes(compiled),
        tiles,
        length,
        mesh,
    )


def compile_tiles(cell: Cell, given: Inputs) -> tuple[Program, int]:
    """The program that computes a tile on each device, and the bytes that it takes per device.

    The program takes the first position of every device's tile and returns the cells of all tiles
    one after another. Each device runs the same local program whatever the number of devices.
    """
    nowhere: Any = (np.int32(0),) * len(given.tiles.shape)

    def tile(position: Position, columns: Columns) -> dict[str, Array]:
        one = lambda place, picked: cell(place or nowhere, picked)  # noqa: E731
        found = jax.vmap(one, axis_size=given.length)(position, columns)
        return jax.tree.map(lambda values: values[: given.tiles.cells], found)

    split = PartitionSpec(CELLS)
    compiled = _on_mesh(tile, given.mesh, (split, split)).lower(*given.shapes).compile()
    program = lambda origins: compiled(*given.program(origins))  # noqa: E731
    return program, given.bytes + program_bytes(compiled)


def _on_mesh(function: Callable, mesh: Mesh, specs: tuple[PartitionSpec, ...]) -> Wrapped:
    """The same local program on each device."""
    # Cells never communicate, so there is nothing to check about how values vary over the mesh.
    return jit(
        jax.shard_map(
            function, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(CELLS), check_vma=False
        ),
        computing_once=False,
    )


def whole_vectors(cells: int) -> int:
    """So many cells, or a few more that fill vectors, where there are many."""
    return -(-cells // VECTOR) * VECTOR if cells >= MANY_VECTORS * VECTOR else cells


def _lengthened(length: int, values: Array) -> Array:
    """The array with its last entry repeated, up to a length."""
    more = length - len(values)
    return jnp.concatenate([values, jnp.repeat(values[-1:], more, axis=0)]) if more else values


def _spread(tiles: Tiling, axis: int, values: Array) -> Array:
    """Values along an axis of a tile, for each of its cells."""
    own = values.shape[1:]
    lengths = [part if i == axis else 1 for i, part in enumerate(tiles.block)]
    block = jnp.broadcast_to(values.reshape(*lengths, *own), (*tiles.block, *own))
    return block.reshape(tiles.cells, *own)


def fit_tiles(
    shape: tuple[int, ...], most: int, budget: int, need: Callable[[Tiling], int]
) -> Tiling:
    """The tiles of at most `most` cells whose programs `need` no more bytes than the budget.

    Raises:
        SizeError: where a single cell does not fit.
    """
    while True:
        tiles = tiling(shape, most)
        taken = need(tiles)
        if taken <= budget:
            return tiles
        if tiles.cells == 1:
            raise SizeError(
                f"one cell needs {taken / 2**20:.3g} MiB, but the budget is "
                f"{budget / 2**20:.3g} MiB: raise the budget or choose smaller sizes"
            )
        most = max(1, min(tiles.cells // 2, tiles.cells * budget // taken))
