"""Stores of sweeps: killed runs resume, other sweeps and damage are refused, devices agree."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import xarray
import zarr
from drawn import thorough
from zarr.storage import _local as local

from tests.sweeps import sweep_child
from theorysim.errors import UsageError
from theorysim.sweeps import StoreError, open_store, sweep
from theorysim.sweeps.store import sole_writer

ROOT = Path(__file__).parents[2]
TILES = 12
WAIT = 120


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A store that one process filled without a pause."""
    path = tmp_path_factory.mktemp("undisturbed") / "a.zarr"
    sweep_child.run(path)
    return path


def child(devices=1, **settings) -> subprocess.Popen:
    environment = {
        **os.environ,
        "NPROC": str(4 * devices + 12),
        "JAX_NUM_CPU_DEVICES": str(devices),
    }
    program = f"from tests.sweeps.sweep_child import main; main(**{settings!r})"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> tuple[int, str]:
    output, errors = process.communicate(timeout=WAIT)
    return process.returncode, output + errors


def content(path: Path) -> dict[str, bytes]:
    """All files of a store."""
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def computed(path: Path) -> int:
    """How many tiles a run into this store computes."""
    calls = []
    sweep_child.run(path, progress=lambda done, total, text: calls.append(text))
    return calls.count("sweep")


def test_a_store_equals_the_result_in_memory(undisturbed):
    stored = xarray.open_zarr(undisturbed, chunks=None).load()
    assert stored.identical(sweep_child.run())
    assert computed(undisturbed) == 0


@pytest.mark.parametrize("moment", [thorough("between"), "within"])
def test_a_killed_run_computes_only_what_is_missing(moment, undisturbed, tmp_path):
    path = tmp_path / "a.zarr"
    status, output = finish(child(out=str(path), kill=moment))
    assert status == -signal.SIGKILL, output
    assert computed(path) == TILES - sweep_child.KILL_AFTER
    assert content(path) == content(undisturbed)


@pytest.fixture
def full_disk(monkeypatch):
    """Lets so many chunks be written, and none after."""

    def allow(chunks: int) -> None:
        written = []
        put = local._put

        def limited(*arguments, **options):
            written.append(1)
            if len(written) > chunks:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return put(*arguments, **options)

        monkeypatch.setattr(local, "_put", limited)

    return allow


def test_a_full_disk_loses_nothing_that_was_written(undisturbed, tmp_path, full_disk, monkeypatch):
    path = tmp_path / "a.zarr"
    shutil.copytree(undisturbed, path)
    for index in range(2):
        shutil.rmtree(path / "progress" / "done" / "c" / str(index))
    with monkeypatch.context():
        full_disk(10)  # two tiles of three outputs and a mark, and a half
        with pytest.raises(StoreError, match=r"No space left.*make room and run it again"):
            sweep_child.run(path)
        monkeypatch.undo()
    assert computed(path) == TILES - 2
    assert content(path) == content(undisturbed)


def test_a_full_disk_leaves_no_store_that_was_not_begun(tmp_path, full_disk):
    full_disk(3)
    with pytest.raises(StoreError, match="No space left"):
        sweep_child.run(tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()


def test_what_takes_no_files_is_refused():
    with pytest.raises(StoreError, match="cannot write /proc/nowhere"):
        sweep_child.run(Path("/proc/nowhere/a.zarr"))


def test_pickles_in_a_store_of_the_older_format_are_not_read(undisturbed, tmp_path):
    """The attributes of a true store stand before arrays of the format whose chunks can be code."""
    path = tmp_path / "a.zarr"
    shutil.copytree(undisturbed, path)
    shutil.rmtree(path / "norm")
    old = zarr.create_array(
        path / "norm", shape=(1,), dtype="float64", zarr_format=2, chunks=(1,), overwrite=True
    )
    assert old.metadata.zarr_format == 2
    with pytest.raises(StoreError, match="is damaged"):
        sweep_child.run(path)


@pytest.mark.thorough
@pytest.mark.parametrize("devices", [2, 8])
def test_devices_do_not_change_a_bit(devices, undisturbed, tmp_path):
    path = tmp_path / "a.zarr"
    status, output = finish(child(devices, out=str(path)))
    assert status == 0 and f"{devices} devices" in output
    assert content(path) == content(undisturbed)


def pair(path: Path, kill: str) -> list[tuple[int, str]]:
    """Two processes on the loopback address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    both = [child(out=str(path), kill=kill, port=port, process=i) for i in range(2)]
    return [finish(process) for process in both]


@pytest.mark.thorough
def test_two_processes_share_a_store_and_resume_when_one_was_killed(undisturbed, tmp_path):
    path = tmp_path / "a.zarr"
    (survivor, output), (killed, _) = pair(path, kill="1")
    assert killed == -signal.SIGKILL
    assert survivor == 5 and "start all processes again to resume" in output
    for status, output in pair(path, kill=""):
        assert status == 0, output
    assert content(path) == content(undisturbed)


def test_tiles_of_another_size_agree_to_rounding(undisturbed):
    other = sweep_child.run(tile=7)
    stored = open_store(undisturbed).load()
    np.testing.assert_array_equal(other["positive"], stored["positive"])
    for name in ("end", "norm"):
        # Three steps of slope at most 1 + rate double an error thrice at most; a step makes a few.
        error = 64 * np.finfo(np.float32).eps * np.nanmax(np.abs(stored["end"]))
        np.testing.assert_allclose(other[name], stored[name], rtol=0, atol=error)


def line(slope):
    constants = slope * np.arange(5000.0, dtype=np.float32)

    def f(x):
        return x * jnp.sum(jnp.asarray(constants))

    return f


X = {"x": [1.0, 2.0]}


def test_another_sweep_is_refused(tmp_path):
    path = tmp_path / "a.zarr"
    sweep(line(1.0), X, out=path)
    sweep(line(1.0), X, out=path)
    before = content(path)
    with pytest.raises(StoreError, match="another function"):
        sweep(line(1.001), X, out=path)
    with pytest.raises(StoreError, match="another grid"):
        sweep(line(1.0), {"x": [1.0, 2.5]}, out=path)
    with pytest.raises(StoreError, match="another run is writing"), sole_writer(path):
        sweep(line(1.0), X, out=path)
    assert content(path) == before


def test_what_is_no_store_is_refused_and_left_alone(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("dear")
    with pytest.raises(UsageError, match="not a store of a sweep"):
        sweep(line(1.0), X, out=folder)
    assert (folder / "thesis.txt").read_text() == "dear"


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [flip, lambda file: file.write_bytes(file.read_bytes()[:5]), Path.unlink],
    ids=["flipped", "cut", "lost"],
)
def test_damage_is_refused(damage, tmp_path):
    path = tmp_path / "a.zarr"
    sweep(line(1.0), X, out=path, tile=1)
    damage(path / "f" / "c" / "1")
    with pytest.raises(StoreError, match=r"tile 1 of .* is damaged"):
        sweep(line(1.0), X, out=path)


def test_a_lost_record_of_progress_only_costs_a_tile(tmp_path):
    path = tmp_path / "a.zarr"
    sweep(line(1.0), X, out=path, tile=1)
    before = content(path)
    (path / "progress" / "done" / "c" / "0" / "1").unlink()
    sweep(line(1.0), X, out=path)
    assert content(path) == before
