"""The ledger is written anew from the statements' files, whatever became of what it tells."""

import dataclasses
import json
from types import SimpleNamespace

import pytest

from theorysim.claims import Corrected, Finding, Printed, Reading, Real, Space, Theorem, at_most
from validation import errata
from validation.generic import DEGENERATE, drawn_attacks

ID = "tests/lemma-1"
PRINTED = Printed("Lemma 1", "x <= 1")
CLAIMS = (at_most("x", lambda r: r.x.x, lambda r: 1.0),)
ANSWER = Reading("corrected", Corrected("2 for 1"), claims=CLAIMS)


def lemma(source, *others: Reading) -> Theorem:
    """x <= 1 for x up to 2, in a reading "bound" from this source."""
    return Theorem(
        space=Space(x=Real(0, 2)),
        simulate=lambda x, key: x.x,
        claims=CLAIMS,
        source=Printed("Lemma 1", "x <= 3"),
        readings=(Reading("bound", source, claims=CLAIMS, note="2 exceeds it"), *others),
        id=ID,
        title="A number is bounded.",
    )


def line(theorem: str = ID, reading: str = "bound", claim: str = "x") -> dict:
    """A line of the ledger, as the lemma was when it was written."""
    found = dict.fromkeys(errata.FOUND) | {"theorem": theorem, "reading": reading, "claim": claim}
    old = {"place": "Lemma 0", "words": "x < 1", "wrong": "", "instead": []}
    return {**found, "note": "", "strict": True, **old}


@pytest.fixture
def restated(monkeypatch, tmp_path):
    """What a ledger of these lines becomes, now that the file states this theorem."""

    def restated(theorem: Theorem, *lines: dict) -> list[dict]:
        ledger = tmp_path / "errata.jsonl"
        ledger.write_text(errata.as_text(list(lines)))
        monkeypatch.setattr(errata, "LEDGER", ledger)
        monkeypatch.setattr(errata, "errata", lambda: read(ledger))
        monkeypatch.setattr(errata.registry, "catalogue", lambda: [SimpleNamespace(id=ID)])
        monkeypatch.setattr(errata.registry, "theorem", lambda id: {ID: theorem}[id])
        monkeypatch.setattr(errata, "catalogue", lambda: {ID: {"bound": "violated"}})
        errata.restate()
        return read(ledger)

    return restated


def read(ledger) -> list[dict]:
    return [json.loads(text) for text in ledger.read_text().splitlines()]


def test_what_is_still_printed_is_told_in_the_words_of_its_file(restated):
    (told,) = restated(lemma(PRINTED), line())
    assert told["place"] == "Lemma 1" and told["words"] == "x <= 1"
    assert told["wrong"] == "2 exceeds it" and told["strict"] is False


@pytest.mark.parametrize("source", [Finding("practical sizes"), Corrected("1 for 2")])
def test_a_reading_that_is_no_longer_printed_leaves_the_ledger_and_is_named(
    restated, capsys, source
):
    assert restated(lemma(source), line()) == []
    assert capsys.readouterr().out == f"{ID}, bound, x: NOT IN PRINT ANY MORE\n"


@pytest.mark.parametrize("gone", [{"theorem": "tests/x"}, {"reading": "old"}, {"claim": "y"}])
def test_so_does_what_has_gone_or_has_another_name_and_the_others_stay(restated, gone):
    (left,) = restated(lemma(PRINTED), line(**gone), line())
    assert (left["theorem"], left["reading"], left["claim"]) == (ID, "bound", "x")


def test_a_correction_without_a_recorded_verdict_is_told_as_such(restated):
    (told,) = restated(lemma(PRINTED, ANSWER), line())
    assert told["instead"] == [["2 for 1", errata.UNRECORDED]]


def test_a_draw_with_few_digits_stands_in_for_a_degenerate_counterexample():
    bounded = at_most("x", lambda r: r.x.x, lambda r: 1.0)
    holding = at_most("x is at most 3", lambda r: r.x.x, lambda r: 3.0)
    theorem = dataclasses.replace(lemma(PRINTED), claims=(bounded, holding), readings=())
    (attack,) = drawn_attacks(theorem, "as printed", ["x", "x is at most 3"])
    drawn = attack.instance["values"]["x"]
    assert (attack.claim, attack.refuted, attack.lhs, attack.rhs) == ("x", True, drawn, 1.0)
    assert 1 < drawn <= 2 and drawn == float(f"{drawn:.1e}")
    assert attack.evaluations > 100


def test_every_degenerate_reading_is_in_the_ledger():
    assert DEGENERATE.keys() <= {(line["theorem"], line["reading"]) for line in errata.errata()}
