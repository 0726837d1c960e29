"""Every entry of the ledger of errata is checked again, and no refuted claim is missing."""

import pytest
from drawn import is_drawn, is_quick, marks_of

from theorysim.claims import Verdict
from theorysim.engine.registry.ledger import LEDGER, errata
from theorysim.engine.verify.verify import verify
from validation.errata import UNRECORDED, as_text, refutations, where

ENTRIES = errata()
# What a ladder shows, no single instance does; the catalogue's verdict re-checks it.
OVER_A_LADDER = ("exists_constant", "scales_as", "tends_to")
REPLAYED = [e for e in ENTRIES if e["instance"] and e["kind"] not in OVER_A_LADDER]


def replay(entry: dict):
    """One worker replays what belongs to a theorem: its programs are compiled once.

    A default run replays what belongs to some of the quick ones.
    """
    name = f"{entry['theorem']}, {entry['reading']}, {entry['claim']}"
    group = pytest.mark.xdist_group(f"errata of {entry['theorem']}")
    drawn = is_quick(entry["theorem"]) and is_drawn(entry["theorem"], 6)
    return pytest.param(entry, id=name, marks=[group, *marks_of(drawn)])


@pytest.mark.parametrize("entry", [replay(entry) for entry in REPLAYED])
def test_the_counterexample_still_violates(entry):
    only = {"reading": entry["reading"], "claims": [entry["claim"]]}
    (claim,) = verify(entry["theorem"], **only, instance=entry["instance"]).readings[0].claims
    assert claim.verdict is Verdict.VIOLATED
    assert claim.lhs == pytest.approx(entry["lhs"], abs=2 * claim.error)


# Refuted claims that the falsifier does not find from a cold start, with the reason.
NOT_FOUND: dict[tuple[str, str, str], str] = {}


def test_every_refuted_claim_is_in_the_ledger_or_named_as_not_found():
    refuted, recorded = set(refutations()), {where(entry) for entry in ENTRIES}
    assert refuted - recorded == set(NOT_FOUND)
    assert recorded <= refuted


def test_the_ledger_stands_as_its_writer_writes_it():
    places = [where(entry) for entry in ENTRIES]
    assert places == sorted(places, key=refutations().index)
    assert LEDGER.read_text("utf-8") == as_text(ENTRIES)


def test_the_ledger_tells_a_recorded_verdict_of_every_correction():
    """`python -m validation.errata --words`, once `validation.catalogue` has recorded it."""
    told = {verdict for entry in ENTRIES for _, verdict in entry["instead"]}
    assert told and UNRECORDED not in told
