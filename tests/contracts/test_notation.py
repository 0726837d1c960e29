"""Every statement of the catalogue stands in the notation of its paper, as do its claims."""

import tomllib
from functools import cache
from xml.etree import ElementTree

import pytest

from theorysim.engine import registry
from theorysim.engine.registry.ledger import errata
from theorysim.engine.registry.notation import FILE, SHARED, notation_of
from theorysim.engine.registry.records import own_statements
from theorysim.report.mathematics import html, mathml, plain, text

# Packs need no notation: their pages are not made here.
ENTRIES = {entry.id: entry for entry in own_statements()}
FILES = {
    folder: tomllib.loads((folder / FILE).read_text("utf-8"))
    for folder in sorted({entry.path.parent for entry in ENTRIES.values()})
}
EXPLAINED = {folder: tables for folder, tables in FILES.items() if SHARED in tables}
LINES = [line for line in errata() if ENTRIES[line["theorem"]].path.parent in EXPLAINED]


theorem = cache(registry.theorem)


def _parts(id):
    """The names of the sizes and fields of a statement."""
    space = theorem(id).space
    return {*space.sizes, *space.fields}


@pytest.mark.parametrize("id", ENTRIES)
def test_the_notation_tells_everything_and_nothing_else(id):
    notation = notation_of(ENTRIES[id])
    assert notation is not None and notation.statement and notation.simulated
    readings = theorem(id).all_readings()
    assert set(notation.claims) == {claim.name for r in readings for claim in r.claims}
    assert set(notation.hypotheses) == {name for r in readings for name in r.hypotheses}
    assert bool(notation.corrected) == any(r.source.kind == "corrected" for r in readings)


@pytest.mark.parametrize("id", ENTRIES)
def test_the_notation_can_be_set_in_pages_and_terminals(id):
    notation = notation_of(ENTRIES[id])
    assert notation is not None
    texts = notation.statement, notation.corrected, notation.simulated, *notation.fields.values()
    for source in texts:
        assert not set("$\\") & set(text(source))
        ElementTree.fromstring(f"<div>{html(source)}</div>")
    for formula in (*notation.claims.values(), *notation.hypotheses.values()):
        assert not set("$\\") & set(plain(formula))
        ElementTree.fromstring(mathml(formula))


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['theorem']}, {line['claim']}")
def test_fields_of_counterexamples_are_explained(line):
    notation = notation_of(ENTRIES[line["theorem"]])
    assert notation is not None
    instance = line["instance"] or {"sizes": {}, "values": {}}
    assert {*instance["sizes"], *instance["values"]} <= set(notation.fields)


@pytest.mark.parametrize("folder", EXPLAINED, ids=lambda folder: folder.name)
def test_no_field_is_explained_that_no_statement_has(folder):
    shared, wanted = EXPLAINED[folder][SHARED], set()
    for entry in (entry for entry in ENTRIES.values() if entry.path.parent == folder):
        own, parts = EXPLAINED[folder][entry.name].get(SHARED, {}), _parts(entry.id)
        assert set(own) <= parts, entry.id
        assert not set(own.items()) & set(shared.items()), entry.id
        wanted |= parts - set(own)
    assert set(shared) <= wanted
