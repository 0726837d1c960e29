"""The record of experiments: it is of the code as it is, and says what nulls showed."""

import pytest

from theorysim.claims import Verdict
from theorysim.engine import registry
from theorysim.engine.registry.records import experiments, is_fresh, own_experiments
from theorysim.engine.reproduce.reproduce import WORDS
from validation import experiments as campaign

EXPERIMENTS = {entry.id: entry for entry in own_experiments()}


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_what_is_recorded_is_of_the_experiment_as_it_stands(id):
    line = experiments()[id]
    assert is_fresh(line, EXPERIMENTS[id]), f"python -m validation.experiments --only {id}"
    theorem = registry.theorem(id)
    assert [claim["name"] for claim in line["claims"]] == [c.name for c in theorem.primary().claims]
    assert line["runs"] == theorem.keys


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_every_claim_has_a_null_that_does_not_show_it(id):
    for claim in experiments()[id]["claims"]:
        assert any(verdict != Verdict.HOLDS for verdict in claim["nulls"].values()), claim["name"]


def test_the_page_is_that_of_the_record():
    assert campaign.PAGE.read_text() == campaign.page(experiments())


def test_the_page_tells_verdicts_and_the_nulls_that_hold():
    claim = {"name": "rises", "verdict": "violated", "lhs": 1.0, "rhs": 0.5, "slack": -0.5}
    claim |= {"error": 0.1, "note": "8 runs", "nulls": {"one": "holds", "two": "violated"}}
    text = campaign.page({"paper/figure-1": {"seconds": 3.0, "claims": [claim]}})
    assert f"| rises | {WORDS[Verdict.VIOLATED]} | 1 | 0.5 | -0.5 ± 0.1 | 8 runs |" in text
    assert "| 1 of 2: one |" in text
