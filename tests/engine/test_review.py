"""A review finds what is known of statements: idle hypotheses, loose constants, rare faults."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from searches import AMPLE, one_round

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
    at_most,
    corrected,
    exists_constant,
    strict,
)
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.review import review as whole
from theorysim.engine.review import sharpness
from theorysim.engine.review.adversary import Adversary, attack
from theorysim.engine.review.necessity import HypothesisNeed, Necessity, Need, _judged, drop_each
from theorysim.engine.review.readings import verify_readings
from theorysim.engine.review.recommendations import Weight, _superfluous, violation
from theorysim.engine.review.review import Review, review
from theorysim.engine.review.unchecked import uses_key
from theorysim.errors import UsageError

NEAR = 0.05
"""how near a search of one round comes, relatively"""
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


@pytest.fixture(autouse=True)
def _short():
    with one_round(1024):
        yield


@pytest.fixture(scope="module")
def true() -> Iterator[Review]:
    """|a + b| <= 4 max(a, b) sign(a): needs a >= 0, not c > 0; 2 would do, reached at a = b."""
    bound = at_most("sum", lambda r: jnp.abs(r.sim), lambda r: 4 * r.theory * jnp.sign(r.x.a))
    hypotheses = {
        "a is not negative": lambda x: x.a,
        "c is positive": strict(lambda x: x.c),
        "b is not negative": lambda x: x.b,
    }
    with one_round(4096):
        yield review(statement(bound, hypotheses=hypotheses), seconds=AMPLE)


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
    assert "would have been found with 95 %. It may be dropped, or “sum” sharpened." in idle.text
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


NOTHING = Adversary((), {})


def needs(theorem: Theorem, seconds: float, adversary: Adversary = NOTHING) -> Necessity:
    """Stage 3 alone."""
    return drop_each(theorem, verify_readings(theorem, 0).primary, adversary, 0, seconds)


def test_without_a_search_no_hypothesis_is_called_idle():
    """Thousands of draws are no search: a violation may sit in a corner."""
    bound = at_most("sum", lambda r: r.sim, lambda r: 4 * r.theory)
    (one,) = needs(statement(bound, hypotheses={"c > 0": strict(lambda x: x.c)}), 0).hypotheses
    assert (one.need, one.points) == (Need.UNDECIDED, 0)
    assert one.failing > 1000 and "before a search" in one.note


@pytest.mark.parametrize(
    ("seen", "need"),
    [
        ({"failing": 13, "draws": 13, "excluded": 0.2, "points": 4096}, Need.UNDECIDED),
        ({"failing": 400, "draws": 400, "excluded": 0.0075, "points": 4096}, Need.NOT_NEEDED),
        ({"failing": 400, "draws": 400, "excluded": 0.0075}, Need.UNDECIDED),
        ({"failing": 400, "draws": 400, "points": 4096}, Need.UNDECIDED),
        ({"failing": 400, "excluded": 0.0075, "points": 9, "undecided": ("a",)}, Need.UNDECIDED),
        ({"fails": 400, "points": 4096}, Need.IMPLIED),
        ({"fails": 400}, Need.UNDECIDED),
        ({"fails": 13, "points": 4096}, Need.UNDECIDED),
        ({"fails": 400, "points": 4096, "reached": 5}, Need.UNDECIDED),
        ({"points": 4096}, Need.ALWAYS_MET),
    ],
)
def test_a_hypothesis_is_idle_by_a_search_and_by_draws_that_exclude_a_percent(seen, need):
    assert _judged(HypothesisNeed("a", Need.UNDECIDED, **seen)).need is need


def test_claims_that_the_adversary_refutes_show_no_hypothesis_to_be_needed():
    """Refuted in a corner with c <= 0.9, and everywhere without."""
    corner = at_most("corner", lambda r: r.x.a * r.x.b + r.x.c, lambda r: 4.89)
    few = statement(corner, hypotheses={"c <= 0.9": lambda x: 0.9 - x.c}, instances=8)
    readings = verify_readings(few, 0)
    assert readings.primary.verdict is Verdict.HOLDS
    with one_round(4096):
        found = attack(few, readings, 0, AMPLE)
    assert [one.claim for one in found.refuted] == ["corner"]
    assert drop_each(few, readings.primary, found, 0, AMPLE) == Necessity((), ())


def test_what_becomes_of_a_claim_that_fell_is_not_told_by_the_others(true):
    """No advice to drop a hypothesis that a refuted claim may need once it is mended."""
    fallen = replace(true.necessity, claims=())
    stages = whole.Stages(
        *(getattr(true, name) for name in ("readings", "adversary")),
        fallen,
        *(getattr(true, name) for name in ("sharpness", "measured", "demands", "mutants")),
    )
    idle = next(_superfluous(stages))
    assert idle.weight is Weight.REMARK
    assert "dropped" not in idle.text and "“sum” may need it" in idle.text


def test_a_hypothesis_without_which_a_ladder_has_no_rung_is_undecided_and_says_so():
    """No rung of c lies beyond 0.9; the other hypothesis is tried all the same."""
    over = {"c": (0.8, 0.4, 0.2, 0.1)}
    bounded = exists_constant("bounded", lambda r: jnp.abs(r.sim), lambda r: 1.0, over=over)
    hypotheses = {"c <= 0.9": lambda x: 0.9 - x.c, "a <= 1": lambda x: 1 - x.a}
    first, second = needs(statement(bounded, hypotheses=hypotheses), 0).hypotheses
    assert first.need is Need.UNDECIDED
    assert first.note == "no instance satisfies the hypotheses at c = 0.1"
    assert second.failing > 0 and "no instance" not in second.note


def sized(hypotheses) -> Theorem:
    """The mean of n numbers of [1, 2] is at most 2 n / d; space with d = 2, n = 4."""
    mean = at_most("mean", lambda r: r.sim, lambda r: 2.0 * r.x.n / r.x.d)
    return statement(
        mean,
        space=Space(d=Size(2, low=2, high=3), n=Size(4, low=2, high=4), a=Real(1, 2)),
        simulate=lambda x, key: jnp.mean(x.a * jnp.ones(x.n)),
        predict=lambda x: x.a,
        hypotheses=hypotheses,
        mutants=(),
    )


def test_sizes_are_varied_before_a_hypothesis_on_them_is_called_always_met():
    """Without d <= n the mean exceeds 2 n / d; d <= 8 n is always met, at all sizes."""
    hypotheses = {"d <= n": lambda x: x.n - x.d, "d <= 8 n": lambda x: 8.0 * x.n - x.d}
    with one_round(512):
        first, second = needs(sized(hypotheses), AMPLE).hypotheses
    assert first.need is Need.NEEDED
    assert first.sizes["d"] > first.sizes["n"] and first.instance["sizes"] == first.sizes
    assert second.need is Need.ALWAYS_MET and second.tried > 1


@pytest.mark.thorough
def test_of_a_hypothesis_written_twice_either_is_idle_not_both():
    bound = at_most("sum", lambda r: r.sim, lambda r: 4 * r.theory)
    twice = {"c > 0": strict(lambda x: x.c), "2 c > 0": strict(lambda x: 2 * x.c)}
    theorem = statement(bound, hypotheses=twice)
    readings = verify_readings(theorem, 0)
    with one_round(512):
        found = drop_each(theorem, readings.primary, NOTHING, 0, AMPLE)
    assert {one.need for one in found.hypotheses} == {Need.IMPLIED}
    (said,) = _superfluous(
        whole.Stages(readings, NOTHING, found, sharpness.Sharpness(()), *[None] * 3)
    )
    assert "“c > 0” and “2 c > 0” are each implied" in said.text
    assert said.text.endswith("Either may be dropped, not both.")


def test_sizes_are_told_only_where_the_hypotheses_are_met():
    found = falsify(sized({"n > d + 1": lambda x: x.n - x.d - 1.5}), budget=600)
    assert dict(d=2, n=4) in found.attacks[0].sizes
    assert dict(d=2, n=2) not in found.attacks[0].sizes


def test_few_points_accept_nothing_and_offer_no_constant(true):
    short = replace(
        true, adversary=Adversary((replace(true.adversary.outcomes[0], evaluations=99),), {})
    )
    assert short.decision == "no major objection found in 99 points"
    assert replace(short, recommendations=()).decision == "no objection found in 99 points"
    assert replace(true, recommendations=()).decision == "accept"
    (constant,) = true.sharpness.constants
    assert constant.offered and not replace(constant, points=99).offered


def test_sides_that_are_equal_are_said_to_be():
    bound = at_most("sum", lambda r: r.x.b, lambda r: 2.0 * r.x.b**0, strict=True)
    theorem = statement(bound)
    readings = verify_readings(theorem, 0)
    (one,) = attack(theorem, readings, 0, AMPLE).refuted
    said = violation(readings.primary.claims[0], one)
    assert said == "both sides are 2, as enclosures prove; the left must be below the right"


def test_whether_a_simulation_uses_its_key():
    bound = at_most("sum", lambda r: r.sim, lambda r: 9.0)
    plain = statement(bound)
    noisy = statement(bound, simulate=lambda x, key: jax.jit(jax.random.uniform)(key) * x.a)
    idle = statement(bound, simulate=lambda x, key: x.a + 0 * len(jax.random.split(key)))
    found = [uses_key(each, each.primary()) for each in (plain, noisy, idle)]
    assert found == [False, True, False]


def test_a_statement_that_fails_on_a_ten_thousandth_of_its_space_is_a_major_finding():
    def rare(r):
        return jnp.where(jnp.abs(r.x.b - 0.7) < 1e-4, 3.0, r.x.b)

    found = review(statement(at_most("bump", rare, lambda r: 2.5)), seconds=AMPLE)
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
    found = review(few, seconds=AMPLE)
    assert found.readings.primary.verdict is Verdict.HOLDS
    assert [one.claim for one in found.adversary.refuted] == ["corner"]
    assert found.verdict is Verdict.VIOLATED and found.decision == "major revision"
    assert not found.sharpness.constants


def test_hypotheses_that_nothing_meets_are_a_major_finding():
    bound = at_most("sum", lambda r: r.sim, lambda r: 4 * r.theory)
    found = review(statement(bound, hypotheses={"never": lambda x: -3 - x.a}), seconds=AMPLE)
    assert (found.verdict, found.exit_code) == (Verdict.VACUOUS, 4)
    assert found.recommendations[0].weight is Weight.MAJOR
    assert "none of" in found.recommendations[0].text


def test_a_print_that_fails_is_named_beside_its_correction():
    twice = at_most("sum", lambda r: r.sim, lambda r: 2 * r.theory)
    once = at_most("sum", lambda r: r.sim, lambda r: r.theory)
    found = review(
        statement(once, readings=(corrected("the factor 2", claims=(twice,)),)), seconds=AMPLE
    )
    assert found.verdict is Verdict.HOLDS
    assert found.decision == "major revision"
    assert found.sentence.startswith("Lemma 1: violated (1 of 1 claim). Corrected: holds")


def test_a_claim_that_refutes_no_planted_error_is_named_unless_a_reason_is_given():
    bounds = (at_most(name, lambda r: r.sim, lambda r: 2 * r.theory) for name in ("sum", "other"))
    harmless = Mutant("larger", predict=lambda x: 3 * jnp.maximum(x.a, x.b))
    theorem = statement(*bounds, mutants=(harmless,), survivors={"other": "for a reason"})
    (said,) = (
        one.text for one in review(theorem, seconds=AMPLE).recommendations if "planted" in one.text
    )
    assert "No planted error is refuted by “sum”" in said and "other" not in said


def test_what_is_not_printed_is_verified_only():
    bound = at_most("sum", lambda r: r.sim, lambda r: 4 * r.theory)
    other = Reading("ours", Finding("something else"))
    found = review(statement(bound, readings=(other,)), seconds=AMPLE)
    assert {one.reading for one in found.adversary.outcomes} == {"as printed"}
    assert any("ours" in gap.sentence for gap in found.unchecked.gaps if gap.about == "readings")


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_seconds_are_positive(seconds):
    with pytest.raises(UsageError, match="expected a positive number"):
        review(statement(at_most("sum", lambda r: r.sim, lambda r: 9.0)), seconds=seconds)
