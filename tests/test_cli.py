"""The command: verdicts become exit codes, bad usage becomes one message, output fits a page."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import theorysim
from theorysim import cli
from theorysim.engine import registry
from theorysim.engine.registry import coverage, records
from theorysim.engine.registry.coverage import Passage
from theorysim.engine.registry.sources import source_hash

STATEMENT = '''
"""A number is at most so many times itself.

The second paragraph has a line that is rather longer than eighty columns, to be wrapped when shown.

    a formula stays as it is
"""

from theorysim.claims import (
    Corrected, Mutant, Printed, Reading, Real, Size, Space, Theorem, at_most, strict
)

theorem = Theorem(
    space=Space(n=Size(3), a=Real(1, 2)),
    hypotheses={"least": strict(lambda x: x.a - LEAST)},
    simulate=lambda x, key: x.a,
    predict=lambda x: FACTOR * x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: r.theory, statement="a <= FACTOR a"),),
    source=Printed("Eq. 1", "a <= FACTOR a"),
    readings=(
        Reading("generous", Corrected("9 a"), predict=lambda x: 9 * x.a, note="a constant of nine"),
    ),
    mutants=(Mutant("half", predict=lambda x: x.a / 2),),
    aliases=("theorem-b.1",),
)
'''.lstrip()


@pytest.fixture
def statement(tmp_path):
    """Writes a theorem that holds if `factor` > 1 and is vacuous if `least` > 2."""

    def write(factor=1.5, least=0) -> str:
        path = tmp_path / "theorem_1.py"
        path.write_text(STATEMENT.replace("FACTOR", str(factor)).replace("LEAST", str(least)))
        return str(path)

    return write


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command: (exit code, standard output, standard error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["theorysim", *arguments])
        with pytest.raises(SystemExit) as done:
            cli.main()
        output = capsys.readouterr()
        return done.value.code, output.out, output.err

    return run


def assert_fits_a_page(text: str) -> None:
    assert "\x1b" not in text  # no colour
    assert max(map(len, text.splitlines())) <= 80


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
    ("factor", "least", "verdict", "code"),
    [(1.5, 0, "holds", 0), (0.9, 0, "violated", 3), (1.5, 3, "vacuous", 4)],
)
def test_verdicts_are_exit_codes(run, statement, factor, least, verdict, code):
    found, text, error = run("verify", "local/theorem-1", "--theorems", statement(factor, least))
    assert (found, error) == (code, "")
    assert re.search(rf"^printed +[✓✗○] {verdict}  Eq. 1", text, re.MULTILINE)
    assert_fits_a_page("\n".join(line for line in text.splitlines() if line[:1] != "{"))


def test_one_instance_is_counted_in_the_singular(run, statement):
    _, text, _ = run("verify", "local/theorem-1", "--theorems", statement(), "--instances", "1")
    assert "1 instance, seed 0" in text


def test_json_is_one_object_without_nan(run, statement):
    code, text, _ = run(
        *("verify", "local/theorem-1", "--theorems", statement(0.9)),
        *("--json", "--seed", "7", "--instances", "5", "--set", "n=2", "--set", "a=1.25"),
    )

    def refuse(constant):
        raise AssertionError(constant)

    report = json.loads(text, parse_constant=refuse)
    assert code == 3
    assert report["theorem"] == "local/theorem-1"
    assert (report["verdict"], report["seed"], report["instances"]) == ("violated", 7, 5)
    assert report["sizes"] == {"n": 2}
    assert [reading["name"] for reading in report["readings"]] == ["as printed", "generous"]
    (claim,) = report["readings"][0]["claims"]
    assert claim["lhs"] == 1.25


def test_one_reading(run, statement):
    code, text, _ = run(
        *("verify", "local/theorem-1", "--theorems", statement(0.9)),
        *("--reading", "generous", "--json"),
    )
    assert code == 0
    assert [reading["name"] for reading in json.loads(text)["readings"]] == ["generous"]


def test_a_decisive_instance_is_replayed(run, statement, tmp_path):
    path = statement(0.9)
    _, text, _ = run("verify", "local/theorem-1", "--theorems", path, "--json")
    (claim,) = json.loads(text)["readings"][0]["claims"]
    file = tmp_path / "instance.json"
    file.write_text(json.dumps(claim["worst_instance"]))
    again = ("verify", "local/theorem-1", "--theorems", path, "--instance", str(file), "--json")
    code, text, _ = run(*again)
    assert code == 3
    report = json.loads(text)
    assert report["instances"] == 1
    assert report["readings"][0]["claims"][0]["lhs"] == claim["lhs"]


def test_a_picture_is_drawn(run, statement, tmp_path):
    path = tmp_path / "picture.png"
    run("verify", "local/theorem-1", "--theorems", statement(), "--plot", str(path))
    assert path.read_bytes().startswith(b"\x89PNG")


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


@pytest.mark.parametrize("command", ["show", "errata"])
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


def test_errata_of_one_theorem_or_paper(run):
    briefly, one = run("errata")[1], run("errata", "lemma-a.28")[1]
    assert len(briefly) < 30_000 and "overtraining/lemma-a.28  Lemma A.28, f of Eq. 18: " in briefly
    papers = re.findall(r"^([a-z]\S+)/\S+  ", run("errata", "low-rank")[1], re.MULTILINE)
    assert set(papers) == {"low-rank"}
    words = " ".join(one.split())
    assert "printed Lemma A.28, f of Appendix A.6: |f^(k)(sigma_0) - sigma*| <=" in words
    assert "instead sigma* = sqrt((sigma^2 + lam sigma_0^2) / (1 + lam)) (holds)" in words
    assert "no printed reading" in run("errata", "overtraining/eq-1")[1]
    assert run("errata", "nosuch-99")[0] == 2


def test_the_counterexample_of_an_erratum_can_be_checked_by_hand(run):
    """One step of descent on (w^2 - 1)^2 from w = 2, as printed it would end at 0 distance."""
    words = " ".join(run("errata", "lemma-a.28")[1].split())
    found = re.search(r"“rate” gives ([\d.]+), which must be at most 0 .*? at steps = (\d+)", words)
    assert found is not None and " lam = 0, sigma = 1, sigma_0 = 2, step_share = 0.5;" in words
    eta = 0.5 / (2 * 2 * 4)  # half of the printed condition 2 (lam + 2) eta max <= 1
    path = [2.0]
    for _ in range(int(found[2])):
        path.append(path[-1] + 2 * eta * path[-1] * (1 - path[-1] ** 2))
    assert float(found[1]) == pytest.approx(max(abs(w - 2) for w in path[1:]), rel=1e-2)


def test_errata_are_searched_filtered_and_cited(run):
    assert "W_2 has V in place of its" in " ".join(
        run("errata", "--search", "transpose")[1].split()
    )
    every, certified = (json.loads(run("errata", "--json", *o)[1]) for o in ((), ("--certified",)))
    assert 0 < len(certified) < len(every)
    assert {line["certificate"] for line in certified} == {"certified"}
    code, text, _ = run("errata", "low-rank", "--bibtex")
    assert code == 0 and text.startswith("@misc{low-rank,\n  title = {{Gradient dynamics")


def test_certify_over_a_box(run, statement):
    path = statement(factor=1.5)
    code, text, _ = run("certify", "local/theorem-1", "--theorems", path, "--reading", "as printed")
    assert code == 0
    assert "as printed, bound: certified (" in text


def test_certify_finds_a_violating_point(run, statement):
    path = statement(factor=0.5)
    arguments = ("certify", "local/theorem-1", "--theorems", path, "--box", "a=1.25:1.5", "--json")
    code, text, _ = run(*arguments, "--reading", "as printed")
    (found,) = json.loads(text)["certificates"]
    assert code == 3
    assert found["outcome"] == "certified violated"
    assert 1.25 <= found["instance"]["values"]["a"] <= 1.5


def test_certify_at_the_counterexample_of_falsify(run, statement, tmp_path):
    path, out = statement(factor=0.5), str(tmp_path / "counterexample.json")
    named = ("local/theorem-1", "--theorems", path, "--reading", "as printed")
    assert run("falsify", *named, "--budget", "64", "--out", out)[0] == 3
    code, text, _ = run("certify", *named, "--instance", out)
    assert code == 3
    assert "certified violated at this instance" in text


def test_certify_replays_a_certificate(run, statement, tmp_path):
    named = ("certify", "local/theorem-1", "--theorems", statement(factor=1.5))
    path = tmp_path / "certificate.json"
    path.write_text(run(*named, "--reading", "as printed", "--json")[1])
    code, text, _ = run(*named, "--replay", str(path))
    assert code == 0 and "bound: certified: proved again" in text
    other = ("certify", "local/theorem-1", "--theorems", statement(factor=1.6))
    code, text, _ = run(*other, "--replay", str(path))
    assert code == 4 and "the claim is 'a <= 1.6 a' now" in text
    path.write_text("{")
    code, _, error = run(*named, "--replay", str(path))
    assert code == 2 and "not a complete JSON file" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--box", "a=1:"), "NAME=LOW:HIGH"),
        (("--replay", "found.json", "--claim", "rate"), "give --replay alone"),
        (("--box", "a=1", "--instance", "found.json"), "leave out --box"),
    ],
)
def test_certify_refuses_what_it_cannot_read(run, options, message):
    code, _, error = run("certify", "lemma-a.28", *options)
    assert code == 2
    assert message in error


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ("a=0:1", "expected real in [1, 2], but [0.0, 1.0] arrived"),
        ("b=1:2", "'b' is not a size or field"),
        ("a=one:2", "expected (low, high) or a number"),
    ],
)
def test_certify_names_what_is_wrong_with_a_box(run, statement, box, message):
    code, _, error = run("certify", "local/theorem-1", "--theorems", statement(), "--box", box)
    assert code == 2
    assert message in error
