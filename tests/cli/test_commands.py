"""The command: verdicts become exit codes, bad usage becomes one message, output fits a page."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from drawn import thorough
from pages import assert_fits_a_page

import theorysim
from theorysim import cli
from theorysim.engine import registry
from theorysim.engine.registry import coverage, records
from theorysim.engine.registry.coverage import Passage
from theorysim.engine.registry.sources import source_hash


def test_list_names_every_theorem(run):
    code, text, error = run("list")
    assert (code, error) == (0, "")
    assert all(f"  {entry.id}  " in text for entry in registry.catalogue())
    assert_fits_a_page(text)


def test_list_as_json(run, statement):
    code, text, _ = run("list", "--json", "--theorems", statement())
    rows = {row["id"]: row for row in json.loads(text)}
    assert code == 0
    assert set(rows) == {*(entry.id for entry in registry.catalogue()), "local/theorem-1"}
    assert rows["local/theorem-1"] == {
        "id": "local/theorem-1",
        "aliases": ["theorem-b.1"],
        "title": "A number is at most so many times itself.",
        "kind": "theorem",
        "paper": "local",
        "readings": ["as printed", "generous"],
        "problem": "",
    }


def test_list_of_one_paper(run, statement):
    _, text, _ = run("list", "--json", "--paper", "local", "--theorems", statement())
    assert [row["id"] for row in json.loads(text)] == ["local/theorem-1"]
    code, _, error = run("list", "--paper", "nosuch")
    assert code == 2
    assert "no paper 'nosuch'; there are " in error and "overtraining" in error


def test_list_shows_what_cannot_be_read(run, tmp_path):
    path = tmp_path / "theorem_1.py"
    path.write_text("x = (\n")
    code, text, _ = run("list", "--paper", "local", "--theorems", str(path))
    assert code == 0
    assert f"cannot be read: {path}:1:" in " ".join(text.split())


def test_list_says_what_became_of_every_place_in_print(run, monkeypatch):
    said = (
        Passage(
            "Section 3, Eq. 1", "the loss falls at a rate that is told on two lines " * 2, (), "no"
        ),
        Passage("Lemma 2", "it is a bound", ("eq-16", "theorem-4.7"), "its converse"),
        Passage("p. 9", "it may rise", (), "says nothing that could fail"),
    )
    told = {"overtraining": said}
    monkeypatch.setattr(coverage, "coverage_of", lambda paper: told.get(paper[0].paper, ()))
    code, text, _ = run("list", "--coverage")
    assert code == 0
    assert_fits_a_page(text)
    assert "  Lemma 2: it is a bound\n    checked by  eq-16, theorem-4.7\n" in text
    assert "    left out    its converse\n" in text
    assert "  p. 9: it may rise\n    checked by  none: says nothing that could fail\n" in text
    assert "low-rank: nobody has written down" in text
    _, text, _ = run("list", "--coverage", "--json", "--paper", "overtraining")
    rows = json.loads(text)
    assert [row["place"] for row in rows] == [one.place for one in said]
    assert rows[1]["statements"] == ["eq-16", "theorem-4.7"]
    assert {row["paper"] for row in rows} == {"overtraining"}


def test_show(run, statement):
    path = statement()
    code, text, _ = run("show", "local/theorem-1", "--theorems", path)
    assert code == 0
    assert_fits_a_page(text.replace(path, "").replace(os.path.relpath(path), ""))
    for part in (
        "    a formula stays as it is\n",
        f"file        {path}\n",
        "aliases     theorem-b.1\n",
        "  n             size 3, in 1..1024\n",
        "  a             real in [1, 2]\n",
        'reading     as printed (primary)\n  printed, Eq. 1: "a <= 1.5 a"\n  if least\n',
        "claims\n  bound (at_most)\n      a <= 1.5 a\nhypotheses\n  least (strictly)\n",
        "reading     generous\n  corrected: 9 a\n  a constant of nine\n  if least\n",
        "  changes predict\n",
        "mutants\n  half\n",
    ):
        assert part in text


@pytest.mark.parametrize("fresh", [True, False])
def test_show_says_whether_verdicts_stay_the_same(run, monkeypatch, fresh):
    """Only what was measured of the code as it is."""
    entry = registry.find("low-rank/lemma-5")
    found = {"sizes": {}, "seeds": 20, "verdicts": {"as printed": {"holds": 17, "inconclusive": 3}}}
    source = source_hash(entry) if fresh else "of other code"
    line = {"source": source, "readings": ["as printed"], "runs": [{**found, "problem": ""}]}
    monkeypatch.setattr(records, "stability", lambda: {entry.id: line})
    _, text, _ = run("show", entry.id)
    (told,) = re.findall(r"^stability   (.*(?:\n {12}.*)*)$", text, re.MULTILINE)
    assert " ".join(told.split()) == (
        "as printed: holds at 17 of 20 seeds, inconclusive at 3"
        if fresh
        else "not measured: python -m validation.stability --only low-rank/lemma-5"
    )


def test_a_notation_beside_a_users_file_is_not_read(run, statement):
    path = Path(statement())
    path.with_name("notation.toml").write_text("of something = = else")
    code, text, error = run("show", str(path))
    assert code in (None, 0) and "a <= 1.5 a" in text and not error


def test_show_cites_the_paper(run):
    _, text, _ = run("show", "overtraining/lemma-a.28")
    assert "(2025). Overtrained Language Models Are Harder to Fine-Tune." in " ".join(text.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify", "nosuch-99"), "no theorem 'nosuch-99'"),
        (("show", "nosuch-99"), "no theorem 'nosuch-99'"),
        (("verify", "local/theorem-1", "--set", "n"), "expected NAME=VALUE"),
        (("verify", "local/theorem-1", "--set", "n="), "expected NAME=VALUE"),
        (("verify", "local/theorem-1", "--set", "n=2", "--set", "n=3"), "--set n is given twice"),
        (("verify", "local/theorem-1", "--set", "n=0"), "1..1024"),
        (("verify", "local/theorem-1", "--set", "n=2.5"), "expected an integer"),
        (("verify", "local/theorem-1", "--set", "n=true"), "a number or a list of numbers"),
        (("falsify", "local/theorem-1", "--set", "a=true"), "a number or a list of numbers"),
        (("verify", "local/theorem-1", "--set", "a=NaN"), "[1, 2]"),
        (("verify", "local/theorem-1", "--set", "m=1"), "m"),
        (("verify", "local/theorem-1", "--set", "a=3"), "[1, 2]"),
        (("verify", "local/theorem-1", "--reading", "other"), "no reading 'other'"),
        (("verify", "local/theorem-1", "--instances", "0"), "0 instances"),
        (("verify", "local/theorem-1", "--instances", "many"), "--instances"),
        (("verify", "local/theorem-1", "--instance", "missing.json"), "missing.json"),
        (("verify", "local/theorem-1", "--plot", "missing/x.png"), "missing/x.png"),
        (("verify", "local/theorem-1", "--plot", "x.nosuch"), "x.nosuch"),
        (
            ("verify", "local/theorem-1", "--theorems", "missing.py"),
            "missing.py is not there",
        ),
        (("verify", "--nosuch"), "nosuch"),
        (("nosuch",), "nosuch"),
        (("verify",), "ID"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_usage_is_one_message(run, statement, arguments, message):
    files = ("--theorems", statement()) if "local/theorem-1" in arguments else ()
    code, _, error = run(*arguments, *files)
    assert code == 2
    assert message in error
    assert "Traceback" not in error


@pytest.mark.parametrize(("value", "refused"), [("1", True), ("True", True), ("0", False)])
def test_what_is_not_to_be_compiled_is_refused(run, monkeypatch, value, refused):
    monkeypatch.setenv("JAX_DISABLE_JIT", value)
    code, _, error = run("show", "overtraining/lemma-a.28")
    assert (code == 2) is refused and ("JAX_DISABLE_JIT" in error) is refused


@pytest.mark.parametrize("command", ["show", thorough("errata")])
def test_a_terminal_without_unicode_gets_question_marks(command):
    done = subprocess.run(
        [sys.executable, "-m", "theorysim", command, "overtraining/lemma-a.28"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        cwd=Path(theorysim.__file__).parents[1],
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "?" in done.stdout.decode("latin-1") and b"Traceback" not in done.stderr


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"theorysim {theorysim.__version__}\n", "")


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch):
    def fault(*_):
        raise RuntimeError("inside")

    monkeypatch.setattr(registry, "find", fault)
    monkeypatch.setattr(sys, "argv", ["theorysim", "verify", "lemma-a.28"])
    with pytest.raises(RuntimeError, match="inside"):
        cli.main()


def test_a_fault_in_a_users_file_is_one_message_with_its_line(run, statement):
    path = Path(statement())
    path.write_text(path.read_text().replace("lambda x, key: x.a", "lambda x, key: x.b"))
    code, _, error = run("verify", "local/theorem-1", "--theorems", str(path))
    assert code == 2
    assert f"{path}:15: AttributeError" in error and "'b'" in error


def test_falsify_says_which_counterexample_it_wrote(run, statement, tmp_path):
    out = tmp_path / "found.json"
    named = ("local/theorem-1", "--budget", "64", "--out", str(out), "--theorems")
    code, _, error = run("falsify", *named, statement(factor=1.5))
    assert code == 0
    assert "no counterexample was found" in error and not out.exists()
    code, _, error = run("falsify", *named, statement(factor=0.5))
    assert code == 3
    assert "counterexample to as printed, bound" in error
    assert json.loads(out.read_text())["values"]
    missing = str(tmp_path / "missing" / "found.json")
    code, text, error = run("falsify", *named[:-2], missing, "--theorems", statement())
    assert (code, text) == (2, "") and "is not a writable folder" in error
