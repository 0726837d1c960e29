"""The runner over a small benchmark, the record by commit, and the page that is made of it."""

import json
import subprocess
import sys

import pytest

import benchmarks
from benchmarks import __main__ as runner
from benchmarks import history, page
from benchmarks.race import Row
from theorysim.errors import UsageError

FAKE = '''
"""A tiny benchmark."""

from benchmarks.race import Contender, race


def rows(quick):
    """One row; a sum of more numbers where there is time."""
    count = 10 if quick else 1000
    ours = Contender("sum", lambda: sum(range(count)), mib=1.0)
    peer = Contender("loop", lambda: [x for x in range(count)])
    yield from race(ours, peer, size={"n": count}, unit="sum", dtype="int", rounds=2)
'''


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A benchmark `fake_sum` beside the others; record and page elsewhere."""
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "fake_sum.py").write_text(FAKE)
    (folder / "fake_helper.py").write_text('"""No benchmark."""\n')
    monkeypatch.setattr(benchmarks, "__path__", [*benchmarks.__path__, str(folder)])
    monkeypatch.setattr(history, "RECORD", tmp_path / "history.jsonl")
    monkeypatch.setattr(page, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(history, "commit", lambda: "abc123")
    yield tmp_path
    for name in ("fake_sum", "fake_helper"):
        sys.modules.pop(f"benchmarks.{name}", None)


def row(ratio: float = 3.0, n: int = 10, over: str = "", name: str = "ours") -> Row:
    bounds = ratio / 2, 2 * ratio
    costs = 1e-3 * n, 1e-3 * n * ratio
    known = (0.5, None, 1.0, None, 1e-9, None)
    return Row(name, "peer", {"n": n}, "step", *costs, ratio, *bounds, *known, "cpu", "f", over)


def line(of: str, *rows: Row, benchmark: str = "fake", **more) -> dict:
    found = history.line(of, benchmark, rows, 7.5, **more)
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_page_is_that_of_the_record():
    assert page.PAGE.read_text() == page.page(history.read()), "run python -m benchmarks --page"


def test_what_is_recorded_is_of_benchmarks_that_there_are():
    known = {*map(runner.name, runner.found()), page.GPU}
    assert {each["benchmark"] for each in history.read()} <= known


def test_every_benchmark_is_found_without_a_list():
    names = set(map(runner.name, runner.found()))
    assert {"rank_one", "sweep", "scaling"} <= names
    assert not names & {"race", "page", "gpu", "__main__"}


def test_a_run_records_a_line_and_writes_the_page(files, capsys):
    assert runner.main(["--only", "fake"]) == 0
    (line,) = history.read()
    assert (line["benchmark"], line["commit"], line["rows"][0]["size"]) == (
        "fake_sum",
        "abc123",
        {"n": 1000},
    )
    assert len(line["load"]) == 2 and line["device"] == "cpu"
    assert (files / "benchmarks.md").read_text() == page.page([line])
    assert "fake_sum: sum, n = 1000" in capsys.readouterr().out


def test_a_quick_run_records_nothing(files, capsys):
    assert runner.main(["--only", "fake", "--quick"]) == 0
    assert history.read() == [] and not (files / "benchmarks.md").exists()
    assert "fake_sum: sum, n = 10" in capsys.readouterr().out


def test_a_name_that_is_not_there_is_told_in_one_line(files, capsys):
    assert runner.main(["--only", "nosuch"]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "'nosuch'" in said and "fake_sum" in said


def test_a_commit_that_is_measured_again_replaces_its_line(files):
    for one in (line("a", row(1)), line("b", row(2)), line("b", row(4)), line("b", benchmark="x")):
        history.add(one)
    found = [(each["benchmark"], each["commit"], len(each["rows"])) for each in history.read()]
    assert found == [("fake", "a", 1), ("fake", "b", 1), ("x", "b", 0)]
    assert history.read()[1]["rows"][0]["ratio"] == 4


def test_the_page_tells_ratios_bounds_circumstances_and_what_was_before():
    text = page.page([line("a", row(2.0)), line("b", row(3.0))])
    assert "| ours | peer | n = 10 | f | 3 [1.5, 6] | 10 ms per step |" in text
    assert "| 500 ms | 1 / – | 1e-09 / – | 2 |\n" in text
    assert "Measured at b " in text and "Measured at a " not in text
    assert "load 7.5 before" in text and "The exponents" not in text


def test_the_page_has_the_law_of_a_ladder():
    rungs = [row(n, n, "n") for n in (1, 2, 4)]
    text = page.page([line("a", *rungs)])
    assert "| ours | peer | n = 1 to 4 | 1.00 [1.00, 1.00] | 1.00 | 2.00 [2.00, 2.00] |" in text


def test_the_page_says_what_was_not_measured():
    assert "Nothing has been recorded" in page.page([])
    assert "no machine with an accelerator was at hand" in page.page([line("a", row())])


def test_the_page_has_what_an_accelerator_did():
    roofs = [{"device": "H", "dtype": "f", "operations": 1e12, "bytes": 2e12}]
    more = {"shares": {"ours f": [0.25, None]}, "rooflines": roofs, "peer": history.machine(0.0)}
    text = page.page([line("a", row(), benchmark=page.GPU, **more)])
    assert "| ours | n = 10 | f | 3 [1.5, 6] | 10 ms per step | 25 % |  |" in text
    assert "| H | f | 1e+12 | 2e+12 |" in text
    assert "at hand" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 µs"), (2e-10, "0.2 ns"), (None, "")],
)
def test_seconds_have_units(value, text):
    assert page.seconds(value) == text


def test_a_commit_is_named_only_of_what_is_committed(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "HERE", tmp_path / "benchmarks")
    with pytest.raises(UsageError, match="no checkout"):
        history.commit()

    def git(*words):
        author = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "README").write_text("one")
    (tmp_path / "benchmarks" / "one.py").write_text("one")
    git("add", ".")
    git("commit", "-m", "one")
    of = history.commit()
    (tmp_path / "README").write_text("not timed")
    (tmp_path / "benchmarks" / "history.jsonl").write_text("the record itself")
    assert history.commit() == of and len(of) == 10
    (tmp_path / "benchmarks" / "one.py").write_text("two")
    with pytest.raises(UsageError, match=r"one\.py is not committed"):
        history.commit()
