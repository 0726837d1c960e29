"""The command `theorysim review`: one page, one file to mail, bad usage, interruptions."""

import base64
import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from theorysim import cli
from theorysim.claims import Verdict
from theorysim.engine.registry import find
from theorysim.engine.review import review as review_module
from theorysim.engine.review import rounds
from theorysim.engine.review.review import Review, review
from theorysim.report.review_html import page
from theorysim.report.review_pictures import pictures
from theorysim.report.review_text import render

ROOT = Path(__file__).parents[2]

STATEMENT = '''
"""The larger of two numbers <b> & "c" bounds their mean."""

import jax.numpy as jnp

from theorysim.claims import Mutant, Printed, Real, Space, Theorem, at_most, corrected

theorem = Theorem(
    space=Space(b=Real(0, 1), c=Real(0, 1)),
    hypotheses={"b & c < 1": lambda x: 1 - x.b * x.c},
    simulate=lambda x, key: (x.b + x.c) / 2,
    predict=lambda x: jnp.maximum(x.b, x.c),
    claims=(at_most("mean <= half", lambda r: r.sim, lambda r: r.theory / 2),),
    source=Printed("Lemma 1", "mean(b, c) <= max(b, c) / 2"),
    readings=(
        corrected("the half", claims=(at_most("mean", lambda r: r.sim, lambda r: r.theory),)),
    ),
    mutants=(Mutant("the smaller one", predict=lambda x: jnp.minimum(x.b, x.c)),),
)
'''.lstrip()

# Elements and attributes with which a page loads something from elsewhere.
LOADING = {"src", "href", "data", "poster", "srcset", "action"}


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("theorems") / "lemma_1.py"
    path.write_text(STATEMENT)
    return path


@pytest.fixture(scope="module")
def commanded(file, tmp_path_factory):
    """What the command found, its code, what it printed and the page that it wrote."""
    folder, made = tmp_path_factory.mktemp("review"), []
    report = folder / "report.html"
    asked = ["review", str(file), "--seconds", "0.1", "--html", str(report)]
    whole, out, err = review_module.review, io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setattr(
            review_module, "review", lambda *a, **o: made.append(whole(*a, **o)) or made[0]
        )
        patch.setattr(sys, "argv", ["theorysim", *asked])
        with pytest.raises(SystemExit) as end:
            cli.main()
    return made[0], (end.value.code, out.getvalue(), err.getvalue()), report


@pytest.fixture(scope="module")
def found(commanded) -> Review:
    return commanded[0]


@pytest.fixture(scope="module")
def document(found, file) -> ElementTree.Element:
    return ElementTree.fromstring(page(found, find(str(file))).removeprefix("<!DOCTYPE html>"))


def test_the_page_says_what_was_found(document):
    text = " ".join("".join(document.itertext()).split())
    assert 'The larger of two numbers <b> & "c" bounds their mean.' in text
    assert "Lemma 1: violated (1 of 1 claim). Corrected: holds" in text
    assert "mean(b, c) <= max(b, c) / 2" in text
    assert "“mean <= half” fails" in text
    assert "b & c < 1" in text
    assert "the smaller one" in text
    assert "float64" in text


def test_the_page_loads_nothing(document):
    for element in document.iter():
        assert element.tag not in ("script", "link", "iframe", "object", "embed")
        for name in LOADING & set(element.attrib):
            assert element.attrib[name].startswith("data:image/")
    style = next(document.iter("style")).text
    assert "url(" not in style and "@import" not in style


def test_counterexamples_of_the_page_can_be_run(document):
    blocks = [json.loads(block.text) for block in document.iter("pre")]
    assert blocks
    assert all(set(block["values"]) == {"b", "c"} for block in blocks)


def test_pictures_show_the_primary_reading_and_the_refuted_print(document):
    assert len(list(document.iter("img"))) == 2


def test_a_statement_in_the_notation_of_its_paper(found, document):
    entry = find("overtraining/lemma-a.28")
    text = page(found, entry)
    assert "<math" in text and "math" not in {element.tag for element in document.iter()}
    ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_terminal_page_is_short_and_begins_with_the_answer(found, columns, capsys):
    render(found, Console(width=columns, markup=False, highlight=False))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= min(columns, 80)
    head = "\n".join(lines[:8])
    assert "MAJOR REVISION" in head and "Lemma 1: violated" in head
    assert lines[0].startswith("local/lemma-1")


def run(*arguments: str, **options) -> tuple[int, str, str]:
    """The command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "theorysim", "review", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def here(monkeypatch, tmp_path):
    """A cache of its own, with the programs of the others."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_command_writes_both_and_exits_as_verify_does(commanded):
    _, (code, out, err), report = commanded
    assert (code, err) == (0, "")
    assert "MAJOR REVISION" in out and f"written to {report}" in out
    ElementTree.fromstring(report.read_text().removeprefix("<!DOCTYPE html>"))


@pytest.mark.thorough
def test_the_command_reviews_in_a_process_of_its_own(here, file):
    code, out, err = run(str(file), "--seconds", "0.1", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["verdict"] == "holds"


def test_the_command_tells_all_of_it_as_json(here, file, found, monkeypatch, capsys):
    monkeypatch.setattr("theorysim.engine.review.review.review", lambda *_, **__: found)
    monkeypatch.setattr(sys, "argv", ["theorysim", "review", str(file), "--json"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    data = json.loads(capsys.readouterr().out)
    assert (end.value.code, data["verdict"], data["theorem"]) == (0, "holds", "local/lemma-1")
    assert data["recommendations"][0]["weight"] == "major"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch.py"], "nosuch.py is not there"),
        (["nosuch"], "no theorem 'nosuch'"),
        (["theorem-4.7", "--seconds", "0"], "expected a positive number"),
        (["theorem-4.7", "--seed", "-1"], "expected an integer from 0"),
        (["theorem-4.7", "--html", "."], "it is a folder"),
        (["theorem-4.7", "--html", "nosuch/report.html"], "is not a writable folder"),
    ],
)
def test_bad_usage_is_one_message(arguments, message, here, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["theorysim", "review", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == cli.BAD_USAGE
    err = capsys.readouterr().err
    assert message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("theorem = 1", "bad.py:3: expected `theorem = Theorem(...)`"),
        ("def f(:\n", "bad.py:3: invalid syntax"),
        ("theorem = Theorem()\ntheorem = Theorem()", "`theorem` is stated in lines 3 and 4"),
        ("import nosuchmodule\ntheorem = Theorem()", "No module named 'nosuchmodule'"),
    ],
)
def test_a_broken_file_is_one_message(source, message, here, tmp_path, monkeypatch, capsys):
    path = tmp_path / "bad.py"
    path.write_text(f'"""A broken file."""\n\n{source}\n')
    monkeypatch.setattr(sys, "argv", ["theorysim", "review", str(path)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == cli.BAD_USAGE
    assert message in capsys.readouterr().err


CORNER = '''
"""Violated in a corner that eight draws miss."""

from theorysim.claims import Mutant, Real, Space, Theorem, at_most

theorem = Theorem(
    space=Space(b=Real(0, 2.0005), c=Real(0, 1)),
    simulate=lambda x, key: x.b * x.c,
    claims=(at_most("corner", lambda r: r.sim, lambda r: 2.0003),),
    mutants=(Mutant("half", claims=(at_most("corner", lambda r: r.sim, lambda r: 1.0),)),),
)
'''.lstrip()


# Points that find the corner, however little time there is.
ENOUGH = 1024


@pytest.fixture(scope="module")
def corner(tmp_path_factory) -> tuple[Path, Review]:
    """A file whose claim only the search refutes, and its review."""
    path = tmp_path_factory.mktemp("theorems") / "corner.py"
    path.write_text(CORNER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "LEAST_POINTS", ENOUGH)
        found = review(str(path), seconds=0.5, seed=4, pictures=pictures)
    assert found.readings.primary.verdict is Verdict.HOLDS
    assert found.verdict is Verdict.VIOLATED
    return path, found


@pytest.mark.thorough
def test_a_row_shows_the_numbers_that_refute_it(corner):
    path, found = corner
    text = page(found, find(str(path)))
    (row,) = re.findall(r'<tr class="numbers">.*?</tr>', text, re.DOTALL)
    left, right = re.findall(r'<td class="n">([0-9.e-]+)</td>', row)[:2]
    assert "violated" in row and float(left) > float(right) == 2.0003


@pytest.mark.thorough
def test_no_number_that_is_shown_leaves_the_space(corner):
    _, found = corner
    (value,) = re.findall(r"b = ([0-9.e-]+)", found.recommendations[0].text)
    assert 2.0003 < float(value) <= 2.0005


@pytest.mark.thorough
def test_the_picture_of_what_the_search_refutes_is_the_counterexample(corner):
    """Its own footer says violated, and the picture of draws, which says holds, is left out."""
    path, found = corner
    own = found.adversary.pictures["as printed"]
    assert "violated" in drawn(own) and "holds" not in drawn(own)
    text = page(found, find(str(path)))
    assert own in text and found.readings.pictures["as printed"] not in text


def drawn(address: str) -> str:
    """The texts of an SVG that an address holds, which it repeats in comments."""
    return base64.b64decode(address.partition("base64,")[2]).decode()


@pytest.mark.thorough
def test_the_page_says_which_command_made_it(corner, monkeypatch, tmp_path, here):
    """The command works from the folder of the file and makes the page again."""
    path, found = corner
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(rounds, "LEAST_POINTS", ENOUGH)
    text = " ".join(page(found, find(str(path))).split())
    (command,) = re.findall(r"Made by <code>theorysim (.*?)</code>", text)
    assert command == "review corner.py --seconds 0.5 --seed 4"
    monkeypatch.setattr(sys, "argv", ["theorysim", *command.split(), "--seconds", "0.1"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == found.exit_code


def test_an_interrupted_review_says_that_the_command_goes_on(file, monkeypatch, here, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("theorysim.engine.review.review.review", interrupt)
    monkeypatch.setattr(sys, "argv", ["theorysim", "review", str(file)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    assert "the same command, without --fresh, goes on" in capsys.readouterr().err


KILLED = """
import os, signal, sys
from theorysim.environment import prepare
prepare()
from pathlib import Path
from theorysim.engine.review.review import review
def progress(done, total, name):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)
review(sys.argv[1], seconds=2, kept=Path(sys.argv[2]), progress=progress)
"""


@pytest.mark.thorough
def test_a_review_that_was_killed_goes_on(file, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(file), str(tmp_path)], cwd=ROOT, timeout=240
    )
    assert done.returncode == -9
    (kept,) = tmp_path.iterdir()
    assert list(json.loads(kept.read_text())) == ["readings and verdicts", "planted errors"]
