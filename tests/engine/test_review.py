"""A review finds what is known of statements: idle hypotheses, loose constants, rare faults."""

import json
import math

import jax.numpy as jnp
import pytest

from theorysim.claims import (
    Finding,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    Verdict,
    at_least,
    at_most,
    corrected,
    scales_as,
    strict,
)
from theorysim.engine.review.necessity import Need
from theorysim.engine.review.readings import Readings
from theorysim.engine.review.recommendations import Weight
from theorysim.engine.review.review import STAGES, Review, review
from theorysim.engine.review.words import instance, number, share
from theorysim.errors import UsageError

SECONDS = 4.0
NEAR = 0.05
"""how near a search comes in so little time, relatively"""
HALVED = Mutant("a ninth", predict=lambda x: jnp.maximum(x.a, x.b) / 9)


def statement(*claims, **parts) -> Theorem:
    """A statement about numbers a of [-1, 2] and b of [0, 2], and an idle c of [-1, 1]."""
    filled = {
        "space": Space(a=Real(-1, 2), b=Real(0, 2), c=Real(-1, 1)),
        "simulate": lambda x, key: x.a + x.b,
        "predict": lambda x: jnp.maximum(x.a, x.b),
        "source": Printed("Lemma 1", "a + b <= 4 max(a, b)"),
        "mutants": (HALVED,),
        "id": "tests/lemma-1",
        "title": "A sum is bounded by the larger number.",
        **parts,
    }
    return Theorem(claims=claims, **filled)


@pytest.fixture(scope="module")
def true() -> Review:
    """|a + b| <= 4 max(a, b) sign(a): needs a >= 0, not c > 0; 2 would do, reached at a = b."""
    bound = at_most("sum", lambda r: jnp.abs(r.sim), lambda r: 4 * r.theory * jnp.sign(r.x.a))
    hypotheses = {
        "a is not negative": lambda x: x.a,
        "c is positive": strict(lambda x: x.c),
        "b is not negative": lambda x: x.b,
    }
    return review(statement(bound, hypotheses=hypotheses), seconds=SECONDS)


def test_exactly_the_hypothesis_that_is_needed_is_called_so(true):
    needs = {one.hypothesis: one.need for one in true.necessity.hypotheses}
    assert needs == {
        "a is not negative": Need.NEEDED,
        "c is positive": Need.NOT_NEEDED,
        "b is not negative": Need.ALWAYS_MET,
    }


def test_the_counterexample_without_a_hypothesis_meets_all_others(true):
    (needed,) = true.necessity.of(Need.NEEDED)
    values = needed.instance["values"]
    assert values["a"] < 0 < values["c"]
    assert needed.lhs == pytest.approx(abs(values["a"] + values["b"]))
    assert needed.rhs == pytest.approx(-4 * max(values["a"], values["b"]))


def test_the_best_constant_is_the_known_one(true):
    (found,) = true.sharpness.constants
    assert found.factor == pytest.approx(0.5, rel=NEAR)
    values = found.instance["values"]
    assert values["a"] == pytest.approx(values["b"], rel=2 * NEAR)
    assert not (found.attained or found.ties)


def test_the_recommendations_are_these_and_no_others(true):
    assert true.verdict is Verdict.HOLDS
    assert (true.exit_code, true.decision) == (0, "minor revision")
    idle, loose, silent = true.recommendations
    assert idle.weight is loose.weight is Weight.MINOR
    assert "“c is positive” is not needed" in idle.text
    assert "“sum” is loose" in loose.text
    assert silent.weight is Weight.REMARK and "“b is not negative”" in silent.text


def test_the_share_of_draws_that_meets_each_hypothesis_is_counted(true):
    (demand,) = true.demands.readings
    shares = {one.name: one.satisfied / one.drawn for one in demand.hypotheses}
    assert shares["a is not negative"] == pytest.approx(2 / 3, abs=0.02)
    assert shares["c is positive"] == pytest.approx(1 / 2, abs=0.02)
    assert shares["b is not negative"] == 1


def test_a_review_survives_json(true):
    data = json.loads(json.dumps(true.as_json(), allow_nan=False))
    assert Review.from_json(data).as_json() == data
    assert Review.from_json(data).verdict is Verdict.HOLDS


def test_a_statement_that_fails_on_a_ten_thousandth_of_its_space_is_a_major_finding():
    def rare(r):
        return jnp.where(jnp.abs(r.x.b - 0.7) < 1e-4, 3.0, r.x.b)

    found = review(statement(at_most("bump", rare, lambda r: 2.5)), seconds=SECONDS)
    assert (found.verdict, found.exit_code) == (Verdict.VIOLATED, 3)
    major = found.recommendations[0]
    assert major.weight is Weight.MAJOR
    assert abs(major.instance["values"]["b"] - 0.7) < 1e-4
    assert "“bump” fails: 3, which must be at most 2.5" in major.text


def test_what_only_the_adversary_finds_counts_too():
    """Violated where all three numbers are at their ends to within a hundredth."""

    def corner(r):
        return r.x.a * r.x.b + r.x.c

    edge = at_most("corner", corner, lambda r: 4.99)
    few = statement(edge, instances=8)
    found = review(few, seconds=SECONDS)
    assert found.readings.primary.verdict is Verdict.HOLDS
    assert [one.claim for one in found.adversary.refuted] == ["corner"]
    assert found.verdict is Verdict.VIOLATED and found.decision == "major revision"
    assert not found.sharpness.constants


def test_sides_that_are_equal_by_construction_do_not_hide_the_constant():
    """A path that starts at its bound, and stays below three tenths of it."""
    path = at_most(
        "path",
        lambda r: jnp.stack([1.0 + 0 * r.x.b, 0.15 * r.x.b]),
        lambda r: jnp.ones(2),
    )
    found = review(statement(path), seconds=SECONDS)
    (constant,) = found.sharpness.constants
    assert constant.ties
    assert constant.factor == pytest.approx(0.3, rel=NEAR)


def test_a_lower_bound_may_be_raised():
    bound = at_least("square", lambda r: 3 + r.x.b**2, lambda r: 1.0 + 0 * r.x.b)
    (constant,) = review(statement(bound), seconds=SECONDS).sharpness.constants
    assert constant.factor == pytest.approx(3, rel=NEAR)


def test_a_bound_that_is_attained_is_not_called_loose():
    bound = at_most("sum", lambda r: r.sim, lambda r: 2 * r.theory)
    found = review(statement(bound), seconds=SECONDS)
    assert found.sharpness.constants[0].attained
    assert not [one for one in found.recommendations if "loose" in one.text]


def test_a_side_that_is_zero_tells_no_constant():
    bound = at_least("positive", lambda r: 1 + r.x.b, lambda r: 0.0 * r.x.b, strict=True)
    found = review(statement(bound), seconds=SECONDS)
    assert not found.sharpness.constants[0].known
    assert not [one for one in found.recommendations if "loose" in one.text]


def test_a_power_below_the_printed_one_is_measured():
    growth = scales_as(
        "growth",
        lambda r: (2 + r.x.b) * r.x.n,
        over={"n": (4, 8, 16, 32)},
        exponent=2,
        relation="at_most",
    )
    space = Space(n=Size(4, high=64), a=Real(-1, 2), b=Real(0, 2))
    found = review(statement(growth, space=space, mutants=()), seconds=SECONDS)
    (measured,) = found.measured.found
    assert measured.low <= 1 + 1e-9 and measured.high >= 1 - 1e-9
    assert any("“growth” is loose" in one.text for one in found.recommendations)


def test_hypotheses_that_nothing_meets_are_a_major_finding():
    bound = at_most("sum", lambda r: r.sim, lambda r: 4 * r.theory)
    found = review(statement(bound, hypotheses={"never": lambda x: -3 - x.a}), seconds=SECONDS)
    assert (found.verdict, found.exit_code) == (Verdict.VACUOUS, 4)
    assert found.recommendations[0].weight is Weight.MAJOR
    assert "none of" in found.recommendations[0].text


def test_a_print_that_fails_is_named_beside_its_correction():
    twice = at_most("sum", lambda r: r.sim, lambda r: 2 * r.theory)
    once = at_most("sum", lambda r: r.sim, lambda r: r.theory)
    found = review(
        statement(once, readings=(corrected("the factor 2", claims=(twice,)),)), seconds=SECONDS
    )
    assert found.verdict is Verdict.HOLDS
    assert found.decision == "major revision"
    assert found.sentence.startswith("Lemma 1: violated (1 of 1 claim). Corrected: holds")


def test_a_claim_that_refutes_no_planted_error_is_named():
    bound = at_most("sum", lambda r: r.sim, lambda r: 2 * r.theory)
    harmless = Mutant("larger", predict=lambda x: 3 * jnp.maximum(x.a, x.b))
    found = review(statement(bound, mutants=(harmless,)), seconds=SECONDS)
    assert any("No planted error is refuted by “sum”" in r.text for r in found.recommendations)
    explained = statement(bound, mutants=(harmless,), survivors={"sum": "for a reason"})
    found = review(explained, seconds=SECONDS)
    assert not any("planted" in r.text for r in found.recommendations)


def test_what_is_not_printed_is_verified_only():
    bound = at_most("sum", lambda r: r.sim, lambda r: 4 * r.theory)
    other = Reading("ours", Finding("something else"))
    found = review(statement(bound, readings=(other,)), seconds=SECONDS)
    assert {one.reading for one in found.adversary.outcomes} == {"as printed"}
    assert any("ours" in gap.sentence for gap in found.unchecked.gaps if gap.about == "readings")


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_seconds_are_positive(seconds):
    with pytest.raises(UsageError, match="expected a positive number"):
        review(statement(at_most("sum", lambda r: r.sim, lambda r: 9.0)), seconds=seconds)


FILE = '''
"""A number is at most its bound."""

from theorysim.claims import Mutant, Real, Space, Theorem, at_most

theorem = Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: 2.0),),
    mutants=(Mutant("three times", simulate=lambda x, key: 3 * x.a),),
)
'''.lstrip()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lemma_1.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def begun(monkeypatch):
    """The names of the stages that were computed, not taken from an earlier run."""
    from theorysim.engine.review import kept

    names = []
    store = kept.Kept.store

    def note(self, stage, *arguments):
        names.append(stage)
        store(self, stage, *arguments)

    monkeypatch.setattr(kept.Kept, "store", note)
    return names


def interrupt_at(stage: int):
    def progress(done, total, name):
        if done == stage:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("stage", [1, 3])
def test_an_interrupted_review_goes_on(file, begun, tmp_path, stage):
    folder = tmp_path / "kept"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        review(str(file), seconds=2, kept=folder, progress=interrupt_at(stage))
    assert begun == list(STAGES[:stage])
    found = review(str(file), seconds=2, kept=folder)
    assert begun == list(STAGES)
    assert list(found.spent) == list(STAGES)
    assert found.theorem == "local/lemma-1"
    again = review(str(file), seconds=2, kept=folder)
    assert begun == list(STAGES) and again.as_json() == found.as_json()


def test_a_changed_file_or_option_begins_anew(file, begun, tmp_path):
    review(str(file), seconds=2, kept=tmp_path)
    review(str(file), seconds=2, seed=1, kept=tmp_path)
    assert len(begun) == 2 * len(STAGES)
    file.write_text(FILE.replace("2.0", "2.5"))
    found = review(str(file), seconds=2, kept=tmp_path)
    assert len(begun) == 3 * len(STAGES)
    assert found.sharpness.constants[0].factor == pytest.approx(0.8, rel=NEAR)
    review(str(file), seconds=2, kept=tmp_path, fresh=True)
    assert len(begun) == 4 * len(STAGES)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"readings and verdicts": {"seconds": 1}}'])
def test_a_kept_file_that_cannot_be_read_is_as_none(file, begun, tmp_path, content):
    folder = tmp_path / "kept"
    folder.mkdir()
    review(str(file), seconds=2, kept=folder)
    (kept,) = folder.iterdir()
    kept.write_text(content)
    review(str(file), seconds=2, kept=folder)
    assert len(begun) == 2 * len(STAGES)
    assert list(folder.iterdir()) == [kept]


def test_records_of_another_form_are_refused():
    with pytest.raises((KeyError, TypeError, ValueError)):
        Readings.from_json({"readings": [{}], "sizes": {}, "warnings": [], "pictures": {}})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.31249, "0.312"),
        (6000.0, "6000"),
        (6.43e7, "6.43e7"),
        (-1.25e-7, "-1.25e-7"),
        (99999.9, "1e5"),
        (math.nan, "no number"),
        (math.inf, "infinity"),
    ],
)
def test_numbers_in_words(value, text):
    assert number(value) == text


def test_shares_are_none_or_all_only_where_they_are():
    assert [share(part, 100_000) for part in (0, 1, 50_000, 99_999, 100_000)] == [
        "none",
        "0.001 %",
        "50 %",
        "99.9 %",
        "all",
    ]


def test_instances_in_words():
    data = {"sizes": {"d": 2}, "values": {"a": 0.31234567, "v": [1, 2.5], "m": [[0.0] * 3] * 4}}
    assert instance(data) == "d = 2, a = 0.3123, v = (1, 2.5), m = (4 x 3 numbers from 0 to 0)"
    assert instance({"values": dict.fromkeys("abcdefghij", 1)}).endswith("and 4 more values")
