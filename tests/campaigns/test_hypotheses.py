"""Which hypotheses of which reading are needed, and how sharp its constants are, as recorded."""

import json

import jax.numpy as jnp
import pytest
from searches import AMPLE, one_round

from theorysim.claims import Mutant, Printed, Reading, Real, Space, Theorem, at_most, corrected
from theorysim.engine.registry import records
from theorysim.engine.registry.records import own_statements
from validation import hypotheses

POSITIVE = {"a is not negative": lambda x: x.a, "c is positive": lambda x: x.c}


@pytest.fixture(scope="module")
def line() -> dict:
    """|a + b| <= 4 max(a, b) sign(a), printed twice: it needs a >= 0, not c > 0; 2 would do."""
    theorem = Theorem(
        space=Space(a=Real(-1, 2), b=Real(0, 2), c=Real(-1, 1)),
        simulate=lambda x, key: x.a + x.b,
        predict=lambda x: 4 * jnp.maximum(x.a, x.b) * jnp.sign(x.a),
        claims=(
            at_most(
                "sum", lambda r: jnp.abs(r.sim), lambda r: r.theory, statement="|a + b| <= 4 max"
            ),
        ),
        source=Printed("Lemma 1", "for a >= 0"),
        hypotheses={"a is not negative": POSITIVE["a is not negative"]},
        readings=(
            Reading("false", Printed("p. 3", "for c > 0"), hypotheses={"c": lambda x: x.c}),
            corrected("for both", hypotheses=POSITIVE),
        ),
        mutants=(Mutant("a ninth", predict=lambda x: jnp.maximum(x.a, x.b) / 9),),
        id="tests/lemma-1",
        title="A sum is bounded.",
    )
    with one_round(4096):
        found = hypotheses.measure(theorem, "hash", AMPLE)
    return json.loads(json.dumps(found, allow_nan=False))


def test_every_reading_has_its_own_hypotheses(line):
    assert (line["theorem"], line["source"], line["seconds"]) == ("tests/lemma-1", "hash", AMPLE)
    needs = {
        reading: {one["hypothesis"]: one["need"] for one in several}
        for reading, several in line["hypotheses"].items()
    }
    assert needs == {
        "as printed": {"a is not negative": "needed"},
        "corrected": {
            "a is not negative": "needed",
            "c is positive": "not needed on this space",
        },
        "false": {"c": "not examined"},
    }


def test_a_needed_hypothesis_comes_with_its_counterexample(line):
    (needed,) = line["hypotheses"]["as printed"]
    values = needed["instance"]["values"]
    assert values["a"] < 0
    assert needed["lhs"] == pytest.approx(abs(values["a"] + values["b"]))
    page = hypotheses.needs_page({"tests/lemma-1": line})
    (row,) = [row for row in page.splitlines() if row.startswith("| tests/lemma-1 | as printed |")]
    assert "| a is not negative | needed | Without it “sum” fails:" in row
    assert f"a = {values['a']!r}" in row
    assert "Hypotheses: 2 needed, 1 not needed on this space, 1 not examined." in page


def test_the_best_constant_stands_beside_the_printed_one(line):
    found = {one["reading"]: one for one in line["constants"]}
    assert set(found) == {"as printed", "corrected"}
    assert found["as printed"]["factor"] == pytest.approx(0.5, rel=0.05)
    page = hypotheses.constants_page({"tests/lemma-1": line})
    (row,) = [row for row in page.splitlines() if row.startswith("| tests/lemma-1 | as printed |")]
    assert "| sum | \\|a + b\\| <= 4 max |" in row
    assert row.count("|") - row.count("\\|") == 7


def test_pages_are_up_to_date():
    lines = records.hypotheses()
    remedy = "run python -m validation.hypotheses --page"
    assert hypotheses.NEEDS.read_text() == hypotheses.needs_page(lines), remedy
    assert hypotheses.CONSTANTS.read_text() == hypotheses.constants_page(lines), remedy


def test_records_are_of_statements_that_are_there():
    assert set(records.hypotheses()) <= {entry.id for entry in own_statements()}
