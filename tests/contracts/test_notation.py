"""Every statement of the catalogue stands in the notation of its paper, as do its claims."""

from xml.etree import ElementTree

import pytest

from theorysim.engine import registry
from theorysim.engine.registry.notation import notation_of
from theorysim.report.mathematics import html, mathml, plain, text

ENTRIES = {entry.id: entry for entry in registry.catalogue()}


@pytest.mark.parametrize("id", ENTRIES)
def test_the_notation_tells_everything_and_nothing_else(id):
    notation = notation_of(ENTRIES[id])
    assert notation is not None and notation.statement and notation.simulated
    readings = registry.theorem(id).all_readings()
    assert set(notation.claims) == {claim.name for r in readings for claim in r.claims}
    assert set(notation.hypotheses) == {name for r in readings for name in r.hypotheses}
    assert bool(notation.corrected) == any(r.source.kind == "corrected" for r in readings)


@pytest.mark.parametrize("id", ENTRIES)
def test_the_notation_can_be_set_in_pages_and_terminals(id):
    notation = notation_of(ENTRIES[id])
    assert notation is not None
    for source in (notation.statement, notation.corrected, notation.simulated):
        assert not set("$\\") & set(text(source))
        ElementTree.fromstring(f"<div>{html(source)}</div>")
    for formula in (*notation.claims.values(), *notation.hypotheses.values()):
        assert not set("$\\") & set(plain(formula))
        ElementTree.fromstring(mathml(formula))
