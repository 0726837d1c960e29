"""The adversary finds what is false, shrinks it, and claims nothing about what it does not find."""

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.engine.statements import BUDGET, attack, theorem
from theorysim.claims import (
    Corrected,
    Reading,
    Real,
    SizeError,
    Space,
    UsageError,
    Verdict,
    at_most,
    exists_constant,
    scales_as,
    with_probability,
)
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.measure.errors import simulation_keys
from theorysim.engine.verify.verify import verify


def product_at_most(bound):
    return theorem(at_most("product", lambda r: r.sim["a"] * r.x.b, lambda r: bound))


def test_a_violation_in_a_corner_is_found_shrunk_and_confirmed():
    found = attack(product_at_most(3.9))
    assert found.refuted
    assert found.instance["values"] == {"a": 2.0, "b": 2.0}
    assert found.slack < -found.error
    replay = verify(product_at_most(3.9), instance=found.instance)
    assert replay.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("second", "simplest"),
    [
        thorough(lambda b: b, 1.0),
        (lambda b: (b - 1) / (b - 1), 2.0),
        thorough(lambda b: b * jnp.nan, 1.0),
    ],
)
def test_no_point_of_a_counterexample_loses_its_number_as_it_is_shrunk(second, simplest):
    """a + b > 1.5 everywhere; b = 1 is simplest, but 0 / 0 beside it is no number."""
    sides = at_most("path", lambda r: jnp.stack([r.x.a + r.x.b, second(r.x.b)]), lambda r: 1.5)
    found = attack(theorem(sides, space=Space(a=Real(1, 2), b=Real(0.6, 2.4))))
    assert found.refuted
    assert found.instance["values"] == {"a": 1.0, "b": simplest}


def test_a_true_bound_survives_with_its_tightness():
    found = attack(product_at_most(4.0))
    assert not found.refuted
    assert found.ratio == pytest.approx(1.0)
    assert found.ratio_instance["values"] == {"a": 2.0, "b": 2.0}
    assert found.evaluations == found.runs == BUDGET


def test_hypotheses_bind_the_adversary():
    allowed = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 1.5),
        hypotheses={"a at most 1.5": lambda x: 1.5 - x.a},
    )
    assert not attack(allowed).refuted
    impossible = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 0.5),
        hypotheses={"a above three": lambda x: x.a - 3},
    )
    found = attack(impossible, budget=1000)
    assert not found.refuted
    assert found.note == "no feasible point was found"


def test_what_is_fixed_stays_fixed():
    found = attack(product_at_most(2.9), settings={"b": 1.5})
    assert found.refuted
    assert found.instance["values"]["b"] == 1.5


def test_statistical_claims_are_drawn_anew():
    often = with_probability("event", lambda r: r.sim["u"], lambda r: 0.5, at_least=lambda r: 0.9)
    simulate = {"simulate": lambda x, key: {"u": jax.random.uniform(key)}, "keys": 128}
    assert attack(theorem(often, **simulate), budget=2000).refuted
    power = scales_as(
        "power", lambda r: r.x.b**2 + 0 * r.theory["a"], over={"b": (1, 1.5, 2)}, exponent=1.0
    )
    assert attack(theorem(power), budget=500).refuted


def test_nothing_climbs_for_a_claim_without_a_ladder(monkeypatch):
    """Each is drawn as often as its own instances fit into the budget."""
    often = with_probability("event", lambda r: r.sim["u"], lambda r: 0.5, at_least=lambda r: 0.4)
    growth = scales_as("growth", lambda r: r.x.b, over={"b": (1, 1.5, 2)}, exponent=1.0)
    statement = theorem(
        often, growth, simulate=lambda x, key: {"u": jax.random.uniform(key)}, keys=128, instances=4
    )
    asked = []

    def counted(*arguments, **options):
        asked.append(tuple(options["claims"]))
        return verify(*arguments, **options)

    monkeypatch.setattr("theorysim.engine.falsify.resample.verify", counted)
    runs = {a.claim: a.runs for a in falsify(statement, budget=3 * 3 * 4 * 128).attacks}
    assert asked == 9 * [("event",)] + 3 * [("growth",)]
    assert runs == {"event": 9 * 4 * 128, "growth": 3 * 3 * 4 * 128}


def test_a_false_alarm_among_many_draws_is_no_refutation(monkeypatch):
    """The first verdict is made a violation; it does not come back."""
    power = scales_as(
        "power", lambda r: r.x.b * r.theory["a"], over={"b": (1, 1.5, 2)}, exponent=1.0
    )
    calls = []

    def alarmed(*arguments, **options):
        report = verify(*arguments, **options)
        calls.append(options)
        if len(calls) > 1:
            return report
        reading = report.readings[0]
        claim = replace(reading.claims[0], verdict=Verdict.VIOLATED)
        return replace(report, readings=(replace(reading, claims=(claim,)),))

    monkeypatch.setattr("theorysim.engine.falsify.resample.verify", alarmed)
    assert not attack(theorem(power), budget=1000).refuted
    assert len(calls) > 1


def test_equal_seeds_give_equal_reports_that_are_json():
    one, two = (falsify(product_at_most(3.9), budget=1000, seed=5).as_json() for _ in range(2))
    assert one == two
    assert json.loads(json.dumps(one, allow_nan=False)) == one


def test_only_what_is_asked_for_is_attacked():
    statement = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 3.0),
        at_most("b", lambda r: r.x.b, lambda r: 3.0),
    )
    assert [a.claim for a in falsify(statement, claim="b", budget=100).attacks] == ["b"]
    assert [a.claim for a in falsify(statement, claim=("b", "a"), budget=100).attacks] == ["a", "b"]
    with pytest.raises(UsageError, match="no claim 'c'"):
        falsify(statement, claim="c")
    with pytest.raises(UsageError, match="no reading 'r'"):
        falsify(statement, reading="r")
    for none in (0, 2.5, float("inf"), True, "5", None):
        with pytest.raises(UsageError, match=f"budget {none!r}: expected an integer"):
            falsify(statement, budget=none)
    counted = falsify(statement, claim="b", budget=np.int64(100))
    assert json.loads(json.dumps(counted.as_json()))["budget"] == 100


@pytest.mark.parametrize("way", ["searched", "resampled"])
def test_a_budget_beyond_memory_is_refused_before_anything_is_tried(way, monkeypatch):
    often = with_probability("event", lambda r: r.sim["a"], lambda r: 3.0, at_least=lambda r: 0.5)
    statement = product_at_most(3.9) if way == "searched" else theorem(often, keys=64)
    monkeypatch.setattr("theorysim.engine.falsify.falsify._attacks", None)
    with pytest.raises(SizeError, match=r"a budget of 10{20} points .* ask for a smaller one"):
        falsify(statement, budget=10**20)


def test_a_budget_is_held_as_points_keys_and_numbers_of_its_plain_draws(monkeypatch):
    """A quarter of 400: two coordinates and a key, in four copies, one of them a name."""
    statement = product_at_most(3.9)
    needed = 100 * (4 * 8 * (2 + 1) + 2 * 8 * 2 + 160)
    monkeypatch.setattr("theorysim.memory.machine_bytes", lambda: needed - 1)
    with pytest.raises(SizeError, match="a budget of 400 points"):
        falsify(statement, budget=400)
    monkeypatch.setattr("theorysim.memory.machine_bytes", lambda: needed)
    assert falsify(statement, budget=400, claim="product").theorem == statement.id


def test_no_reading_is_attacked_where_memory_cannot_hold_the_budget_of_another(monkeypatch):
    """The second one has ten claims."""
    more = tuple(at_most(f"claim {i}", lambda r: r.sim["a"], lambda r: 3.0) for i in range(10))
    one, other = (
        Reading(name, Corrected(""), claims=claims)
        for name, claims in (("one", more[:1]), ("other", more))
    )
    statement = theorem(more[0], readings=(one, replace(other, primary=True)))
    monkeypatch.setattr("theorysim.engine.falsify.falsify._attacks", None)
    monkeypatch.setattr("theorysim.memory.machine_bytes", lambda: 1000 * 600)
    with pytest.raises(SizeError, match="a budget of 4000 points"):
        falsify(statement, budget=4000)


def printed_and_corrected(bound):
    """a <= 1, which is false, and a primary reading with another bound."""
    claims = (at_most("a", lambda r: r.sim["a"], lambda r: bound),)
    return theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 1.0),
        readings=(Reading("corrected", Corrected(""), claims=claims, primary=True),),
    )


def test_the_exit_code_is_that_of_the_primary_reading():
    statement = printed_and_corrected(2.0)
    report = falsify(statement, budget=1000)
    assert [a.refuted for a in report.attacks] == [True, False]
    assert report.exit_code == 0
    assert falsify(statement, reading="as printed", budget=1000).exit_code == 3
    assert np.isfinite(report.attacks[0].lhs)


@pytest.mark.parametrize(("power", "refuted"), [(0.0, False), (1.0, True)])
def test_a_constant_that_grows_along_a_ladder_is_refuted(power, refuted):
    """Otherwise the largest constant of the space is reported."""
    statement = theorem(
        exists_constant(
            "constant",
            lambda r: r.sim["a"] * jnp.asarray(r.x.n, float) ** power,
            lambda r: 1.0,
            over={"n": (4, 16, 64)},
        )
    )
    found = attack(statement, budget=2000)
    assert found.refuted is refuted
    if not refuted:
        assert found.ratio == pytest.approx(2.0)


def test_what_depends_on_the_key_is_found_and_replayed_under_the_same_key():
    """u(key) <= 0.9 a fails for few keys, at a = 1; it holds for all where the bound is a."""

    def statement(share):
        return theorem(
            at_most("u", lambda r: r.sim, lambda r: share * r.x.a),
            simulate=lambda x, key: jax.random.uniform(key),
            predict=lambda x: 0.0,
        )

    found = attack(statement(0.9))
    assert found.refuted
    with jax.enable_x64(True):
        key = jax.random.wrap_key_data(jnp.asarray(found.instance["key"], jnp.uint32))
        drawn = float(jax.random.uniform(simulation_keys(key, 1)[0]))
    assert found.lhs == drawn > 0.9 * found.instance["values"]["a"]
    assert not attack(statement(1.0)).refuted


def test_no_instance_is_no_survival():
    impossible = {"hypotheses": {"never": lambda x: x.a - 3}}
    searched = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0), **impossible)
    report = falsify(searched, budget=100)
    assert report.attacks[0].evaluations == 0
    assert report.exit_code == 4
    often = with_probability("a", lambda r: r.sim["a"], lambda r: 3.0, at_least=lambda r: 0.5)
    drawn = falsify(theorem(often, keys=64, **impossible), budget=10_000)
    assert drawn.attacks[0].evaluations == drawn.attacks[0].runs == 0
    assert drawn.exit_code == 4


@pytest.mark.thorough
def test_the_counterexample_that_is_kept_is_the_primary_readings():
    report = falsify(printed_and_corrected(1.5), budget=BUDGET)
    assert [attack.refuted for attack in report.attacks] == [True, True]
    assert report.counterexample() is report.attacks[1]
    assert falsify(product_at_most(4.0), budget=100).counterexample() is None


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_that_no_generator_takes_is_refused(seed):
    with pytest.raises(UsageError, match="seed"):
        falsify(product_at_most(4.0), budget=10, seed=seed)
    with pytest.raises(UsageError, match="seed"):
        verify(product_at_most(4.0), seed=seed)
