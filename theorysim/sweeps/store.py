"""The zarr store of a sweep: written tile by tile, complete or resumable at every moment.

The arrays of the root group are the dataset, with one chunk per tile. The array `done` of the
group `progress` holds, for every tile that is complete, the checksum of its blocks: it is written
after them, so a tile without one is computed again, and a tile whose blocks disagree is damaged.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.errors import UsageError
from theorysim.sweeps.dataset import Blocks, Frame
from theorysim.sweeps.provenance import difference
from theorysim.sweeps.tiles import Tiling

if TYPE_CHECKING:
    import xarray

METADATA = "zarr.json"
# Never what the files announce: chunks of the older format can be pickles, which run code.
ZARR_FORMAT = 3
PROGRESS = "progress"
DONE = "done"
MISSING = -1


class StoreError(UsageError):
    """A store that holds something else, is damaged, or is being written."""


def is_store(path: Path) -> bool:
    """Whether something is there already.

    Raises:
        StoreError: where it is not a store of a sweep.
    """
    if not path.exists():
        return False
    if "grid_fingerprint" not in attributes(path):
        raise StoreError(f"{path} is not a store of a sweep: choose another name")
    return True


def attributes(path: Path) -> dict[str, Any]:
    """The attributes of a store; empty where there is none."""
    try:
        data = json.loads((path / METADATA).read_text())
    except (OSError, ValueError):
        return {}
    found = data.get("attributes", {}) if isinstance(data, dict) else {}
    return found if isinstance(found, dict) else {}


def create(path: Path, frame: Frame, tiles: Tiling) -> None:
    """An empty store; it appears under its name at once or not at all."""
    with _writing(path, "choose another place, or make room there"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=path.parent, prefix=f"{path.name}.", ignore_cleanup_errors=True
        ) as folder:
            draft = Path(folder) / path.name
            _write_frame(draft, frame, tiles)
            try:
                draft.rename(path)
            except OSError:
                raise StoreError(f"another run has just created {path}: start again") from None


def _write_frame(draft: Path, frame: Frame, tiles: Tiling) -> None:
    import zarr
    from zarr.codecs import Crc32cCodec, ZstdCodec
    from zarr.errors import ZarrUserWarning

    labels = frame.labels().assign_attrs(frame.with_tiles(tiles))
    labels.to_zarr(draft, mode="w", zarr_format=ZARR_FORMAT, consolidated=False)
    group = zarr.open_group(draft, mode="r+", zarr_format=ZARR_FORMAT)
    for variable in frame.variables:
        group.create_array(
            variable.name,
            shape=frame.shape(variable),
            dtype=variable.dtype,
            chunks=(*(1 for _ in frame.grid.size_shape), *tiles.block, *_whole(variable.shape)),
            compressors=[ZstdCodec(), Crc32cCodec()],
            dimension_names=frame.dims(variable),
            attributes={**frame.unit(variable.name)},
            config={"write_empty_chunks": True},
        )
    group.create_group(PROGRESS).create_array(
        DONE,
        shape=(len(frame.grid.combinations()), len(tiles)),
        dtype=np.int64,
        chunks=(1, 1),
        fill_value=MISSING,
    )
    with warnings.catch_warnings():
        # Other readers may ignore the collected metadata; xarray would warn without it.
        warnings.filterwarnings("ignore", "Consolidated metadata", ZarrUserWarning)
        zarr.consolidate_metadata(draft)


def _whole(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(max(length, 1) for length in shape)


class StoreResult:
    """The tiles of a store, which must hold the sweep of this frame.

    Raises:
        StoreError: where it holds another sweep, or a complete tile is damaged.
    """

    def __init__(self, path: Path, frame: Frame, process: int = 0, processes: int = 1):
        import zarr

        self._path, self._frame = path, frame
        stored = attributes(path)
        unlike = difference(stored, dict(frame.attributes))
        if unlike:
            raise StoreError(
                f"{path} holds the sweep of {unlike}: choose another store, or remove this one"
            )
        with self._reading(f"the length of the tiles of {path}"):
            tile = tuple(int(length) for length in json.loads(stored["tile"]))
            self.tiles = Tiling(frame.grid.shape, tile)
        self._group = zarr.open_group(
            path, mode="r+", zarr_format=ZARR_FORMAT, use_consolidated=False
        )
        with self._reading(f"the record of progress of {path}"):
            self._done = self._progress[:]
        for index in range(len(self._done)):
            for tile in range(process, len(self.tiles), processes):
                if self.is_done(index, tile):
                    self._check(index, tile)

    @cached_property
    def _progress(self) -> Any:
        return self._group[f"{PROGRESS}/{DONE}"]

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """The arrays, with all chunks written: one left out could not be told from one lost."""
        every: dict[str, Any] = {v.name: self._group[v.name] for v in self._frame.variables}
        config = {"write_empty_chunks": True}
        return {name: array.with_config(config) for name, array in every.items()}

    def is_done(self, index: int, tile: int) -> bool:
        """Whether the tile is complete."""
        return bool(self._done[index, tile] != MISSING)

    def write(self, index: int, tile: int, blocks: Blocks) -> None:
        """Write the blocks of a tile, then their checksum."""
        place = self._frame.place(index, self.tiles.region(tile))
        blocks = self._frame.padded(blocks)
        with _writing(self._path, "what is complete is kept: make room and run it again to resume"):
            for name, array in self._arrays.items():
                array[place] = blocks[name]
            self._progress[index, tile] = _checksum(blocks)

    def _check(self, index: int, tile: int) -> None:
        place = self._frame.place(index, self.tiles.region(tile))
        what = f"tile {tile} of {self._path}"
        with self._reading(what):
            blocks = {name: np.asarray(array[place]) for name, array in self._arrays.items()}
        if _checksum(blocks) != self._done[index, tile]:
            raise _damaged(what)

    @contextlib.contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
            raise _damaged(what) from error

    def dataset(self) -> xarray.Dataset:
        """The dataset of the store; arrays are read when they are used."""
        return open_store(self._path)


def open_store(path: Path) -> xarray.Dataset:
    """The dataset of a store; arrays are read when they are used."""
    import xarray

    return xarray.open_zarr(path, chunks=None, consolidated=True, zarr_format=ZARR_FORMAT)


@contextlib.contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Holds the store's lock, which ends with the process, however it ends.

    Raises:
        StoreError: where another process holds it.
    """
    with (path / METADATA).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreError(f"another run is writing {path}: wait for it to finish") from None
        yield


@contextlib.contextmanager
def _writing(path: Path, remedy: str) -> Iterator[None]:
    """A full disk, a quota or a file system that takes no files, as one message."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; {remedy}") from error


def _damaged(what: str) -> StoreError:
    return StoreError(
        f"{what} is damaged: its checksum disagrees; restore the store from a copy or remove it"
    )


def _checksum(blocks: Blocks) -> int:
    total = 0
    for name in sorted(blocks):
        raw = np.ascontiguousarray(blocks[name]).reshape(-1).view(np.uint8)
        total = zlib.crc32(raw.data, total)
    return total
