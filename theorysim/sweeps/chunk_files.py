"""Chunks of a store on disk, byte for byte as zarr writes them, but written at once.

zarr takes each chunk through its event loop and, five times, to another thread and back: two to
three milliseconds for a tile, in which 200 000 cheap cells are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.files import write_whole

if TYPE_CHECKING:
    import zarr

Encode = Callable[[Any], bytes]


class ChunkFiles:
    """The chunks of an array in a folder that is a store of zarr.

    Raises:
        TypeError: for an array that is encoded otherwise than the stores of sweeps are.
    """

    def __init__(self, store: Path, array: zarr.Array):
        self._folder = store / array.path
        self._shape, self._fill = array.chunks, array.fill_value
        self._key = array.metadata.encode_chunk_key
        self._dtype = np.dtype(array.dtype).newbyteorder("<")
        self._encoders = _encoders(array.metadata)

    def write(self, chunk: tuple[int, ...], block: np.ndarray) -> None:
        """Write a chunk; a block that ends before it does is filled up.

        Raises:
            OSError: the disk takes no file; nothing is left of this one.
        """
        if not block.size:
            return
        if block.shape != self._shape:
            whole = np.full(self._shape, self._fill, self._dtype)
            whole[tuple(slice(length) for length in block.shape)] = block
            block = whole
        data: Any = np.ascontiguousarray(block, self._dtype).reshape(-1).view(np.uint8)
        for encode in self._encoders:
            data = encode(data)
        _put(self._folder / self._key(chunk), data)


def _encoders(metadata: Any) -> list[Encode]:
    """What zarr applies to the bytes of a chunk, one after the other."""
    from numcodecs import Zstd
    from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec

    first, *rest = metadata.codecs
    if not isinstance(first, BytesCodec) or first.endian not in (None, type(first)().endian):
        raise TypeError(f"chunks of {first}")
    found: list[Encode] = []
    for codec in rest:
        if isinstance(codec, ZstdCodec):
            found.append(Zstd(level=codec.level, checksum=codec.checksum).encode)
        elif isinstance(codec, Crc32cCodec):
            found.append(_with_crc32c)
        else:
            raise TypeError(f"chunks of {codec}")
    return found


def _with_crc32c(data: Any) -> bytes:
    import google_crc32c

    return b"".join((data, google_crc32c.value(data).to_bytes(4, "little")))


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)
