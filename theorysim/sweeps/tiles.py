"""Cutting a grid into tiles: boxes of one shape, each computed by one device in one call.

A tile is also a chunk of the store, so its shape must not depend on how many devices or processes
take part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Larger tiles are not faster on a CPU; smaller ones feel the cost of a call.
TILE_CELLS = 2**14
# On an accelerator every step of a cell's loop is a call of some 10 us, however few the cells.
ACCELERATOR_CELLS = 2**22
# A small grid is still cut into this many tiles, for several devices and for a resumed run.
FEWEST_TILES = 16
# What a call costs beside its cells, in cells of a few nanoseconds.
CALL_CELLS = 256


@dataclass(frozen=True)
class Tiling:
    """Boxes of shape `block` that cover a grid; those at its upper ends stick out."""

    shape: tuple[int, ...]
    block: tuple[int, ...]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Tiles along each axis."""
        return tuple(-(-length // part) for length, part in zip(self.shape, self.block))

    @cached_property
    def cells(self) -> int:
        """Cells of a tile."""
        return math.prod(self.block)

    def __len__(self) -> int:
        return math.prod(self.counts)

    def place(self, tile: int) -> tuple[int, ...]:
        """Where a tile stands among the tiles along each axis."""
        places = []
        for count in reversed(self.counts):  # NumPy's unravel_index took as long as a hundred cells
            tile, at = divmod(tile, count)
            places.append(at)
        return tuple(reversed(places))

    def origin(self, tile: int) -> tuple[int, ...]:
        """The first position of a tile along each axis."""
        return tuple(place * part for place, part in zip(self.place(tile), self.block))

    def region(self, tile: int) -> tuple[slice, ...]:
        """The part of the grid that a tile covers."""
        return tuple(
            slice(start, min(start + part, length))
            for start, part, length in zip(self.origin(tile), self.block, self.shape)
        )

    def inside(self, tile: int) -> tuple[slice, ...]:
        """The part of a tile that lies inside the grid."""
        return tuple(slice(0, region.stop - region.start) for region in self.region(tile))


def default_cells(shape: tuple[int, ...], platform: str) -> int:
    """How many cells a tile may have on a platform of JAX where memory does not matter."""
    most = TILE_CELLS if platform == "cpu" else ACCELERATOR_CELLS
    return min(most, -(-math.prod(shape) // FEWEST_TILES))


def tiling(shape: tuple[int, ...], cells: int) -> Tiling:
    """Boxes of at most `cells` cells: whole inner axes, a part of one axis, outer ones singly."""
    block: list[int] = []
    for length in reversed(shape):
        room = cells // math.prod(block)
        block.append(_part(length, max(1, min(room, length)), math.prod(block)))
    return Tiling(shape, tuple(reversed(block)))


def _part(length: int, most: int, inner: int) -> int:
    """The part of an axis that is cheapest, counting the calls and the cells that stick out."""
    parts = np.arange(most, 0, -1)
    cost = -(-length // parts) * (parts * inner + CALL_CELLS)
    return int(parts[np.argmin(cost)])
