"""Kept programs: traced once, never used for another, and compute the same bits."""

import io
import os
import pickle
import subprocess
import sys
import time
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from programs import ROWS, counted, files, same

from theorysim import kept, loaded
from theorysim.environment import PROGRAMS
from theorysim.kept import Program, kept_value
from theorysim.store import PREFIX, kept_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(PROGRAMS, str(tmp_path / "programs"))
    return tmp_path / "programs"


def never(*arguments):
    raise AssertionError("traced, though it is kept")


def test_a_kept_program_is_not_traced_and_gives_the_same_bits(folder, monkeypatch, x64):
    calls = []
    first = Program(counted(calls), "text")(ROWS, 2.5)
    assert len(calls) == 1 and len(files(folder)) == 1
    same(Program(never, "text")(ROWS, 2.5), first)
    lowered = Program(never, "text").compile(ROWS, 2.5)
    same(lowered(ROWS, 2.5), first)
    monkeypatch.setenv(PROGRAMS, "")
    same(Program(counted([]), "text")(ROWS, 2.5), first)


def test_nothing_is_kept_where_nobody_knows_what_it_is_made_of(folder, x64):
    calls = []
    same(Program(counted(calls), None)(ROWS, 2.5), Program(counted(calls), None)(ROWS, 2.5))
    assert len(calls) == 2 and files(folder) == []
    assert kept_value(None, "number", lambda: 1) == 1
    assert kept_value(None, "number", lambda: 2) == 2
    assert files(folder) == []


def test_nothing_is_kept_of_what_was_edited_while_the_process_runs(folder, monkeypatch, x64):
    """A module that is imported late runs as edited, whatever its file says afterwards."""
    module = types.ModuleType("theorysim.late")
    module.__file__ = str(folder.parent / "late.py")
    (folder.parent / "late.py").write_text("edited")
    monkeypatch.setattr(loaded, "PACKAGE", str(folder.parent))
    monkeypatch.setitem(sys.modules, "theorysim.late", module)
    Program(counted([]), "text")(ROWS, 2.5)
    kept_value("text", "number", lambda: 1)
    assert files(folder) == []
    monkeypatch.setattr(loaded, "LOADED", time.time() + 10)
    kept_value("text", "number", lambda: 1)
    assert len(files(folder)) == 1


def test_texts_that_are_no_unicode_have_a_name_too(folder):
    assert kept_value("\udcff", "number", lambda: 1) == kept_value("\udcff", "number", never) == 1


def test_another_text_is_another_program(folder, x64):
    one = Program(counted([], 3.0), "text")(ROWS, 2.5)
    other = Program(counted([], 4.0), "another text")(ROWS, 2.5)
    assert not np.array_equal(one["sum"], other["sum"])
    assert len(files(folder)) == 2


@pytest.mark.parametrize(
    "other",
    [
        ({"a": ROWS["a"][:2], "n": ROWS["n"][:2]}, 2.5),
        ({"a": ROWS["a"].astype(np.float32), "n": ROWS["n"]}, 2.5),
        ({"a": ROWS["a"], "n": ROWS["n"].astype(np.int32)}, 2.5),
        (ROWS, 2),
    ],
    ids=["shape", "type", "integers", "scalar"],
)
def test_other_arguments_are_another_program(folder, other, x64):
    Program(counted([]), "text")(ROWS, 2.5)
    calls = []
    same(Program(counted(calls), "text")(*other), jax.jit(counted([]))(*other))
    assert len(calls) == 1 and len(files(folder)) == 2


def test_trees_of_equal_leaves_are_told_apart(folder, x64):
    a = np.arange(3.0)
    difference = {"x": a, "y": 2 * a}
    np.testing.assert_array_equal(Program(lambda d: d["x"] - d["y"], "t")(difference), -a)
    swapped = {"y": a, "z": 2 * a}
    np.testing.assert_array_equal(Program(lambda d: d["z"] - d["y"], "t")(swapped), a)


def test_single_and_double_precision_are_two_programs(folder):
    numbers = np.arange(5)

    def third(n):
        return jnp.cumsum(n / 3.0)

    with jax.enable_x64(True):
        double = Program(third, "text")(numbers)
    single = Program(third, "text")(numbers)
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    assert len(files(folder)) == 2
    one = Program(never, "text")  # and one object keeps them apart, too
    assert one(numbers).dtype == np.float32
    with jax.enable_x64(True):
        assert one(numbers).dtype == np.float64


@pytest.mark.parametrize("change", ["setting", "version", "flag"])
def test_what_traces_it_is_part_of_the_key(folder, monkeypatch, change, x64):
    Program(counted([]), "text")(ROWS, 2.5)
    kept._fixed.cache_clear()
    if change == "version":
        monkeypatch.setattr(kept, "versions", lambda: {"jax": "another"})
    if change == "flag":
        monkeypatch.setenv("EQX_ON_ERROR", "another")
    calls = []
    with jax.default_matmul_precision("highest" if change == "setting" else None):
        Program(counted(calls), "text")(ROWS, 2.5)
    assert len(calls) == 1
    monkeypatch.undo()
    kept._fixed.cache_clear()


@pytest.mark.parametrize("damage", ["bit", "cut", "other", "empty"])
def test_a_damaged_program_is_made_anew_and_replaced(folder, damage, x64, caplog):
    first = Program(counted([]), "text")(ROWS, 2.5)
    (path,) = files(folder)
    data = path.read_bytes()
    if damage == "other":  # whole, and no program
        kept_files().write(path.name.removeprefix(PREFIX), b"something else")
    else:
        wrong = data[:-1] + bytes([data[-1] ^ 1])
        path.write_bytes({"bit": wrong, "cut": data[:100], "empty": b""}[damage])
    calls = []
    same(Program(counted(calls), "text")(ROWS, 2.5), first)
    assert len(calls) == 1 and caplog.messages == []
    same(Program(never, "text")(ROWS, 2.5), first)


class _Stranger:
    """What runs a command where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


@pytest.mark.parametrize("inside", [False, True])
def test_a_file_from_a_stranger_runs_no_code(folder, tmp_path, inside, x64):
    """Neither in what tells of the program nor in what surrounds its machine code."""
    first = Program(counted([]), "text")(ROWS, 2.5)
    (path,) = files(folder)
    mark = tmp_path / "mark"
    strange = _Stranger(mark)
    if inside:
        found = kept._Plain(io.BytesIO(kept_files().read(path.name.removeprefix(PREFIX)))).load()
        strange = found._replace(payload=pickle.dumps((strange, [], True)))
    kept_files().write(path.name.removeprefix(PREFIX), pickle.dumps(strange))
    calls = []
    same(Program(counted(calls), "text")(ROWS, 2.5), first)
    assert len(calls) == 1 and not mark.exists()


def test_a_program_that_calls_python_is_not_kept(folder, x64):
    def of(n):
        return jax.pure_callback(lambda k: np.asarray(k) + 1, n, n, vmap_method="sequential")

    for _ in range(2):
        np.testing.assert_array_equal(Program(of, "text")(ROWS["a"]), ROWS["a"] + 1)
    assert files(folder) == []


def test_an_error_of_the_function_is_raised_and_nothing_kept(folder):
    def wrong(n):
        raise ValueError("its own")

    for _ in range(2):
        with pytest.raises(ValueError, match="its own"):
            Program(wrong, "text")(ROWS["a"])
    assert files(folder) == []


def test_reductions_of_kept_programs_keep_nan(folder, x64):
    undefined = np.full((20_000, 4, 3), np.nan)
    program = Program(jax.vmap(lambda row: jnp.max(jnp.abs(row), axis=0)), "text")
    assert np.isnan(program(undefined)).all()


@pytest.mark.parametrize("value", [[1.5, 3], ["", "text", True, float("inf"), 0.1 + 0.2], 7])
def test_values_are_kept_exactly(folder, value):
    assert kept_value("text", "what", lambda: value) == value
    assert kept_value("text", "what", never) == value
    assert kept_value("text", "another", lambda: "another") == "another"
    assert kept_value("another", "what", lambda: "third") == "third"


@pytest.mark.parametrize("strange", [b"\xff", b"no number"])
def test_a_value_that_is_none_is_made_anew(folder, strange):
    kept_value("text", "what", lambda: 7)
    (path,) = files(folder)
    kept_files().write(path.name.removeprefix(PREFIX), strange)
    assert kept_value("text", "what", lambda: 8) == 8
    assert kept_value("text", "what", never) == 8


def test_nothing_is_compiled_anew_for_a_folder_that_takes_nothing(
    tmp_path, monkeypatch, x64, caplog
):
    """JAX's own cache is used then."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(PROGRAMS, str(tmp_path / "file" / "programs"))
    compiled = []
    monkeypatch.setattr(
        kept, "compile_anew", lambda lowered: compiled.append(1) or lowered.compile()
    )
    found = [Program(counted([]), f"text {number}")(ROWS, 2.5) for number in range(3)]
    same(found[0], found[2])
    assert len(compiled) == 1 and "takes no file" in caplog.text


def test_no_folder_means_that_nothing_is_kept(monkeypatch, x64):
    monkeypatch.setenv(PROGRAMS, "")
    assert kept_files() is None
    calls = []
    for _ in range(2):
        Program(counted(calls), "text")(ROWS, 2.5)
    assert len(calls) == 2


@pytest.mark.parametrize("held", [5, (1, 2, 3)])
def test_a_program_that_somebody_else_wrote_is_made_anew(folder, held, x64):
    first = Program(counted([]), "text")(ROWS, 2.5)
    (path,) = files(folder)
    key = path.name.removeprefix(PREFIX)
    own = kept._Plain(io.BytesIO(kept_files().read(key))).load()
    kept_files().write(key, pickle.dumps(own._replace(held=held)))
    calls = []
    same(Program(counted(calls), "text")(ROWS, 2.5), first)
    assert len(calls) == 1


def test_programs_are_let_go(folder, x64):
    program = Program(counted([]), "text")
    program(ROWS, 2.5)
    assert program._at
    kept.forget()
    assert not program._at


PROCESS = """
import sys
import jax, numpy as np
import jax.numpy as jnp
from theorysim.kept import Program

def of(x):
    return {"sum": jnp.cumsum(jnp.sin(3 * x)) @ jnp.exp(x)}

with jax.enable_x64(True):
    for number in range(3):
        found = Program(of, f"text {number}")(np.linspace(0, 1, 10 + number))
        print(np.asarray(found["sum"]).tobytes().hex())
"""


@pytest.mark.thorough
def test_two_processes_at_once_find_the_same(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    several = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = [one.communicate(timeout=240)[0] for one in several]
    assert [one.returncode for one in several] == [0, 0]
    assert told[0] == told[1] and len(told[0].split()) == 3
    assert len(files(folder)) == 3
