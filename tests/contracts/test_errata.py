"""Every entry of the ledger of errata is checked again, and no refuted reading is missing."""

import pytest

from theorysim.claims import Verdict
from theorysim.engine.registry.ledger import errata
from theorysim.engine.verify.verify import verify
from validation.catalogue import catalogue

ENTRIES = errata()
# What a ladder shows, no single instance does; the catalogue's verdict re-checks it.
OVER_A_LADDER = ("exists_constant", "scales_as", "tends_to")
REPLAYED = [e for e in ENTRIES if e["instance"] and e["kind"] not in OVER_A_LADDER]


def replayed(entry: dict):
    """One worker replays what belongs to a theorem: its programs are compiled once."""
    name = f"{entry['theorem']}, {entry['reading']}, {entry['claim']}"
    group = pytest.mark.xdist_group(f"errata of {entry['theorem']}")
    return pytest.param(entry, id=name, marks=group)


@pytest.mark.parametrize("entry", [replayed(entry) for entry in REPLAYED])
def test_the_counterexample_still_violates(entry):
    only = {"reading": entry["reading"], "claims": [entry["claim"]]}
    (claim,) = verify(entry["theorem"], **only, instance=entry["instance"]).readings[0].claims
    assert claim.verdict is Verdict.VIOLATED
    assert claim.lhs == pytest.approx(entry["lhs"], abs=2 * claim.error)


# Refuted readings that the falsifier does not find from a cold start, with the reason.
NOT_FOUND: dict[tuple[str, str], str] = {}


def test_every_refuted_reading_is_in_the_ledger_or_named_as_not_found():
    refuted = {
        (id, reading)
        for id, verdicts in catalogue().items()
        for reading, verdict in verdicts.items()
        if verdict == "violated"
    }
    recorded = {(entry["theorem"], entry["reading"]) for entry in ENTRIES}
    assert refuted - recorded == set(NOT_FOUND)
    assert recorded <= refuted
