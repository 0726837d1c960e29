"""The command `theorysim verify --all`: a line a statement, counts, and what is kept."""

import json
import sys
from pathlib import Path

import pytest

from theorysim.engine.many.verification import Verification

BROKEN = '''
"""Nothing."""

from theorysim.claims import Mutant, Real, Space, Theorem, at_most

theorem = Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a * (1 // 0),
    claims=(at_most("bound", lambda r: r.sim, lambda r: 2),),
)
'''.lstrip()


@pytest.fixture
def every(run, tmp_path, monkeypatch):
    """Verifies all statements of single files: code, output, errors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def every(*options: str, files=()) -> tuple[int, str, str]:
        named = [word for file in files for word in ("--theorems", str(file))]
        return run("verify", "--all", "--only", "local/", *named, *options)

    return every


# Reports that were made before, by all that they are made of.
MADE = {}


@pytest.fixture(autouse=True)
def _verified_once(monkeypatch):
    """What is verified again in the same way is found without its programs."""
    make = Verification._report

    def report(task):
        files = tuple(Path(file).read_text() for file in task.code.files)
        asked = task.theorem, files, task.seed, task.instances
        if asked not in MADE:
            MADE[asked] = make(task)
        return MADE[asked]

    monkeypatch.setattr(Verification, "_report", report)


@pytest.fixture
def verified(monkeypatch):
    """The ids that were verified, not taken from an earlier run."""
    ids = []
    work = Verification.work

    def note(task):
        ids.append(task.theorem)
        return work(task)

    monkeypatch.setattr(Verification, "work", note)
    return ids


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(BROKEN)
    return path


@pytest.fixture
def other(tmp_path, statement):
    """Beside `statement`, whose file it moves, another one that is false."""
    path = tmp_path / "theorem_2.py"
    path.write_text(Path(statement(0.9)).read_text().replace("theorem-b.1", "theorem-b.2"))
    return path


@pytest.mark.parametrize(
    ("factor", "least", "verdict", "code"),
    [(1.5, 0, "holds", 0), (0.9, 0, "violated", 3), (1.5, 3, "vacuous", 4)],
)
def test_the_code_means_what_it_means_of_one(every, statement, factor, least, verdict, code):
    found, text, error = every(files=[statement(factor, least)])
    first, _, counts, *others = text.splitlines()
    assert (found, error) == (code, "")
    assert first.split()[0] == verdict and first.endswith(" s  local/theorem-1")
    assert counts == f"1 statement: 1 {verdict}"
    assert others == ([] if code == 0 else [f"  {verdict}: local/theorem-1"])


def test_the_reports_are_those_of_single_verifications(every, run, statement, other):
    code, text, _ = every("--json", "--seed", "5", "--instances", "7", files=[statement(), other])
    whole = json.loads(text)
    assert code == 3 and whole["verdicts"] == {"holds": 1, "violated": 1}
    for file, one in zip((statement(), other), whole["statements"]):
        _, text, _ = run("verify", str(file), "--seed", "5", "--instances", "7", "--json")
        assert one["report"] == json.loads(text)
        assert (one["theorem"], one["verdict"]) == (
            one["report"]["theorem"],
            one["report"]["verdict"],
        )


def test_what_raises_is_told_and_the_others_go_on(every, broken, other, tmp_path):
    unreadable = tmp_path / "unreadable.py"
    unreadable.write_text("theorem = (")
    code, text, _ = every(files=[broken, unreadable, other])
    assert code == 2
    assert "error" in text and "violated" in text
    assert f"  {broken}:7: " in text
    assert f"{unreadable}:1" in text
    assert text.splitlines()[-4] == "3 statements: 1 violated, 2 error"


def test_an_error_of_ours_is_the_gravest(every, statement, other, monkeypatch):
    work = Verification.work

    def failing(task):
        if task.theorem == "local/theorem-2":
            raise RuntimeError("of ours")
        return work(task)

    monkeypatch.setattr(Verification, "work", failing)
    code, text, _ = every(files=[statement(0.9), other])
    assert code == 1
    assert "many/every.py:" in text and "RuntimeError: of ours\n" in text and "violated" in text


def test_an_interrupted_run_goes_on(every, verified, statement, other, monkeypatch):
    files = [statement(), other]
    noted = Verification.work

    def interrupted(task):
        if task.theorem == "local/theorem-2":
            raise KeyboardInterrupt
        return noted(task)

    monkeypatch.setattr(Verification, "work", interrupted)
    code, text, error = every(files=files)
    assert code == 130 and text.endswith("local/theorem-1\n")
    assert "the same command, without --fresh, goes on after the last finished statement" in error
    monkeypatch.setattr(Verification, "work", noted)
    code, text, _ = every(files=files)
    assert code == 3 and verified == ["local/theorem-1", "local/theorem-2"]
    assert text.splitlines()[0].split() == ["holds", "kept", "local/theorem-1"]
    again = every("--json", files=files)
    assert again == every("--json", files=files) and len(verified) == 2
    every("--fresh", files=files)
    assert len(verified) == 4


def test_another_seed_or_code_begins_anew(every, verified, statement):
    every(files=[statement()])
    every("--seed", "1", files=[statement()])
    every("--instances", "4", files=[statement()])
    code, text, _ = every(files=[statement(0.9)])
    assert code == 3 and len(verified) == 4
    assert "violated" in text


def test_a_damaged_file_is_verified_again(every, verified, statement, tmp_path):
    file = statement()
    every(files=[file])
    (kept,) = (tmp_path / "cache" / "theorysim" / "verifications").iterdir()
    for damaged in (kept.read_text()[:100], "[]", kept.read_text().replace('"report"', '"other"')):
        kept.write_text(damaged)
        assert every(files=[file])[0] == 0
    assert len(verified) == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "name the ID of a theorem, or verify every one with --all"),
        (("theorem-4.7", "--only", "a"), "--only needs --all"),
        (("theorem-4.7", "--scheduler", "tcp://a:1"), "--scheduler needs --all"),
        (("theorem-4.7", "--all"), "theorem-4.7 is for one statement: leave it or --all out"),
        (("--all", "--set", "d=3"), "--set is for one statement: leave it or --all out"),
        (("--all", "--plot", "a.png"), "--plot is for one statement: leave it or --all out"),
        (("--all", "--only", "nosuch"), "no id contains 'nosuch'; `theorysim list` shows all ids"),
        (("--all", "--instances", "0"), "0 instances: expected an integer of at least 1"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_what_cannot_be_meant_is_refused(run, words, told):
    assert run("verify", *words) == (2, "", f"theorysim: {told}\n")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://no.such.host:1"])
def test_an_address_where_nothing_answers_is_one_line(every, address, monkeypatch):
    monkeypatch.setattr("theorysim.engine.many.cluster.PATIENCE", 1.0)
    code, text, error = every("--scheduler", address)
    assert (code, text) == (2, "") and len(error.splitlines()) == 1
    assert error.startswith(f"theorysim: no Dask scheduler answers at {address} (")


def test_dask_is_needed_for_a_scheduler_only(every, statement, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "dask", None)
    MADE.clear()
    assert every(files=[statement()])[0] == 0
    code, _, error = every("--scheduler", "tcp://127.0.0.1:8786", files=[statement()])
    assert code == 2
    assert error == (
        "theorysim: distributed is not installed: many machines need "
        "`pip install 'theorysim[cluster]'`\n"
    )


def test_a_correction_that_holds_does_not_hide_a_misprint(every):
    code, text, _ = every("--only", "linear-teachers/corollary-6.2", "--instances", "64")
    first, _, counts = text.splitlines()[:3]
    assert code == 0 and first.startswith("holds")
    assert first.endswith("linear-teachers/corollary-6.2  (a printed reading is violated)")
    assert counts == "1 statement: 1 holds; in print 1 more is violated"
