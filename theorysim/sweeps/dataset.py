"""Where the tiles of a sweep go: the frame of the dataset, and arrays in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from theorysim.errors import UsageError
from theorysim.sweeps.grid import SEED, Grid
from theorysim.sweeps.outputs import Variable
from theorysim.sweeps.statistics import QUANTILE
from theorysim.sweeps.tiles import Tiling

if TYPE_CHECKING:
    import xarray

Blocks = Mapping[str, np.ndarray]
Coordinates = dict[str, tuple[str, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Frame:
    """A dataset without its numbers."""

    grid: Grid
    variables: tuple[Variable, ...]
    coordinates: Coordinates
    units: Mapping[str, str]
    attributes: Mapping[str, Any]

    def dims(self, variable: Variable) -> tuple[str, ...]:
        """All dimensions of an output."""
        return (*self.grid.dims, *variable.dims)

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """All lengths of an output."""
        return (*self.grid.size_shape, *self.grid.shape, *variable.shape)

    def unit(self, name: str) -> dict[str, str]:
        """The attributes of an axis or an output."""
        return {"units": self.units[name]} if name in self.units else {}

    def with_tiles(self, tiles: Tiling) -> dict[str, Any]:
        """The attributes of the dataset with the shape of its tiles, on which its bits depend."""
        return {**self.attributes, "tile": json.dumps(tiles.block)}

    def padded(self, blocks: Blocks) -> dict[str, np.ndarray]:
        """Blocks padded with NaN where other sizes give longer outputs."""
        filled = {}
        for variable in self.variables:
            block = blocks[variable.name]
            own = block.shape[len(self.grid.shape) :]
            missing = [(0, full - have) for full, have in zip(variable.shape, own)]
            if any(after for _, after in missing):
                pads = [(0, 0)] * len(self.grid.shape) + missing
                block = np.pad(block, pads, constant_values=np.nan)
            filled[variable.name] = block
        return filled

    def place(self, index: int, region: tuple[slice, ...]) -> tuple:
        """Where the block of a tile belongs; `index` is that of the combination of sizes."""
        at = np.unravel_index(index, self.grid.size_shape) if self.grid.size_shape else ()
        return (*(int(i) for i in at), *region)

    def labels(self) -> xarray.Dataset:
        """The coordinates alone."""
        import xarray

        coords = {
            name: xarray.Variable(dims, values, self.unit(name))
            for name, (dims, values) in self.coordinates.items()
        }
        return xarray.Dataset(coords=coords)


def frame(
    grid: Grid,
    variables: tuple[Variable, ...],
    coords: Mapping[str, Any],
    units: Mapping[str, str],
    attributes: Mapping[str, Any],
) -> Frame:
    """The frame, with every dimension labelled.

    Raises:
        UsageError: for coordinates or units of something that is not there, or of a wrong length.
    """
    lengths: dict[str, int] = {}
    for variable in variables:
        for dim, length in zip(variable.dims, variable.shape):
            if lengths.setdefault(dim, length) != length:
                raise UsageError(
                    f"dimension {dim!r} has {lengths[dim]} positions in one output and {length} "
                    f"in {variable.name!r}: name the dimensions of outputs in dims"
                )
    coordinates: Coordinates = {
        name: labels
        for axis in (*grid.sizes, *grid.axes)
        for name, labels in axis.coordinates().items()
    }
    if grid.seeds and grid.keeps_seeds:
        coordinates[SEED] = SEED, np.arange(grid.seeds.count)
    if grid.seeds and grid.seeds.statistics.quantiles:
        coords = {**coords, QUANTILE: grid.seeds.statistics.quantiles}
    for dim, length in lengths.items():
        values = np.asarray(coords.get(dim, np.arange(length)))
        if values.shape != (length,):
            raise UsageError(f"coords of {dim!r}: expected {length} values, not {values.shape}")
        coordinates[dim] = dim, values
    known = {*coordinates, *(variable.name for variable in variables)}
    for kind, given in (("coords", {*coords} - {*lengths}), ("units", {*units} - known)):
        if given:
            raise UsageError(f"{kind} of {min(given)!r}, which is not there: {sorted(known)} are")
    return Frame(grid, variables, coordinates, units, attributes)


class Result(Protocol):
    """Where tiles go."""

    @property
    def tiles(self) -> Tiling:
        """The tiles."""
        ...

    def is_done(self, index: int, tile: int) -> bool:
        """Whether the tile need not be computed."""
        ...

    def write(self, index: int, tile: int, blocks: Blocks) -> None:
        """Keep the blocks of a tile, cut to the grid."""
        ...

    def dataset(self) -> xarray.Dataset:
        """All that was kept."""
        ...


class MemoryResult:
    """Arrays in memory."""

    def __init__(self, frame: Frame, tiles: Tiling):
        self.tiles = tiles
        self._frame = frame
        self._arrays = {v.name: np.empty(frame.shape(v), v.dtype) for v in frame.variables}

    def is_done(self, index: int, tile: int) -> bool:
        """Nothing is there before it is computed."""
        return False

    def write(self, index: int, tile: int, blocks: Blocks) -> None:
        """Copy the blocks into the arrays."""
        place = self._frame.place(index, self.tiles.region(tile))
        for name, block in self._frame.padded(blocks).items():
            self._arrays[name][place] = block

    def dataset(self) -> xarray.Dataset:
        """The arrays with their labels."""
        import xarray

        frame = self._frame
        found = frame.labels().assign(
            {
                v.name: xarray.Variable(frame.dims(v), self._arrays[v.name], frame.unit(v.name))
                for v in frame.variables
            }
        )
        return found.assign_attrs(frame.with_tiles(self.tiles))
