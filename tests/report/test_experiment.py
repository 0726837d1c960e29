"""What is told of an experiment beside its table: which nulls there are, and what they show."""

from types import SimpleNamespace

import pytest

from theorysim.claims import Verdict
from theorysim.engine.registry.records import experiments
from theorysim.report import experiment

RECORDED = [
    {"name": "rises", "nulls": {"shuffled": "holds", "flat": "violated"}},
    {"name": "falls", "nulls": {"flat": "holds"}},
]


def found(primary: bool, **verdicts: Verdict):
    claims = [SimpleNamespace(name=name, verdict=verdict) for name, verdict in verdicts.items()]
    reading = SimpleNamespace(primary=primary, claims=claims)
    return SimpleNamespace(report=SimpleNamespace(theorem="paper/figure-1", readings=[reading]))


def test_what_a_null_shows_too_is_told_of_what_is_shown(monkeypatch):
    monkeypatch.setattr(experiment, "_recorded", lambda id: RECORDED)
    told = list(experiment.about_nulls(found(True, rises=Verdict.HOLDS, falls=Verdict.VIOLATED)))
    assert told == [
        "on record a null shows “rises”, too: “shuffled”",
        "nulls, which were not run now (--reading NAME): shuffled, flat",
    ]
    assert not list(experiment.about_nulls(found(False, rises=Verdict.HOLDS)))


@pytest.mark.parametrize("is_fresh", [True, False])
def test_a_record_of_other_code_says_nothing(monkeypatch, is_fresh):
    monkeypatch.setattr(experiment, "is_fresh", lambda line, entry: is_fresh)
    id = "overtraining/figure-8"
    assert list(experiment._recorded(id)) == (experiments()[id]["claims"] if is_fresh else [])
    assert not experiment._recorded("local/heights")
