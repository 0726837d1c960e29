"""Chunks that are written at once are those of zarr, byte for byte."""

from pathlib import Path

import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ZstdCodec

from theorysim.sweeps.chunk_files import ChunkFiles

BOTH = [ZstdCodec(), Crc32cCodec()]


def empty(path: Path, shape, chunks, dtype, compressors=BOTH, **options) -> zarr.Array:
    array = zarr.create_array(
        path, shape=shape, chunks=chunks, dtype=dtype, compressors=compressors, **options
    )
    return array.with_config({"write_empty_chunks": True})


def files(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def numbers(shape, dtype) -> np.ndarray:
    drawn = np.random.default_rng(0).normal(size=shape) + 1j * np.ones(shape)
    return (drawn if np.dtype(dtype).kind == "c" else 3 * drawn.real).astype(dtype)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    ("shape", "chunks", "compressors"),
    [
        ((4, 6), (2, 3), BOTH),
        ((5, 7), (2, 3), BOTH),  # chunks stick out at both ends
        ((3, 5, 2), (1, 5, 2), [ZstdCodec()]),
        ((9,), (4,), [Crc32cCodec(), ZstdCodec(level=5, checksum=True)]),
        ((9,), (4,), None),
        ((), (), BOTH),
        ((3, 0), (2, 1), BOTH),  # nothing is written
    ],
)
def test_the_bytes_are_those_of_zarr(shape, chunks, compressors, dtype, tmp_path):
    values = numbers(shape, dtype)
    empty(tmp_path / "zarr", shape, chunks, dtype, compressors)[...] = values
    ours = ChunkFiles(
        tmp_path / "ours", empty(tmp_path / "ours", shape, chunks, dtype, compressors)
    )
    counts = [-(-length // part) for length, part in zip(shape, chunks)]
    for chunk in np.ndindex(*counts):
        place = tuple(slice(i * part, (i + 1) * part) for i, part in zip(chunk, chunks))
        ours.write(chunk, values[place])
    assert files(tmp_path / "ours") == files(tmp_path / "zarr")


def test_what_was_there_is_replaced(tmp_path):
    array = empty(tmp_path / "a", (4,), (4,), "float32", fill_value=7.0)
    for values in ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]):
        ChunkFiles(tmp_path / "a", array).write((0,), np.array(values, np.float32))
    np.testing.assert_array_equal(array[:], [5, 6, 7, 7])


@pytest.mark.parametrize(
    "options", [{"compressors": [GzipCodec()]}, {"serializer": BytesCodec(endian="big")}]
)
def test_arrays_that_are_encoded_otherwise_are_refused(options, tmp_path):
    array = empty(tmp_path / "a", (4,), (4,), "float32", **options)
    with pytest.raises(TypeError, match=r"Gzip|big"):
        ChunkFiles(tmp_path / "a", array)
