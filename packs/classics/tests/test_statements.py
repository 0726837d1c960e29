"""Every statement of the pack: listed, holds as it should, and its claims refute their mutants."""

import jax
import pytest

import theorysim
from theorysim.engine import registry
from theorysim.testing import assert_mutants_are_refuted

PAPERS = ("first-order", "networks")
ENTRIES = {entry.id: entry for paper in PAPERS for entry in registry.catalogue().of(paper)}

# Readings that are printed and refuted; every other one holds.
VIOLATED = {
    ("first-order/rate-gradient-descent-nonconvex", "PEPit's gallery"),
    ("first-order/rate-krasnoselskii-mann", "PEPit's gallery"),
    ("first-order/rate-nesterov", "PEPit's gallery, t from 0"),
}
HOLDS, REFUTED = "networks/law-depth", "first-order/rate-gradient-descent-nonconvex"


def over(*default):
    """A test of every statement, marked `thorough` but for these."""
    marks = {id: [] if id in default else pytest.mark.thorough for id in ENTRIES}
    return pytest.mark.parametrize("id", [pytest.param(id, marks=marks[id]) for id in ENTRIES])


each = over(HOLDS, REFUTED)


@pytest.fixture(autouse=True)
def _forget_programs():
    yield
    jax.clear_caches()


def test_the_statements_are_listed_with_their_paper():
    assert len(ENTRIES) >= 40
    for entry in ENTRIES.values():
        assert not entry.problem
        assert entry.title.endswith(".")
        assert registry.citation(entry) is not None


@each
def test_every_reading_comes_out_as_it_should(id):
    report = theorysim.verify(id)
    found = {reading.name: str(reading.verdict) for reading in report.readings}
    expected = {name: "violated" if (id, name) in VIOLATED else "holds" for name in found}
    assert found == expected


@over(HOLDS)
def test_its_claims_refute_their_mutants(id):
    assert_mutants_are_refuted(id)


@each
def test_every_reading_has_a_source_and_what_is_refuted_a_reason(id):
    for reading in registry.load(ENTRIES[id]).all_readings():
        assert all(vars(reading.source).values())
        assert reading.note or (id, reading.name) not in VIOLATED
