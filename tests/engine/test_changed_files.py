"""Files of statements are read and run again when they have changed, and only then."""

import os
import sys

import theorysim
from tests.engine.test_registry import STATEMENT, write
from theorysim.engine.registry import headers


def test_a_file_is_loaded_again_only_when_it_has_changed(tmp_path):
    write(tmp_path, theorem_1=STATEMENT)
    path = tmp_path / "theorem_1.py"
    first = theorysim.theorem("local/theorem-1", [path])
    assert theorysim.theorem("local/theorem-1", [path]) is first
    path.write_text(STATEMENT.replace('"bound"', '"another bound"'))
    again = theorysim.theorem("local/theorem-1", [path])
    assert [claim.name for claim in again.claims] == ["another bound"]


def test_a_header_is_read_again_only_when_its_file_has_changed(tmp_path, monkeypatch):
    path = tmp_path / "rates.py"
    path.write_text(STATEMENT)
    (before,) = headers.read_headers(path)
    with monkeypatch.context() as nothing_is_parsed:
        nothing_is_parsed.setattr(headers, "_Source", None)
        assert headers.read_headers(path) == (before,)
    path.write_text(STATEMENT.replace('"""', '"""Changed: ', 1))
    (after,) = headers.read_headers(path)
    assert after.title == f"Changed: {before.title}"
    path.unlink()
    (gone,) = headers.read_headers(path)
    assert str(path) in gone.problem


def test_two_states_of_a_file_within_a_second_are_distinguished(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "theorem_1.py"
    for nanoseconds, name in ((0, "one"), (1000, "two")):
        path.write_text(STATEMENT.replace('"bound"', f'"{name}"'))
        os.utime(path, ns=(10**18 + nanoseconds,) * 2)
        loaded = theorysim.theorem("local/theorem-1", [path])
        assert [claim.name for claim in loaded.claims] == [name]
