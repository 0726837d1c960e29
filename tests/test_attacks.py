"""The record of attacks: what it says of statements of known truth, and that it is complete."""

import jax
import pytest

from tests.engine.statements import decay, theorem
from theorysim.claims import Mutant, at_most, equal, with_probability
from theorysim.engine.registry.records import lines_of
from validation import attacks

# With room for as many points as a first attack takes at most, and for no second one.
POINTS = 4096


@pytest.fixture(autouse=True)
def _first_attack(monkeypatch):
    monkeypatch.setattr(attacks, "first_points", lambda *of: POINTS)


def bounded_by(bound, **more):
    return theorem(
        at_most("product", lambda r: r.sim["a"] * r.x.b, lambda r: bound),
        equal("a", lambda r: r.sim["a"], lambda r: r.theory["a"]),
        **more,
    )


def test_a_true_statement_withstands_and_its_planted_error_is_found():
    line = attacks.measure(bounded_by(4.0), source="", seconds=0)
    assert line["refuted"] == []
    assert line["evaluations"] == line["runs"] == POINTS
    assert line["ratio"] == pytest.approx(1)
    assert 0 < line["planted"] <= POINTS


def test_a_false_statement_falls_and_the_table_says_so():
    line = attacks.measure(bounded_by(3.9), source="", seconds=0)
    assert line["refuted"] == ["product"]
    assert "| tests/statement | " in attacks.table({"tests/statement": line})
    assert "| REFUTED: product |" in attacks.table({"tests/statement": line})


def test_a_planted_error_that_is_none_is_not_found():
    harmless = Mutant("false", predict=lambda x: {"a": x.a})
    line = attacks.measure(bounded_by(4.0, mutant=harmless), source="", seconds=0)
    assert line["planted"] is None
    assert "| not found |" in attacks.table({"tests/statement": line})


def test_budgets_grow_until_the_runs_suffice(monkeypatch):
    monkeypatch.setattr(attacks, "CLOSED", 10_000)
    growing = attacks.growing(bounded_by(4.0), "as printed", None, seconds=600)
    budgets = [found[0].runs for found in growing]
    assert budgets[:2] == [POINTS] * 2
    assert budgets[1:] == sorted(set(budgets))
    assert 10_000 <= budgets[-1] <= 11_000


def test_claims_that_are_drawn_anew_have_a_budget_of_their_own():
    often = with_probability("often", lambda r: r.sim["a"], lambda r: 1.5, at_least=lambda r: 0.0)
    both = theorem(often, *bounded_by(4.0).claims, keys=64)
    assert attacks.parts(both.primary()) == [("often",), ("product", "a")]


def test_a_simulation_that_loops_needs_fewer_runs():
    stepwise = bounded_by(
        4.0, simulate=lambda x, key: {"a": jax.lax.fori_loop(0, 3, lambda i, a: a, x.a)}
    )
    assert attacks.target(stepwise) == attacks.LOOPING
    assert attacks.target(decay()) == attacks.CLOSED


def test_what_is_short_or_missing_is_listed():
    line = {"planted": 1, "evaluations": 9, "runs": 99, "target": 100, "refuted": [], "ratio": None}
    line |= {"seconds": 5.0, "source": ""}
    lines = {"overtraining/eq-1": line, "overtraining/eq-4": {**line, "runs": 100}}
    text = attacks.table(lines)
    assert "\nShort of their runs: overtraining/eq-1 (5 s).\n" in text
    missing = text.partition("\nNot attacked yet: ")[2]
    assert "overtraining/eq-15" in missing
    assert "overtraining/eq-4," not in missing
    assert "changed: overtraining/eq-1, overtraining/eq-4.\n" in text


def test_without_planted_errors_the_table_says_not_tried():
    line = attacks.measure(bounded_by(4.0), source="", seconds=0, plant=False)
    assert "planted" not in line
    assert "| tests/statement | not tried |" in attacks.table({"tests/statement": line})


def test_the_published_table_is_that_of_the_record():
    assert attacks.TABLE.read_text() == attacks.table(lines_of(attacks.RECORD))
