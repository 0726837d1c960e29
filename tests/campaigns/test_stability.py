"""Verdicts at other seeds and sizes: what is run, what is told of it, what is not run again."""

import json
import logging

import jax
import pytest

from theorysim.claims import Finding, Printed, Reading, Real, Size, Space, Theorem, at_most
from theorysim.engine import registry
from theorysim.engine.measure.batch import shared_length
from theorysim.engine.registry import records
from theorysim.engine.registry.records import is_fresh, lines_of, own_statements
from theorysim.engine.registry.sources import source_hash
from theorysim.engine.verify.verify import verify
from theorysim.report.stability import is_stable, stability_in_words
from validation import stability

FAR = Reading("far from 1", Printed("p. 2", "a <= 9 a"), hypotheses={"far": lambda x: x.a - 1.3})
HALF = Reading("half", Printed("p. 3", "a <= a / 2"), predict=lambda x: x.a / 2, note="false")
OURS = Reading("ours", Finding("a third"), predict=lambda x: x.a / 3)


def bound(size: Size, *readings: Reading, **more) -> Theorem:
    """A number of [1, 2] is at most nine times itself."""
    return Theorem(
        space=Space(n=size, a=Real(1, 2)),
        simulate=lambda x, key: x.a,
        predict=lambda x: 9 * x.a,
        claims=(at_most("bound", lambda r: r.sim, lambda r: r.theory),),
        readings=readings,
        id="tests/bound",
        title="a bound",
        **more,
    )


@pytest.mark.parametrize(
    ("size", "found"),
    [
        (Size(4), [4, 2, 8]),
        (Size(4, low=3, high=6), [4, 3, 6]),
        (Size(2), [2, 4, 8]),
        (Size(8, low=1, high=8), [8, 2, 1]),
        (Size(1, high=2), [1, 2]),
        (Size(3, low=3, high=3), [3]),
    ],
)
def test_the_three_sizes_lie_within_their_limits(size, found):
    sizes = stability.three_sizes(Space(n=size, a=Real(1, 2)))
    assert [each["n"] for each in sizes] == found


@pytest.mark.parametrize(
    ("size", "found"), [(Size(4), [4, 2, 6]), (Size(3, low=2, high=5), [3, 2, 4])]
)
def test_a_costly_statement_is_tried_halfway_to_doubled_sizes(size, found):
    sizes = stability.three_sizes(Space(n=size, a=Real(1, 2)), costly=True)
    assert [each["n"] for each in sizes] == found


def test_verdicts_are_counted_at_seeds_and_sizes():
    """At n = 2 the hypothesis cannot be met; what is ours is not told."""
    theorem = bound(Size(4), HALF, OURS, hypotheses={"n": lambda x: x.n - 3.0 + 0 * x.a})
    line = stability.measure(theorem, "", seeds=4)
    assert line["readings"] == ["as printed", "half"]
    assert [(run["sizes"]["n"], run["seeds"]) for run in line["runs"]] == [(4, 4), (2, 1), (8, 1)]
    assert [dict(run["verdicts"]["as printed"]) for run in line["runs"]] == [
        {"holds": 4},
        {"vacuous": 1},
        {"holds": 1},
    ]
    assert [dict(run["verdicts"]["half"]) for run in line["runs"]] == [
        {"violated": 4},
        {"vacuous": 1},
        {"violated": 1},
    ]
    assert stability_in_words(line) == (
        "as printed: holds at 4 of 4 seeds, vacuous at 1 of 1 with n = 2; "
        "half: violated at 4 of 4 seeds, vacuous at 1 of 1 with n = 2"
    )
    assert [(one["reading"], one["seed"], one["claim"]) for one in line["apart"]] == [
        ("as printed", 0, "bound"),
        ("half", 0, "bound"),
    ]
    assert all("no instance satisfies the hypotheses" in one["why"] for one in line["apart"])


@pytest.mark.thorough
def test_sizes_at_which_it_cannot_run_are_told():
    def simulate(x, key):
        if x.n > 4:
            raise ValueError("shapes do not go together")
        return x.a

    line = stability.measure(
        bound(Size(4), Reading("b", OURS.source, simulate=simulate)), "", seeds=2
    )
    assert line["runs"][2]["problem"] == "shapes do not go together"
    told = stability_in_words(line)
    assert told == "same verdicts at 2 seeds and 2 sizes; not run at n = 8"


def line(*runs: tuple[dict, dict[str, int]]) -> dict:
    """A line about one reading."""
    return {
        "readings": ["main text"],
        "runs": [
            {
                "sizes": at,
                "seeds": sum(found.values()),
                "problem": "",
                "verdicts": {"main text": found},
            }
            for at, found in runs
        ],
        "apart": [],
    }


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            line(({"n": 4}, {"holds": 20}), ({"n": 2}, {"holds": 5})),
            "same verdicts at 20 seeds and 2 sizes",
        ),
        (line(({}, {"violated": 20})), "same verdicts at 20 seeds (it has no sizes)"),
        (
            line(({"n": 4}, {"inconclusive": 3, "holds": 17}), ({"n": 2}, {"holds": 5})),
            "main text: holds at 17 of 20 seeds, inconclusive at 3",
        ),
        (
            line(({"n": 4}, {"holds": 20}), ({"n": 2, "d": 3}, {"holds": 4, "violated": 1})),
            "main text: holds at 20 of 20 seeds, violated at 1 of 5 with n = 2, d = 3",
        ),
    ],
)
def test_what_is_told(found, words):
    assert stability_in_words(found) == words
    assert is_stable(found, "main text") == words.startswith("same")


def test_seeds_compile_nothing_anew(caplog):
    """Although another number of draws meets the hypothesis at every seed."""
    theorem = bound(Size(4), FAR)
    met = {verify(theorem, seed=0).reading("far from 1").satisfying}
    with jax.log_compiles(), caplog.at_level(logging.WARNING, logger="jax"):
        met |= {verify(theorem, seed=seed).reading("far from 1").satisfying for seed in (1, 2, 3)}
    assert len(met) > 1
    assert [r.getMessage() for r in caplog.records if "ompil" in r.getMessage()] == []


@pytest.mark.parametrize("total", [1, 7, 15, 16, 17, 100, 1000, 12345, 10**6])
def test_lengths_are_shared_and_little_is_wasted(total):
    assert total <= shared_length(total) <= total * 9 / 8
    near = range(total, total + total // 4 + 1)
    assert len({shared_length(each) for each in near}) <= 5


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """The campaign with a record of its own; the ids that it measured, in order."""
    ran = []

    def measure(theorem, source, seeds, seconds):
        """A statement that is so slow that ten seconds suffice for six seeds."""
        ran.append(theorem.id)
        done = min(seeds, int(0.6 * seconds))
        told = {"theorem": theorem.id, "source": source, "seconds": seconds}
        return {**told, **line(({"n": 4}, {"holds": done}))}

    record = tmp_path / "stability.jsonl"
    monkeypatch.setattr(stability, "RECORD", record)
    monkeypatch.setattr(stability, "PAGE", tmp_path / "stability.md")
    measure.__module__ = stability.__name__  # where campaigns look it up
    monkeypatch.setattr(stability, "measure", measure)
    return ran


def test_it_goes_on_where_it_stopped(campaign, tmp_path):
    entries = [registry.find(f"low-rank/{name}") for name in ("lemma-5", "lemma-6", "claim-1")]
    stability.record(entries[:1], 4, 10, again=False)
    stability.record(entries[:2], 4, 10, again=False)
    assert campaign == ["low-rank/lemma-5", "low-rank/lemma-6"]
    record = tmp_path / "stability.jsonl"
    stale = {**lines_of(record)["low-rank/lemma-5"], "source": "of other code"}
    fresh = lines_of(record)["low-rank/lemma-6"]
    assert fresh["source"] == source_hash(entries[1])
    record.write_text("".join(json.dumps(each) + "\n" for each in (stale, fresh)))
    stability.record(entries, 4, 10, again=False)
    assert campaign[2:] == ["low-rank/lemma-5", "low-rank/claim-1"]
    stability.record(entries[1:2], 8, 20, again=False)
    stability.record(entries[1:2], 8, 20, again=True)
    assert campaign[4:] == ["low-rank/lemma-6"] * 2
    assert list(lines_of(record)) == [f"low-rank/{n}" for n in ("claim-1", "lemma-5", "lemma-6")]
    page = (tmp_path / "stability.md").read_text()
    assert (
        "| low-rank/lemma-6 | 8 at n = 4 | same verdicts at 8 seeds (its sizes are fixed) |" in page
    )
    assert f"; {len(own_statements()) - 3} further statements not measured yet" in page


def test_a_slow_statement_is_left_at_fewer_seeds_until_it_has_more_time(campaign, tmp_path):
    entries = [registry.find("low-rank/lemma-6")]
    for seconds in (10, 10, 5, 20):
        stability.record(entries, 8, seconds, again=False)
    assert campaign == ["low-rank/lemma-6"] * 2
    assert lines_of(tmp_path / "stability.jsonl")["low-rank/lemma-6"]["runs"][0]["seeds"] == 8


def test_no_further_seed_is_begun_when_the_time_is_over():
    theorem = registry.theorem("low-rank/lemma-5")
    assert [run["seeds"] for run in stability.measure(theorem, "", 4, 0.0)["runs"]] == [1]


def test_the_page_is_up_to_date():
    told = stability.PAGE.read_text()
    assert told == stability.page(records.stability()), "run python -m validation.stability --page"


def test_records_are_of_statements_that_are_there():
    ids = {entry.id for entry in own_statements()}
    assert set(records.stability()) <= ids
    assert not is_fresh(None, own_statements()[0])
