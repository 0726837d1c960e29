"""`theorysim new`: what it offers passes the check, asks on terminals only, overwrites nothing."""

import ast
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from theorysim import cli
from theorysim.authoring.statements import KINDS, SYSTEMS, Statement, kinds_of, statements
from theorysim.authoring.writing import write_pack, write_statement
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError
from theorysim.testing import assert_mutants_are_refuted, assert_passes

ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    """What is typed on a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs `theorysim new` in an empty folder: exit code, output, error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        monkeypatch.setattr(sys, "stdin", stdin or io.StringIO())
        monkeypatch.setattr(sys, "argv", ["theorysim", "new", *arguments])
        with pytest.raises(SystemExit) as done:
            cli.main()
        output = capsys.readouterr()
        return done.value.code or 0, output.out, output.err

    return run


@pytest.mark.thorough
@pytest.mark.parametrize("statement", statements(), ids=lambda s: f"{s.system}, {s.kind}")
def test_what_is_offered_passes_the_check(statement, tmp_path):
    file = tmp_path / "my_rate.py"
    write_statement(file, statement)
    assert_passes(file)


def test_what_is_offered_holds_and_its_mutants_are_refuted(tmp_path):
    file = tmp_path / "my_rate.py"
    write_statement(file, Statement("plain", "at_most"))
    assert verify(str(file)).verdict == "holds"
    assert_mutants_are_refuted(str(file))


def test_files_are_formatted_and_free_of_what_is_not_used(tmp_path):
    for statement in statements():
        write_statement(tmp_path / f"{statement.system}_{statement.kind}.py", statement)
    write_pack(tmp_path / "my-rates", Statement("quadratic", "at_most"))
    options = ("--isolated", "--line-length", "100", str(tmp_path))
    lint = ("check", "--select", "E,F,I,W,D100")
    for command in (lint, ("format", "--check")):
        ruff = [sys.executable, "-m", "ruff", *command, *options]
        done = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout


def test_every_system_has_every_kind_but_those_that_are_explained():
    offered = {(s.system, s.kind) for s in statements()}
    for system in SYSTEMS:
        for kind in KINDS:
            if (system, kind) not in offered:
                with pytest.raises(UsageError, match=f"with it go {', '.join(kinds_of(system))}"):
                    Statement(system, kind)
    assert len(offered) >= 35


def test_nothing_is_asked_where_nobody_types(run, tmp_path):
    code, text, _ = run("my_rate.py")
    assert code == 0
    assert text.splitlines()[-1].startswith("next: theorysim check my_rate.py")
    tree = ast.parse((tmp_path / "my_rate.py").read_text())
    title = "The distance of gradient descent on a quadratic is at most a bound."
    assert (ast.get_docstring(tree) or "").splitlines()[0] == title


def test_what_is_missing_is_asked_on_a_terminal(run, tmp_path):
    code, text, _ = run("my_rate.py", stdin=Terminal("sgd\nequal\nMine, my own.\n"))
    assert code == 0
    assert "two_layer_linear" in text and "with_probability" in text
    assert "decreasing" not in text  # it does not go with sgd
    written = (tmp_path / "my_rate.py").read_text()
    assert written.startswith('"""Mine, my own.\n')
    assert "claims.equal(" in written and "jax.random.normal" in written


def test_nothing_is_overwritten(run, tmp_path):
    (tmp_path / "my_rate.py").write_text("mine")
    code, _, error = run("my_rate.py")
    assert code == 2 and "my_rate.py is there already: choose another name" in error
    assert (tmp_path / "my_rate.py").read_text() == "mine"
    (tmp_path / "my-rates").mkdir()
    code, _, error = run("--pack", "my-rates")
    assert code == 2 and "my-rates is there already" in error
    assert list((tmp_path / "my-rates").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a file"),
        (("my-rate.py",), "cannot be a theorem's file"),
        (("my_rate",), "cannot be a theorem's file"),
        (("_my_rate.py",), "cannot be a theorem's file"),
        (("nowhere/my_rate.py",), "cannot write nowhere/my_rate.py"),
        (("a.py", "--system", "glm"), "no system 'glm': choose one of quadratic"),
        (("a.py", "--kind", "at"), "no kind 'at': choose one of at_most"),
        (("a.py", "--kind", "with_probability"), "it draws nothing at random; with it go at_most"),
        (("a.py", "--title", 'a"""b'), "expected one line"),
        (("--pack", "My_Rates"), "cannot name a pack"),
        (("a/b.py", "--pack", "my-rates"), "give the file's name only"),
        (("b-c.py", "--pack", "my-rates"), "cannot be a theorem's file"),
    ],
)
def test_what_cannot_be_written_is_told(run, tmp_path, arguments, message):
    code, _, error = run(*arguments)
    assert code == 2 and message in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_pack_is_found_through_its_entry_point(run, tmp_path):
    """Announced as an installation announces it, in a process of its own."""
    assert run("rate.py", "--pack", "my-rates", "--kind", "decreasing")[0] == 0
    source = tmp_path / "my-rates" / "src"
    info = source / "my_rates-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-rates\nVersion: 0.1.0\n")
    project = (tmp_path / "my-rates" / "pyproject.toml").read_text()
    assert '[project.entry-points."theorysim.theorems"]\nmy-rates = "my_rates.theorems"' in project
    entry = "[theorysim.theorems]\nmy-rates = my_rates.theorems\n"
    (info / "entry_points.txt").write_text(entry)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])}
    command = [sys.executable, "-m", "theorysim", "list", "--paper", "my-rates"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "rate" in done.stdout and "EDIT: the title (2000)" in done.stdout
