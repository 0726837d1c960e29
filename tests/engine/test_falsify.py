"""The adversary finds what is false, shrinks it, and claims nothing about what it does not find."""

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.statements import theorem
from theorysim.claims import (
    Gaussian,
    Integer,
    Reading,
    Real,
    Size,
    Space,
    UsageError,
    Verdict,
    at_least,
    at_most,
    equal,
    exists_constant,
    scales_as,
    with_probability,
)
from theorysim.engine.confirm import Confirmation
from theorysim.engine.draw import Settings
from theorysim.engine.falsify import falsify
from theorysim.engine.measure import simulation_keys
from theorysim.engine.scores import Scored
from theorysim.engine.verify import verify

BUDGET = 6000


def attack(statement, **options):
    (found,) = falsify(statement, budget=BUDGET, **options).attacks
    return found


def product_at_most(bound):
    return theorem(at_most("product", lambda r: r.sim["a"] * r.x.b, lambda r: bound))


def test_a_violation_in_a_corner_is_found_shrunk_and_confirmed():
    found = attack(product_at_most(3.9))
    assert found.refuted
    assert found.instance["values"] == {"a": 2.0, "b": 2.0}
    assert found.slack < -found.error
    replay = verify(product_at_most(3.9), instance=found.instance)
    assert replay.verdict is Verdict.VIOLATED


def test_a_true_bound_survives_with_its_tightness():
    found = attack(product_at_most(4.0))
    assert not found.refuted
    assert found.ratio == pytest.approx(1.0)
    assert found.ratio_instance["values"] == {"a": 2.0, "b": 2.0}
    assert found.evaluations == found.runs == BUDGET


def test_a_narrow_violation_inside_is_found_by_refinement():
    """A bump of width 1e-3 beside its top: a share of 2e-3 of the interval."""

    def bump(r):
        return jnp.exp(-(((r.sim["a"] - 1.2345) / 1e-3) ** 2))

    found = attack(theorem(at_most("bump", bump, lambda r: 0.999)))
    assert found.refuted
    assert abs(found.instance["values"]["a"] - 1.2345) < 1e-3


def test_equal_sides_hide_no_narrow_violation():
    """Neither where a path starts equal at every instance, nor where both sides are zero."""

    def bump(r):
        return jnp.exp(-(((r.sim["a"] - 1.2345) / 2e-4) ** 2))

    def beside(r, value):
        return jnp.stack([r.sim["a"], value + 0 * r.sim["a"]])

    path = at_most("path", lambda r: beside(r, bump(r)), lambda r: beside(r, 0.999))
    found = attack(theorem(path))
    assert found.refuted
    assert abs(found.instance["values"]["a"] - 1.2345) < 2e-4

    def flat(x, key):
        others = jnp.stack([x.c, x.d, x.e, x.f])
        return {"a": x.a, "flat": jnp.prod(others * (1 - others))}

    product = at_most("product", lambda r: r.sim["flat"] * bump(r), lambda r: 0.999 * r.sim["flat"])
    space = Space(n=Size(4), a=Real(1, 2), **{name: Real(0, 1) for name in "cdef"})
    found = attack(theorem(product, space=space, simulate=flat))
    assert found.refuted
    assert abs(found.instance["values"]["a"] - 1.2345) < 2e-4


def test_the_largest_ratio_is_kept_where_equal_sides_are_passed_over():
    """Equal at the corner alone, where the other entry is farther away than anywhere."""
    either = at_most(
        "either",
        lambda r: jnp.stack([r.sim["a"] * r.sim["b"], r.sim["a"]]),
        lambda r: jnp.stack([4.0 + 0 * r.sim["a"], 4 * r.sim["a"] ** 2]),
    )
    found = attack(theorem(either, simulate=lambda x, key: {"a": x.a, "b": x.b}))
    assert found.ratio == 1.0
    assert found.ratio_instance["values"] == {"a": 2.0, "b": 2.0}


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
    found = attack(impossible)
    assert not found.refuted
    assert found.note == "no feasible point was found"


def test_rounding_is_no_counterexample():
    """The same sum in two orders: unequal in the last digits, equal within the error."""

    def total(terms):
        return jax.lax.scan(lambda s, t: (s + t, None), 0 * terms[0], terms)[0]

    def terms(x):
        return x.a / jnp.arange(1, 301, dtype=x.a.dtype)

    statement = theorem(
        equal("sum", lambda r: r.sim, lambda r: r.theory),
        simulate=lambda x, key: total(terms(x)),
        predict=lambda x: total(terms(x)[::-1]),
        wrong=Reading("wrong", predict=lambda x: 2 * total(terms(x))),
    )
    assert not attack(statement).refuted


def test_a_small_addend_that_a_sum_absorbs_is_no_counterexample():
    """(b + w) - b <= w is true and errs by up to 1e-16, however b and w are jittered by ulps."""
    statement = theorem(
        at_most("w", lambda r: r.sim, lambda r: r.theory),
        simulate=lambda x, key: (x.b + 1e-9 * x.a) - x.b,
        predict=lambda x: 1e-9 * x.a,
        wrong=Reading("wrong", predict=lambda x: 0.5e-9 * x.a),
    )
    tried = np.linspace(1, 2, 101)
    worst = float(tried[np.argmax((1.5 + 1e-9 * tried) - 1.5 - 1e-9 * tried)])
    replay = verify(statement, instance={"values": {"a": worst, "b": 1.5}})
    assert replay.verdict is Verdict.VIOLATED  # the measured rounding alone misses it
    found = attack(statement)
    assert not found.refuted
    assert "vanish a little beside" in found.note


def noisy_mean(space, sample, mean, **options):
    """The average of a sample over 64 keys equals `mean`."""
    return theorem(
        equal("mean", lambda r: r.mean(r.sim), lambda r: r.theory),
        simulate=sample,
        predict=mean,
        wrong=Reading("wrong", predict=lambda x: 2 + mean(x)),
        space=space,
        keys=64,
        **options,
    )


def test_noise_hides_no_violation():
    """Two per cent too much: seen where the noise is small, not where an average misses most."""
    statement = noisy_mean(
        Space(a=Real(1, 2), noise=Real(1e-3, 10, log=True)),
        lambda x, key: x.a * (1 + x.noise * jax.random.normal(key)),
        lambda x: 1.02 * x.a,
    )
    found = attack(statement)
    assert found.refuted
    assert found.instance["values"]["noise"] < 0.1


def test_an_average_must_miss_with_fresh_keys():
    """Thousands of points are measured: with the unluckiest key of many a true claim falls."""
    statement = noisy_mean(
        Space(a=Real(1, 2)), lambda x, key: x.a * (1 + jax.random.normal(key)), lambda x: x.a
    )

    def deviation(seed):
        noise = jax.vmap(jax.random.normal)(simulation_keys(jax.random.key(seed), 64))
        return jnp.abs(jnp.mean(noise)) / jnp.std(noise)

    with jax.enable_x64(True):
        seed = int(jnp.argmax(jax.vmap(deviation)(jnp.arange(200_000))))
        replay = verify(statement, instance={"values": {"a": 1.5}, "key": [0, seed]})
        assert replay.verdict is Verdict.VIOLATED
        reading = statement.primary()
        suspect = Scored(np.array([[0.5]]), np.ones(1), np.zeros(1))
        confirmation = Confirmation(statement, reading, Settings({}, {}), seed)
        assert not confirmation.confirmed({reading.claims[0]: suspect})


def test_nan_is_no_counterexample():
    def undefined(r):
        return jnp.where(r.sim["a"] > 1.5, jnp.nan, 0.0)

    found = attack(theorem(at_most("a", undefined, lambda r: 1.0)))
    assert not found.refuted
    assert 0 < found.evaluations < BUDGET


def test_sizes_are_searched_smallest_first():
    statement = theorem(
        at_least("n", lambda r: r.x.b, lambda r: 1.5 + 0 * r.sim["v"][..., 0]),
        simulate=lambda x, key: {"v": x.v},
        predict=lambda x: {},
        wrong=Reading("wrong"),
        space=Space(n=Size(64), v=Gaussian("n"), b=Real(1, 2), k=Integer(1, "n")),
    )
    found = attack(statement)
    assert found.refuted
    assert found.instance["sizes"] == {"n": 2}
    assert found.instance["values"]["b"] == 1.0
    assert found.instance["values"]["v"] == [0.0, 0.0]


def test_gradient_ascent_climbs_where_chance_cannot():
    """A sum of forty coordinates near its corner: random points lie eleven deviations below."""
    space = Space(n=Size(40), v=Real(0, 1, shape="n"))
    statement = theorem(
        at_most("sum", lambda r: jnp.sum(r.sim["v"], axis=-1), lambda r: 0.995 * r.x.n),
        simulate=lambda x, key: {"v": jnp.sin(jnp.pi / 2 * x.v)},
        predict=lambda x: {},
        wrong=Reading("wrong"),
        space=space,
    )
    assert attack(statement, settings={"n": 40}).refuted


def test_what_is_fixed_stays_fixed():
    found = attack(product_at_most(2.9), settings={"b": 1.5})
    assert found.refuted
    assert found.instance["values"]["b"] == 1.5


def test_statistical_claims_are_drawn_anew():
    often = with_probability("event", lambda r: r.sim["u"], lambda r: 0.5, at_least=lambda r: 0.9)
    simulate = {"simulate": lambda x, key: {"u": jax.random.uniform(key)}, "keys": 128}
    assert attack(theorem(often, **simulate)).refuted
    power = scales_as(
        "power", lambda r: r.x.b**2 + 0 * r.theory["a"], over="b", rungs=(1, 1.5, 2), exponent=1.0
    )
    assert attack(theorem(power)).refuted


def test_nothing_climbs_for_a_claim_without_a_ladder(monkeypatch):
    """Each is drawn as often as its own instances fit into the budget."""
    often = with_probability("event", lambda r: r.sim["u"], lambda r: 0.5, at_least=lambda r: 0.4)
    growth = scales_as("growth", lambda r: r.x.b, over="b", rungs=(1, 1.5, 2), exponent=1.0)
    statement = theorem(
        often, growth, simulate=lambda x, key: {"u": jax.random.uniform(key)}, keys=128, instances=4
    )
    asked = []

    def counted(*arguments, **options):
        asked.append(tuple(options["claims"]))
        return verify(*arguments, **options)

    monkeypatch.setattr("theorysim.engine.redraw.verify", counted)
    runs = {a.claim: a.runs for a in falsify(statement, budget=3 * 3 * 4 * 128).attacks}
    assert asked == 9 * [("event",)] + 3 * [("growth",)]
    assert runs == {"event": 9 * 4 * 128, "growth": 3 * 3 * 4 * 128}


def test_a_false_alarm_among_many_draws_is_no_refutation(monkeypatch):
    """The first verdict is made a violation; it does not come back."""
    power = scales_as(
        "power", lambda r: r.x.b * r.theory["a"], over="b", rungs=(1, 1.5, 2), exponent=1.0
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

    monkeypatch.setattr("theorysim.engine.redraw.verify", alarmed)
    assert not attack(theorem(power)).refuted
    assert len(calls) > 1


def test_equal_seeds_give_equal_reports_that_are_json():
    one, two = (falsify(product_at_most(3.9), budget=BUDGET, seed=5).as_json() for _ in range(2))
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
    with pytest.raises(UsageError, match="budget 0"):
        falsify(statement, budget=0)


def printed_and_corrected(bound):
    """a <= 1, which is false, and a primary reading with another bound."""
    claims = (at_most("a", lambda r: r.sim["a"], lambda r: bound),)
    return theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 1.0),
        readings=(Reading("corrected", claims=claims, primary=True),),
    )


def test_the_exit_code_is_that_of_the_primary_reading():
    statement = printed_and_corrected(2.0)
    report = falsify(statement, budget=BUDGET)
    assert [a.refuted for a in report.attacks] == [True, False]
    assert report.exit_code == 0
    assert falsify(statement, reading="as printed", budget=BUDGET).exit_code == 3
    assert np.isfinite(report.attacks[0].lhs)


@pytest.mark.parametrize(("power", "refuted"), [(0.0, False), (1.0, True)])
def test_a_constant_that_grows_along_a_ladder_is_refuted(power, refuted):
    """Otherwise the largest constant of the space is reported."""
    statement = theorem(
        exists_constant(
            "constant",
            lambda r: r.sim["a"] * jnp.asarray(r.x.n, float) ** power,
            lambda r: 1.0,
            over={"n": (4, 16, 64, 256)},
        )
    )
    found = attack(statement)
    assert found.refuted is refuted
    if not refuted:
        assert found.ratio == pytest.approx(2.0)


def test_a_point_without_a_number_hides_no_other():
    """The claim has two points per instance; the first is nowhere defined."""

    def both(r):
        a = r.sim["a"]
        return jnp.stack([jnp.full_like(a, jnp.nan), a], axis=-1)

    found = attack(theorem(at_most("a", both, lambda r: 1.5)))
    assert found.refuted
    assert found.instance["values"]["a"] == 2.0
    survivor = attack(theorem(at_most("a", both, lambda r: 2.5)))
    assert survivor.ratio == pytest.approx(2.0 / 2.5)


def test_what_depends_on_the_key_is_found_and_replayed_under_the_same_key():
    """u(key) <= 1/2 fails or holds with the one key of the search."""
    statement = theorem(
        at_most("u", lambda r: r.sim, lambda r: 0.5 * r.x.a),
        simulate=lambda x, key: x.a * jax.random.uniform(key),
        predict=lambda x: 0.0,
    )

    def drawn(seed):
        return float(jax.random.uniform(simulation_keys(jax.random.key(seed), 1)[0]))

    with jax.enable_x64(True):
        violating = next(seed for seed in range(100) if drawn(seed) > 0.6)
        fine = next(seed for seed in range(100) if drawn(seed) < 0.4)
        share = drawn(fine) / 0.5
    assert falsify(statement, budget=200, seed=violating).attacks[0].refuted
    (survivor,) = falsify(statement, budget=200, seed=fine).attacks
    assert not survivor.refuted
    assert survivor.ratio == pytest.approx(share)


def test_a_small_budget_leaves_points_for_the_interior():
    """Six fields have 729 corners and middles; half of the budget is for other points."""
    fields = {f"f{i}": Real(0, 1) for i in range(6)}

    def inside(r):
        values = jnp.stack([r.x.values[name] for name in fields])
        return jnp.max(jnp.abs(values - 0.25)) + 0 * r.sim["a"]

    statement = theorem(
        at_least("off the middle", inside, lambda r: 0.24),
        space=Space(a=Real(1, 2), **fields),
    )
    assert attack(statement, settings={"f5": 0.25, "f4": 0.25, "f3": 0.25}).refuted
    spent = falsify(statement, budget=300).attacks[0].evaluations
    assert spent <= 300


def test_no_instance_is_no_survival():
    impossible = {"hypotheses": {"never": lambda x: x.a - 3}}
    searched = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0), **impossible)
    report = falsify(searched, budget=100)
    assert report.attacks[0].evaluations == 0
    assert report.exit_code == 4
    often = with_probability("a", lambda r: r.sim["a"], lambda r: 3.0, at_least=lambda r: 0.5)
    drawn = falsify(theorem(often, keys=64, **impossible), budget=100_000)
    assert drawn.attacks[0].evaluations == drawn.attacks[0].runs == 0
    assert drawn.exit_code == 4


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
