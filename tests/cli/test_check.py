"""The command `theorysim check`: exit codes, one line of remedy, recorded verdicts."""

import json

import pytest

from theorysim.engine.check import watching
from theorysim.engine.check.step import Step

PASSED = [Step("load")]


def test_what_passes_has_the_code_0(run, statement, tmp_path):
    path, file = statement(), tmp_path / "verdicts.json"
    code, text, error = run("check", path, "--record", str(file))
    assert code == 0
    assert text.splitlines()[0] == path
    assert "  ✓ tightness   “bound” uses 66.7 % of its bound" in text
    assert text.endswith(f"  nothing to mend; next: theorysim review {path}\n")
    assert error == f"{file}: verdicts of 1 written\n"
    assert run("check", path, "--against", str(file), "--json")[0] == 0
    code, text, _ = run("check", statement(0.9), "--against", str(file), "--json")
    steps = json.loads(text)["steps"]
    assert (code, steps[-1]["name"]) == (3, "verify")
    assert "recorded holds, now violated" in steps[-1]["mend"]


def test_a_recorded_statement_that_is_gone_has_the_code_3(run, statement, tmp_path, monkeypatch):
    path, file = statement(least=3), tmp_path / "verdicts.json"
    record = {"local/theorem-1": {}, "local/lost": {}}
    file.write_text(json.dumps({"seed": 0, "verdicts": record}))
    monkeypatch.setattr("theorysim.cli.check._of_paper", lambda paper: [])
    arguments = ("check", path, "--paper", "local", "--theorems", path, "--against", str(file))
    monkeypatch.setattr("theorysim.engine.check.loop.Loop.steps", lambda self, query: iter(PASSED))
    code, text, _ = run(*arguments)
    assert code == 3
    assert f"local/lost\n  ✗ load\n    {file} has verdicts of it, but no such statement" in text
    rows = [json.loads(row) for row in run(*arguments, "--json")[1].splitlines()]
    assert [(row["theorem"], row["steps"][-1]["code"]) for row in rows] == [
        (path, 0),
        ("local/lost", 3),
    ]


def test_it_stops_where_the_hypotheses_are_never_met(run, statement):
    code, text, _ = run("check", statement(least=3))
    assert code == 4
    assert "  ✗ shapes\n    none of " in text
    assert "purity" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to check: name a file"),
        (("--paper", "nowhere"), "no paper 'nowhere'; there are"),
        (("a.py", "--record", "a.json", "--against", "b.json"), "ask for one of them"),
        (("a.py", "b.py", "--watch"), "--watch watches one file"),
        (("theorem-4.7", "--watch"), "--watch watches one file"),
        (("a.py", "--against", "nothing.json"), "write it with --record"),
    ],
)
def test_what_cannot_be_asked_is_told(run, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, error = run("check", *arguments)
    assert code == 2 and message in error and error.count("\n") == 1


def test_several_files_give_the_worst_code(run, statement, tmp_path):
    path = statement(least=3)
    code, text, _ = run("check", str(tmp_path / "nothing.py"), path)
    assert code == 4
    assert "nothing.py is not there" in text and "none of " in text


def test_a_watched_file_is_checked_again(run, statement, tmp_path, monkeypatch):
    path = statement(least=3)

    def edit(seconds):
        if (tmp_path / "edited").exists():
            raise KeyboardInterrupt
        (tmp_path / "edited").touch()
        (tmp_path / "theorem_1.py").write_text("x = (\n")

    monkeypatch.setattr(watching.time, "sleep", edit)
    code, text, error = run("check", path, "--watch")
    assert code == 2
    assert "none of " in text and "was never closed" in text
    assert error.count("Ctrl-C ends it") == 2
