"""The profile of slow answers: whom it asks about, what it counts, and what its page says."""

import json
import time
from dataclasses import asdict

import jax
import numpy as np
import pytest

from benchmarks import latency, latency_profile
from benchmarks.latency import Line, Taken
from benchmarks.latency_profile import Profile, Watch
from tests.engine.statements import noisy_mean
from theorysim.chunks import Chunked
from theorysim.engine.verify.verify import verify
from theorysim.kept import Program

NAP = 0.2


def test_running_and_loading_are_told_apart(monkeypatch):
    compile = Program.compile

    def compile_slowly(program, *arguments):
        time.sleep(NAP)
        return compile(program, *arguments)

    def run_slowly(rows):
        return jax.pure_callback(lambda given: (time.sleep(NAP), given)[1], rows, rows)

    monkeypatch.setattr(Program, "compile", compile_slowly)
    begin = time.perf_counter()
    with Watch().watching() as watch:
        found = Chunked(Program(run_slowly, None), 2, "a row")(np.arange(4.0)[:, None])
    assert found.ravel().tolist() == [0, 1, 2, 3]
    assert watch.rows == {"elsewhere": 4}
    assert watch.seconds["elsewhere"] >= 2 * NAP and watch.loading >= NAP
    assert watch.seconds["elsewhere"] + watch.loading <= time.perf_counter() - begin
    assert Program.compile is compile_slowly


@pytest.mark.thorough
def test_programs_belong_to_the_part_that_asks():
    with Watch().watching() as watch:
        verify(noisy_mean(), instances=8)
        assert set(watch.seconds) == {"drawing", "the sample"}
        assert watch.rows["the sample"] == 8
        verify(noisy_mean(offset=1.0), instances=8)
    assert watch.seconds["confirming, fresh keys"] > 0


@pytest.fixture
def records(tmp_path, monkeypatch):
    """Records and a page of their own: one quick statement and one slow one."""
    monkeypatch.setattr(latency, "RECORD", tmp_path / "latency.jsonl")
    monkeypatch.setattr(latency_profile, "RECORD", tmp_path / "profile.jsonl")
    monkeypatch.setattr(latency_profile, "PAGE", tmp_path / "profile.md")
    bare, cold = Taken(1, 1), Taken(9, 9)
    lines = [
        Line(name, "abc", 1, 0.5, bare, cold, Taken(warm, warm))
        for name, warm in (("one/quick", 1.9), ("one/slow", 2.1))
    ]
    latency.RECORD.write_text("".join(json.dumps(asdict(line)) + "\n" for line in lines))


def test_only_slow_statements_are_profiled_and_told(records, monkeypatch):
    asked = []

    def profiled(statement, caches):
        asked.append(statement)
        return Profile(statement, latency.commit(), 0.5, 4.0, 1.0, 0.25, {"the sample": (2.0, 64)})

    monkeypatch.setattr(latency_profile, "profiled", profiled)
    assert latency_profile.main([]) == latency_profile.main([]) == 0
    assert asked == ["one/slow"]  # once: the second time it is recorded
    told = latency_profile.PAGE.read_text()
    assert "| one/slow | 4.00 | 1.00 | 0.25 | 1.00 | the sample 2.00 s, 64 |" in told
    assert "- the sample: 2.0 s (50 %)" in told


@pytest.mark.thorough
def test_a_process_that_fails_is_not_profiled(tmp_path):
    with pytest.raises(latency.FailedError, match="one/unknown"):
        latency_profile.profiled("one/unknown", tmp_path)
