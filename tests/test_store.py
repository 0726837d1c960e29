"""A folder of files that can be made again: whole or not there, bounded, no error where full."""

import os
import subprocess
import sys
from hashlib import sha256

import pytest

from theorysim.environment import PROGRAMS
from theorysim.store import DIGEST, PREFIX, Store

MIB = 1 << 20


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "programs", MIB)


def incompressible(size, seed=0):
    import numpy as np

    return np.random.default_rng(seed).bytes(size)


def test_what_is_written_is_read(store):
    assert store.read("a") is None
    store.write("a", b"content" * 1000)
    assert store.read("a") == b"content" * 1000
    store.write("a", b"")
    assert store.read("a") == b""


@pytest.mark.parametrize("place", [0, DIGEST - 1, DIGEST, DIGEST + 5, -1])
def test_one_wrong_bit_is_seen(store, tmp_path, place):
    store.write("a", incompressible(100))
    path = tmp_path / "programs" / "theorysim-a"
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert store.read("a") is None
    store.write("a", b"anew")
    assert store.read("a") == b"anew"


@pytest.mark.parametrize("left", [0, 1, DIGEST, DIGEST + 1, 100])
def test_a_file_that_was_cut_is_none(store, tmp_path, left):
    store.write("a", incompressible(1000))
    path = tmp_path / "programs" / "theorysim-a"
    path.write_bytes(path.read_bytes()[:left])
    assert store.read("a") is None


def test_the_least_recently_used_go(store, tmp_path):
    for number in range(4):
        store.write(str(number), incompressible(MIB // 5, number))
        os.utime(tmp_path / "programs" / f"theorysim-{number}", (number, number))
    assert store.read("0") is not None  # now the most recently used
    store.write("4", incompressible(MIB // 3, 4))
    left = {path.name.removeprefix(PREFIX) for path in (tmp_path / "programs").iterdir()}
    assert left == {"0", "3", "4"}
    assert sum(path.stat().st_size for path in (tmp_path / "programs").iterdir()) <= MIB


def test_what_a_stopped_writer_left_goes_too(store, tmp_path):
    store.write("a", b"content")
    left = tmp_path / "programs" / ".theorysim-b.half"
    left.write_bytes(incompressible(MIB))
    os.utime(left, (1, 1))
    store.write("c", b"content")
    assert not left.exists()
    assert store.read("a") == store.read("c") == b"content"


def test_files_of_others_stay_whatever_they_take(store, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "thesis.tar").write_bytes(incompressible(3 * MIB))
    (folder / ".notes").write_text("old")
    (folder / "not-theorysim-a").write_text("old")
    for path in list(folder.iterdir()):
        os.utime(path, (1, 1))
    for number in range(8):
        store.write(str(number), incompressible(MIB // 3, number))
    names = {path.name for path in folder.iterdir()}
    others = {"thesis.tar", ".notes", "not-theorysim-a"}
    assert others < names and len(names) < len(others) + 8


def test_a_folder_that_cannot_be_listed_is_warned_of(store, monkeypatch, caplog):
    def refused(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refused)
    store.write("a", b"content")
    assert "Permission denied" in caplog.text and PROGRAMS in caplog.text


def test_a_folder_that_takes_nothing_is_warned_of_once(tmp_path, caplog):
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "programs", MIB)
    for name in "abc":
        store.write(name, b"content")
        assert store.read(name) is None
    assert len(caplog.records) == 1
    assert caplog.messages[0].count("\n") == 0
    assert str(tmp_path / "file" / "programs") in caplog.messages[0]


WRITER = """
import sys
from pathlib import Path
from theorysim.store import Store

folder, own = Path(sys.argv[1]), sys.argv[2].encode()
store = Store(folder, 1 << 16)  # so small that each clears what the other writes
for number in range(300):
    name = str(number % 7)
    store.write(name, own * 5000)
    found = store.read(name)
    assert found in (None, b"a" * 5000, b"b" * 5000), found[:20]
"""


def test_two_processes_share_a_folder(tmp_path):
    folder = str(tmp_path / "programs")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    several = [
        subprocess.Popen([sys.executable, "-c", WRITER, folder, own], env=environment)
        for own in "ab"
    ]
    assert [one.wait(timeout=120) for one in several] == [0, 0]
    assert not [path for path in (tmp_path / "programs").iterdir() if path.name.startswith(".")]


def test_a_file_under_another_name_is_none(tmp_path):
    store = Store(tmp_path, 1 << 20)
    store.write("one", b"content")
    (tmp_path / "theorysim-one").rename(tmp_path / "theorysim-other")
    assert store.read("other") is None


def test_what_something_else_wrote_with_a_digest_that_fits_is_none(tmp_path):
    digest = sha256(b"name\0junk").digest()
    (tmp_path / "name").write_bytes(digest + b"junk")
    assert Store(tmp_path, 1 << 20).read("name") is None
