"""Programs that a task took before are loaded ahead of it, by a thread and by who waits for one."""

import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import ROWS, counted, files, same

from theorysim import kept
from theorysim.environment import PROGRAMS
from theorysim.kept import Program
from theorysim.store import PREFIX, kept_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(PROGRAMS, str(tmp_path / "programs"))
    return tmp_path / "programs"


def test_a_task_knows_its_own_programs_only(folder, x64):
    for task in ("one", "other"):
        with kept.foreseen(task):
            Program(counted([], len(task)), task)(ROWS, 2.5)
    with kept.foreseen("one"):
        assert len(kept._ahead) == 1


def test_a_task_knows_whether_its_programs_call_a_library(folder, monkeypatch, x64):
    found = []
    monkeypatch.setattr(kept, "find_library_alone", lambda: found.append(len(kept._ahead)))
    functions = {"plain": lambda rows: rows + 1, "calls": lambda rows: jnp.linalg.eigvalsh(rows)}
    for turn in range(3):  # compiled, loaded, and loaded again by what the second one wrote
        for name, function in functions.items():
            found.clear()
            with kept.foreseen(name):
                assert len(kept._ahead) == bool(turn)
                Program(function, name)(np.eye(2))
            assert found == [0] * (turn > 0 and name == "calls")


@pytest.mark.parametrize("strange", [b"\xff", b"same same", b""])
def test_what_a_task_is_said_to_take_may_be_anything(folder, monkeypatch, strange, x64):
    monkeypatch.setattr(kept, "_taken", {})
    with kept.foreseen("task"):
        first = Program(counted([]), "text")(ROWS, 2.5)
    for path in files(folder):
        if path.stat().st_size < 1000:
            kept_files().write(path.name.removeprefix(PREFIX), strange)
    with kept.foreseen("task"):
        same(Program(counted([]), "text")(ROWS, 2.5), first)


def test_what_a_task_took_is_loaded_by_a_thread(folder, monkeypatch, x64):
    readers = []
    read = kept._read

    def watched(key):
        readers.append(threading.current_thread() is threading.main_thread())
        return read(key)

    monkeypatch.setattr(kept, "_read", watched)
    monkeypatch.setattr(kept, "_taken", {})
    for task in ("task", "task", "another"):
        with kept.foreseen(task):
            first = Program(counted([]), "text")(ROWS, 2.5)
    assert readers == [True, False, True]  # not there; by the thread; unknown to the other task
    (path,) = (path for path in files(folder) if path.stat().st_size > 1000)
    path.write_bytes(b"")
    readers.clear()
    with kept.foreseen("task"):
        same(Program(counted([]), "text")(ROWS, 2.5), first)
    assert readers == [False]


def test_who_waits_for_a_program_loads_the_next_ones(folder, monkeypatch, x64):
    """With one thread, which does not come to its end before both others are read."""
    read, readers, both = kept._read, {}, threading.Event()

    def take():
        return [Program(counted([], 2.0 + n), f"text {n}")(ROWS, 2.5) for n in range(3)]

    def watched(key):
        readers[key] = threading.current_thread() is threading.main_thread()
        if not readers[key]:
            assert both.wait(60)
        found = read(key)
        if sum(readers.values()) == 2:
            both.set()
        return found

    monkeypatch.setattr(kept, "_taken", {})
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with kept.foreseen("task"):
        first = take()
    monkeypatch.setattr(kept, "_read", watched)
    with kept.foreseen("task"):
        same(take(), first)
        assert not kept._ahead
    assert list(readers.values()) == [False, True, True]


def test_others_are_read_until_the_awaited_program_is_there(monkeypatch):
    """Not those that a thread has begun, and none that somebody asks for meanwhile."""
    awaited, begun, read = Future(), Future(), []
    begun.set_running_or_notify_cancel()
    ahead = {"first": Future(), "begun": begun, "asked for": Future(), "last": Future()}
    last = ahead["last"]

    def reading(key):
        read.append(key)
        if key == "asked for":
            del ahead[key]
            awaited.set_result(None)
        return key

    monkeypatch.setattr(kept, "_ahead", ahead)
    monkeypatch.setattr(kept, "_read", reading)
    kept._read_others_before(awaited)
    assert read == ["first", "asked for"] and list(ahead) == ["first", "begun", "last"]
    assert ahead["first"].result() == "first" and ahead["begun"] is begun
    assert ahead["last"] is last and not last.done()


def test_threads_may_ask_for_programs_at_once(folder, monkeypatch, x64):
    """Each finds what another one reads meanwhile cancelled, and reads it, too."""
    read = kept._read

    def take(order):
        return {n: Program(counted([], 2.0 + n), f"text {n}")(ROWS, 2.5) for n in order}

    def slowly(key):
        time.sleep(0.02)
        return read(key)

    def taken_by(order):
        with jax.enable_x64(True):
            return take(order)

    monkeypatch.setattr(kept, "_taken", {})
    with kept.foreseen("task"):
        first = take(range(6))
    monkeypatch.setattr(kept, "_read", slowly)
    orders = (range(6), range(0, 6, 2), range(5, -1, -1))
    with kept.foreseen("task"), ThreadPoolExecutor(3) as threads:
        for found in threads.map(taken_by, orders):
            same(found, {n: first[n] for n in found})
    assert not kept._ahead
