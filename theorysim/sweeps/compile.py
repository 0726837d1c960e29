"""Compiled programs of a sweep: tiles of cells, one per device, within a budget of memory."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Int

from theorysim.compiled import jit
from theorysim.errors import SizeError
from theorysim.memory import program_bytes
from theorysim.sweeps.grid import Grid
from theorysim.sweeps.outputs import Cell, Columns
from theorysim.sweeps.tiles import Tiling, tiling

CELLS = "cells"

Program = Callable[[Int[np.ndarray, "devices dims"]], dict[str, Array]]


def local_mesh() -> Mesh:
    """All devices of this process in a row."""
    return Mesh(np.array(jax.local_devices()), (CELLS,))


def compile_tiles(cell: Cell, grid: Grid, tiles: Tiling, mesh: Mesh) -> tuple[Program, int]:
    """The program that computes a tile on each device, and the bytes that it takes per device.

    The program takes the first position of every device's tile and returns the cells of all tiles
    one after another. Each device runs the same local program whatever the number of devices.
    """
    last = [length - 1 for length in tiles.shape]

    def tile(origins: Array, columns: Columns) -> dict[str, Array]:
        offsets = jnp.unravel_index(jnp.arange(tiles.cells, dtype=jnp.int32), tiles.block)
        position = tuple(
            jnp.minimum(origins[0, axis] + offsets[axis], end) for axis, end in enumerate(last)
        )
        return jax.vmap(cell, in_axes=(0, None), axis_size=tiles.cells)(position, columns)

    shared, split = PartitionSpec(), PartitionSpec(CELLS)
    # Cells never communicate, so there is nothing to check about how values vary over the mesh.
    on_mesh = jax.shard_map(
        tile, mesh=mesh, in_specs=(split, shared), out_specs=split, check_vma=False
    )
    columns = jax.device_put(grid.columns(), NamedSharding(mesh, shared))
    placed = NamedSharding(mesh, split)
    origins = jax.ShapeDtypeStruct((mesh.size, len(tiles.shape)), np.int32, sharding=placed)
    compiled = jit(on_mesh).lower(origins, columns).compile()

    def program(origins: Int[np.ndarray, "devices dims"]) -> dict[str, Array]:
        return compiled(jax.device_put(origins.astype(np.int32), placed), columns)

    return program, program_bytes(compiled)


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
