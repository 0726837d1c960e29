"""The record of experiments: it is of the code as it is, and says what nulls showed."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array, Float

from theorysim.claims import Experiment, Mutant, Space, Verdict, on_average
from theorysim.engine import registry
from theorysim.engine.registry.coverage import Passage
from theorysim.engine.registry.records import experiments, is_fresh, own_experiments
from theorysim.engine.reproduce.reproduce import WORDS
from validation import experiments as campaign

EXPERIMENTS = {entry.id: entry for entry in own_experiments()}


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_what_is_recorded_is_of_the_experiment_as_it_stands(id):
    line = experiments()[id]
    assert is_fresh(line, EXPERIMENTS[id]), f"python -m validation.experiments --only {id}"
    theorem = registry.theorem(id)
    told = [(claim["name"], claim["printed"]) for claim in line["claims"]]
    assert told == [(claim.name, claim.printed) for claim in theorem.primary().claims]
    assert line["runs"] == theorem.keys


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_every_claim_has_a_null_that_does_not_show_it(id):
    for claim in experiments()[id]["claims"]:
        assert any(verdict != Verdict.HOLDS for verdict in claim["nulls"].values()), claim["name"]


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_what_a_null_is_said_to_break_it_breaks(id):
    theorem = registry.theorem(id)
    claims = experiments()[id]["claims"]
    for null in theorem.mutants_of(theorem.primary()):
        for claim in claims:
            if claim["name"] in (null.breaks or ()):
                assert claim["nulls"][null.name] != Verdict.HOLDS, (null.name, claim["name"])


def test_the_page_is_that_of_the_record():
    assert campaign.PAGE.read_text() == campaign.page(experiments())


def test_the_page_tells_verdicts_and_the_nulls_that_hold():
    claim = {
        "name": "rises",
        "printed": False,
        "verdict": "violated",
        "lhs": 1.0,
        "rhs": 0.5,
        "slack": -0.5,
    }
    claim |= {"error": 0.1, "note": "8 runs", "nulls": {"one": "holds", "two": "violated"}}
    text = campaign.page({"paper/figure-1": {"seconds": 3.0, "claims": [claim]}})
    assert f"| rises (ours) | {WORDS[Verdict.VIOLATED]} | 1 | 0.5 | -0.5 ± 0.1 | 8 runs |" in text
    assert "| 1 of 2: one |" in text


def recorded(verdict, nulls=("inconclusive",), slack=1.0, error=0.1):
    """A printed claim of a record, with the verdicts of its nulls."""
    told = {"printed": True, "verdict": verdict, "slack": slack, "error": error}
    return {**told, "nulls": {f"null {k}": null for k, null in enumerate(nulls)}}


def test_what_a_null_shows_too_is_counted_apart():
    claims = [
        recorded("holds"),
        recorded("holds", ("violated", "holds")),
        recorded("violated", ("holds",)),
        recorded("holds", ("holds",)),
    ]
    told = "1 of 4 shown, 2 of 4 shown (by a null too), 1 of 4 contrary"
    assert campaign.outcome({"claims": claims}) == told
    assert campaign.outcome({"claims": claims[1::2]}) == "shown (by a null too)"


@pytest.mark.parametrize(
    ("verdict", "slack", "error", "expected"),
    [
        ("holds", 0.12, 0.1, True),
        ("holds", 0.13, 0.1, False),
        ("violated", -0.12, 0.1, True),
        ("violated", -0.13, 0.1, False),
        ("inconclusive", 0.05, 0.1, False),
        ("holds", 1.0, 0.0, False),
        ("vacuous", None, None, False),
    ],
)
def test_a_verdict_on_the_edge_is_marked(verdict, slack, error, expected):
    assert campaign.is_on_the_edge(recorded(verdict, slack=slack, error=error)) == expected


class Heights(NamedTuple):
    """Two numbers, the second above the first by one."""

    height: Float[Array, "place"]


def rise(by):
    def simulate(x, key):
        return Heights(jax.random.normal(key, (2,)) / 8 + by * jnp.arange(2))

    return simulate


def test_a_line_has_the_verdicts_of_the_nulls_that_concern_a_claim(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rises = on_average("rises", lambda r: r.sim.height[:, 0], lambda r: r.sim.height[:, 1])
    little = on_average("little", lambda r: r.sim.height[:, 1], lambda r: r.sim.height[:, 0] + 2)
    theorem = Experiment(
        space=Space(),
        simulate=rise(1.0),
        claims=(rises, little),
        mutants=(
            Mutant("falling", simulate=rise(-1.0)),
            Mutant("less", claims=(little.against(lambda r: r.sim.height[:, 0]),)),
        ),
        id="tests/figure-1",
    )
    line = campaign.measure(theorem, "of the code as it is")
    assert [(claim["name"], claim["verdict"], claim["nulls"]) for claim in line["claims"]] == [
        ("rises", "holds", {"falling": "violated"}),
        ("little", "holds", {"falling": "holds", "less": "violated"}),
    ]


def test_an_experiment_comes_out_as_all_of_its_claims_together():
    def line(*verdicts):
        return {"claims": [recorded(verdict) for verdict in verdicts]}

    assert campaign.outcome(line("holds", "holds")) == "shown"
    assert campaign.outcome(line("violated")) == "contrary"
    assert campaign.outcome(line("holds", "violated", "holds")) == "2 of 3 shown, 1 of 3 contrary"
    ours = {**recorded("holds"), "printed": False}
    assert campaign.outcome({"claims": [*line("violated")["claims"], ours]}) == "contrary"


def test_every_figure_and_table_in_print_has_a_row(monkeypatch):
    passages = [
        Passage("Section 3, Figure 2", "it falls", ("figure-2", "lemma-1")),
        Passage("Table 7", "it is so", (), "needs a large model"),
        Passage("Lemma 1", "it holds", ("lemma-1",)),
    ]
    monkeypatch.setattr(campaign, "coverage_of", lambda paper: passages)
    claim = {
        "name": "falls",
        "printed": True,
        "verdict": "holds",
        "lhs": 0,
        "rhs": 1,
        "slack": 1,
        "error": 0.1,
    }
    claim |= {"note": "8 runs", "nulls": {}}
    slug = own_experiments()[0].paper
    text = campaign.page({f"{slug}/figure-2": {"seconds": 1.0, "claims": [claim]}})
    assert f"| {slug} | Section 3, Figure 2 | it falls | `{slug}/figure-2`: shown |  |" in text
    assert f"| {slug} | Table 7 | it is so |  | needs a large model |" in text
    assert "| Lemma 1 |" not in text
