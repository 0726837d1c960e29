"""The runner of latencies: what a process takes, what is recorded, and what the table says."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks import latency
from benchmarks.latency import Line, Taken
from theorysim.environment import PROGRAMS

BURN = "import time\nwhile time.process_time() < 0.5: pass"


def test_seconds_of_the_processor_are_those_of_the_process():
    burnt = latency.run([sys.executable, "-c", BURN], dict(os.environ))
    slept = latency.run([sys.executable, "-c", "import time; time.sleep(0.5)"], dict(os.environ))
    assert burnt.wall >= 0.5 and slept.wall >= 0.5
    assert burnt.cpu >= 0.5 > slept.cpu


def test_what_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(latency, "LIMIT", 0.2)
    with pytest.raises(TimeoutError):
        latency.run([sys.executable, "-c", "import time; time.sleep(60)"], dict(os.environ))


@pytest.mark.parametrize("code", [0, 3, 4])
def test_any_verdict_is_measured(code):
    latency.run([sys.executable, "-c", f"raise SystemExit({code})"], dict(os.environ))


@pytest.mark.parametrize("end", ["raise SystemExit(1)", "raise SystemExit(2)", "1 / 0"])
def test_a_process_that_fails_is_not_measured(end):
    with pytest.raises(latency.FailedError):
        latency.run([sys.executable, "-c", end], dict(os.environ))


def test_each_process_runs_the_code_of_its_checkout(tmp_path):
    (tmp_path / "theorysim").mkdir()
    (tmp_path / "theorysim" / "__init__.py").write_text("")
    command, environment, folder = latency.verifying("one/lemma-1", tmp_path, tmp_path / "caches")
    assert command[-3:] == ["verify", "one/lemma-1", "--json"]
    assert environment[PROGRAMS] == str(tmp_path / "caches" / "programs")
    told = tmp_path / "told"
    program = f"import theorysim; open({str(told)!r}, 'w').write(theorysim.__file__)"
    latency.run([sys.executable, "-c", program], environment, folder)
    assert Path(told.read_text()).parents[1] == tmp_path


@pytest.fixture
def record(tmp_path, monkeypatch):
    """A record of its own, and processes whose times are made up."""
    monkeypatch.setattr(latency, "RECORD", tmp_path / "latency.jsonl")
    monkeypatch.setattr(latency, "PAGE", tmp_path / "latency.md")
    asked = []

    def run(command, environment, folder=latency.ROOT):
        asked.append((command, folder))
        if command is latency.BARE:
            return Taken(1.0, 0.9)
        cold = sum(each == (command, folder) for each in asked) == 1
        return Taken(8.0, 7.0) if cold else Taken(1.5, 1.4)

    monkeypatch.setattr(latency, "run", run)
    return tmp_path / "latency.jsonl", asked


def test_a_run_that_was_stopped_goes_on(record, tmp_path, capsys):
    file, asked = record
    ids = tmp_path / "ids"
    ids.write_text("one/lemma-1\n")
    assert latency.main(["--ids", str(ids), "--rounds", "2"]) == 0
    ids.write_text("one/lemma-1\none/lemma-2\n")
    done = len(asked)
    assert latency.main(["--ids", str(ids), "--rounds", "2", "--against", str(tmp_path)]) == 0
    assert {command[-2] for command, _ in asked[done:] if len(command) > 3} == {"one/lemma-2"}
    first, second = (Line.of(json.loads(text)) for text in file.read_text().splitlines())
    assert (first.cold, first.warm, first.bare) == (Taken(8, 7), Taken(1.5, 1.4), Taken(1, 0.9))
    assert first.before is None and second.before == Taken(1.5, 1.4)
    assert asdict(second)["statement"] == "one/lemma-2"
    told = capsys.readouterr().out
    numbers = "1.00 | 8.00 | 1.50 | 1.50 | 1.50 | 0.90 | 1.40 | 1.40"
    assert f"| one/lemma-2 | {numbers} | {second.commit.rstrip('+')} |" in told
    assert "wall: 2 statements, median 1.50 bare, 2 within 2 (goal: 90 %)" in told
    page = (tmp_path / "latency.md").read_text()
    assert page.startswith("# How long") and first.commit in page
    assert told[told.rindex("| statement") :] in page


def test_every_statement_is_measured_and_no_experiment(record):
    _, asked = record
    latency.main(["--only", "low-rank/lemma", "--rounds", "1"])
    ids = {command[-2] for command, _ in asked if len(command) > 3}
    assert "low-rank/lemma-7" in ids and all(id.startswith("low-rank/lemma") for id in ids)


def test_what_another_checkout_took_stands_until_it_is_run_again(record, tmp_path):
    file, _ = record
    ids = tmp_path / "ids"
    ids.write_text("one/lemma-1\n")
    asked = ["--ids", str(ids), "--rounds", "1", "--fresh"]
    latency.main([*asked, "--against", str(tmp_path)])
    latency.main(asked)
    last = Line.of(json.loads(file.read_text().splitlines()[-1]))
    (told,) = latency.recorded()
    assert last.before is None and told.before == Taken(1.5, 1.4)
    assert told == latency.replace(last, before=told.before, against=told.against)
