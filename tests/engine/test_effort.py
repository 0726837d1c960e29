"""As many draws as are affordable: counted, not timed; and what they exclude."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim import verify
from theorysim.claims import (
    Finding,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    at_most,
    scales_as,
    strict,
)
from theorysim.engine.measure import batch, draw, effort
from theorysim.engine.measure.sample import draw_sample
from theorysim.engine.measure.setup import Setup, parse_settings
from theorysim.engine.verify.judge import measured_draws
from theorysim.engine.verify.report import Report
from theorysim.jaxprs.cost import LOOP_STEPS, operations

SPACE = Space(x=Real(0, 1))


def statement(limit: float = 2.0, **parts) -> Theorem:
    """The uniform number x is at most so much."""
    claim = at_most("bound", lambda r: r.sim, lambda r: limit)
    return Theorem(**{"space": SPACE, "simulate": lambda x, key: x.x, "claims": (claim,)} | parts)


def bound(report: Report):
    return report.readings[0].claims[0]


@pytest.mark.parametrize("seed", [0, thorough(1), thorough(2)])
def test_what_is_violated_on_a_twentieth_of_the_draws_is_violated(seed):
    found = bound(verify(statement(0.95), seed=seed))
    assert found.verdict == "violated"
    assert found.worst_instance["values"]["x"] > 0.95


def test_a_violation_is_found_on_one_draw_in_ten_thousand():
    assert verify(statement(0.9999)).verdict == "violated"
    assert verify(statement(0.9999), instances=64).verdict == "holds"


def test_cheap_statements_get_tens_of_thousands_of_draws_and_say_what_they_exclude():
    found = bound(verify(statement()))
    assert found.draws >= 10_000
    assert found.draws == found.checked == found.resolved
    assert (1 - found.excluded) ** found.draws == pytest.approx(0.05)


def test_the_share_that_is_excluded_is_the_rule_of_three():
    report = verify(statement(), instances=64)
    assert bound(report).draws == 64
    assert bound(report).excluded == pytest.approx(1 - 0.05 ** (1 / 64))
    assert report.as_json()["readings"][0]["claims"][0]["excluded"] == bound(report).excluded
    assert next(iter(report.rows()))["excluded"] == bound(report).excluded


def test_only_resolved_draws_exclude_anything():
    """Where x < 1/4 the sides differ by less than their rounding errors."""
    apart = lambda r: jnp.where(r.x.x > 0.25, 1.0, 0.0)  # noqa: E731
    claim = at_most("close", lambda r: r.sim, lambda r: r.sim + apart(r), strict=True)
    found = bound(verify(statement(claims=(claim,)), instances=1000))
    assert found.resolved == pytest.approx(750, abs=60)
    assert found.excluded == pytest.approx(1 - 0.05 ** (1 / found.resolved))


def test_violated_claims_given_instances_and_laws_exclude_no_share():
    assert math.isnan(bound(verify(statement(0.5))).excluded)
    report = verify(statement(), instance={"sizes": {}, "values": {"x": 0.5}})
    assert bound(report).draws == 0
    assert math.isnan(bound(report).excluded)
    assert report.as_json()["readings"][0]["claims"][0]["excluded"] is None


def test_the_number_of_draws_does_not_depend_on_the_time_they_take(monkeypatch):
    def slow(*arguments, draw_all=draw.draw):
        import time

        time.sleep(0.2)
        return draw_all(*arguments)

    first = verify(statement())
    monkeypatch.setattr("theorysim.engine.measure.sample.draw", slow)
    assert verify(statement()).as_json() == first.as_json()


def test_costly_statements_keep_their_own_number():
    def descend(x, key):
        step = lambda w, _: (w - 0.1 * jnp.tanh(w), None)  # noqa: E731
        return jax.lax.scan(step, x.x * jnp.ones(300), length=10_000)[0]

    assert bound(verify(statement(simulate=descend, instances=3))).draws == 3


def test_what_satisfies_rarely_is_looked_for_among_the_affordable_draws():
    report = verify(statement(0.9999, hypotheses={"large": strict(lambda x: x.x - 0.99)}))
    assert report.verdict == "violated"
    reading = report.readings[0]
    assert reading.satisfying / reading.drawn == pytest.approx(0.01, rel=0.2)


def test_claims_that_many_draws_decide_keep_their_own_number():
    """A ladder is climbed on the 16 first draws only, beside a claim that all are tried on."""
    claims = (
        at_most("bound", lambda r: r.sim, lambda r: 2.0),
        scales_as("linear", lambda r: r.sim, exponent=1, over={"x": (0.1, 0.2, 0.4, 0.8)}),
    )
    pointwise, law = verify(statement(claims=claims, instances=16)).readings[0].claims
    assert (law.verdict, law.draws) == ("holds", 16)
    assert pointwise.draws >= 10_000
    assert math.isnan(law.excluded)


def test_averages_over_keys_keep_their_own_number():
    claim = at_most("mean", lambda r: r.mean(r.sim), lambda r: 2.0)
    assert bound(verify(statement(claims=(claim,), keys=128, instances=8))).draws == 8


def test_the_instances_of_a_seed_do_not_depend_on_how_many_are_drawn():
    few, many = (
        verify(statement(0.5, claims=(at_most("x", lambda r: r.sim, lambda r: 0 * r.x.x),)), **n)
        for n in ({"instances": 64}, {})
    )
    np.testing.assert_array_equal(bound(many).scatter["lhs"][:64], bound(few).scatter["lhs"])


def test_no_second_program_is_compiled_and_nothing_is_traced_twice():
    traced = []

    def simulate(x, key):
        traced.append(1)
        return x.x

    verify(statement(simulate=simulate, instances=5), instances=5)
    once = len(traced)
    traced.clear()
    verify(statement(simulate=lambda x, key: simulate(x, key)))
    assert len(traced) == once


# The model of costs


def cost(function, *shapes) -> float:
    arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return operations(jax.make_jaxpr(function)(*arguments).jaxpr)


def test_operations_are_counted_by_results_and_loops_by_length():
    assert cost(lambda a: a + 1, (7,)) == 7
    assert cost(lambda a, b: a @ b, (3, 4), (4, 5)) == 2 * 3 * 4 * 5
    assert cost(jnp.sum, (3, 4)) == 12
    double = lambda c, _: (c + c, None)  # noqa: E731
    assert cost(lambda a: jax.lax.scan(double, a, length=10)[0], (6,)) == 60
    assert cost(lambda a: jax.lax.while_loop(lambda c: True, lambda c: c + c, a), ()) == LOOP_STEPS
    assert cost(jax.jit(lambda a: a * a), (8,)) == 8
    assert cost(jnp.linalg.eigvalsh, (20, 20)) > 20**3


def test_what_a_batch_computes_once_is_free():
    assert cost(lambda a: a + jnp.sum(jnp.sin(jnp.arange(1000.0))), ()) == 1


def test_bytes_bound_the_draws():
    wide = statement(simulate=lambda x, key: x.x * jnp.ones(100_000))
    with jax.enable_x64(True):
        setup = Setup(wide, wide.all_readings(), parse_settings(wide, {}))
        draws = effort.affordable_draws(setup, measured_draws(setup))
    assert draws * 100_000 * 8 < effort.BYTES_HELD


# Runs of different length


def halved(x, key):
    """How often x, a thousandth of it at most, fits into 1."""
    more, step = lambda s: s[0] > x.x / 1000, lambda s: (s[0] * 0.9, s[1] + 1)
    return jax.lax.while_loop(more, step, (1.0, 0))


def test_runs_of_different_length_go_side_by_side_in_few_with_the_same_bits(monkeypatch):
    moving = statement(simulate=lambda x, key: jnp.sin(1.0 * halved(x, key)[1]) * x.x)
    with jax.enable_x64(True):
        setup = Setup(moving, moving.all_readings(), parse_settings(moving, {}))
        sample = draw_sample(setup, 100)
        assert batch.measurement_cost(setup).waits
        few = batch.measure_all(setup, sample.instances, sample.keys)
        monkeypatch.setattr("theorysim.jaxprs.waiting.LOOPS_AT_ONCE", 100)
        all_at_once = batch.measure_all(setup, sample.instances, sample.keys)
    for part, same in zip(*map(jax.tree.leaves, (few, all_at_once)), strict=True):
        np.testing.assert_array_equal(part, same)


def test_what_an_instance_costs_is_counted_once_in_each_precision(monkeypatch):
    """A search asks for it thousands of times, and a trace takes longer than the measuring."""
    counted = []
    trace = batch._traced
    monkeypatch.setattr(batch, "_traced", lambda *of: counted.append(of) or trace(*of))
    summed = statement(simulate=lambda x, key: jnp.sum(x.x * jnp.ones(100)))
    setup = Setup(summed, summed.all_readings(), parse_settings(summed, {}))
    with jax.enable_x64(True):
        double = batch.measurement_cost(setup)
        sample = draw_sample(setup, 8)
        for _ in range(3):
            batch.measure_all(setup, sample.instances, sample.keys)
        assert batch.measurement_cost(setup) == double
    assert len(counted) == 1
    single = batch.measurement_cost(setup)
    assert len(counted) == 2
    assert 2 * single.largest == double.largest


def test_what_is_counted_once_is_that_of_precision_readings_and_sizes():
    """A reading's own runs, and a size, take more; memory and looks for overflow rest on it."""
    space = Space(n=Size(2, high=64), x=Real(0, 1))
    large = Reading("large", Finding("more"), simulate=lambda x, key: jnp.arange(1000) * x.n)
    several = statement(
        space=space, simulate=lambda x, key: x.x * jnp.ones(x.n), readings=(large,), keys=1
    )

    def counted(readings, **sizes):
        setup = Setup(several, readings, parse_settings(several, sizes))
        cost = batch.measurement_cost(setup)
        bytes_held = batch.instance_bytes(several, readings, setup.settings.sizes)
        return np.array([bytes_held, cost.held, cost.operations])

    both = several.all_readings()
    one = both[:1]
    for _ in range(2):  # as it is counted, and as it is remembered
        with jax.enable_x64(True):
            double = counted(one)
            assert np.all(counted(both) > double)
            assert np.all(counted(one, n=64) > double)
        assert np.all(counted(one)[:2] < double[:2])
