"""Printed probabilities and conditions alone: what they do not look at is not traced.

And whatever a formula does with its run, it does with all of it.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.statements import about
from theorysim.claims import Real, at_most, with_probability
from theorysim.claims.instance import size_items
from theorysim.claims.run import Run
from theorysim.engine.confirm.many_bits import values_with_bits
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.confirm.traced import condition_of, probability_of

TIMES = 3


def simulated(r):
    return r.sim


def nine(r):
    return jnp.full(r.sim.shape, 9.0)


def traced_with(claim, formula, *more, keys=1):
    """The formula of a claim's part, how often the simulation was traced, and its values."""
    traced = []

    def simulate(x, key):
        traced.append(1)
        return x.x * jnp.arange(2.0 * TIMES).reshape(2, TIMES)

    field = Real(0.25, 0.75)
    statement = about(field, claim, simulate, keys=keys)
    (reading,) = statement.all_readings()
    case = Case(statement, reading, claim)
    with jax.enable_x64(True):
        x = statement.space.sample(jax.random.key(0), {})
        found = formula(case, size_items(x), *more)
        if found is None:
            return None, len(traced), x
        key = np.asarray(jax.random.key_data(jax.random.key(1)))
        values = values_with_bits(case, found, x, key, 100, 10**6)
        return [float(value.mid()) for value in values.margins], len(traced), x


PROBABILITIES = {
    "a number": (lambda r: 0.75, lambda x: 0.75, False),
    "of the fields": (lambda r: 1 - r.x.x, lambda x: 1 - x, False),
    "of the prediction": (lambda r: 1 - r.theory, lambda x: 1 - x, True),
    "of the simulation": (lambda r: 1 - r.sim[0, 0, 1], lambda x: 1 - x, True),
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_a_printed_probability_needs_no_run_it_does_not_look_at(name):
    probability, truth, looks = PROBABILITIES[name]
    claim = with_probability("claim", simulated, nine, at_least=probability)
    (found,), traced, x = traced_with(claim, probability_of, keys=64)
    assert found == pytest.approx(truth(float(x.x)), rel=1e-14, abs=0)
    assert bool(traced) is looks


CONDITIONS = {
    "one number": (lambda r: r.x.x, lambda x: np.full((2, TIMES), x), False),
    "an array of one": (lambda r: r.x.x[None], lambda x: np.full((2, TIMES), x), False),
    "at every point": (
        lambda r: r.x.x + jnp.arange(2.0 * TIMES).reshape(2, TIMES),
        lambda x: x + np.arange(2.0 * TIMES).reshape(2, TIMES),
        False,
    ),
    "along one axis": (
        lambda r: r.x.x + jnp.arange(float(TIMES)),
        lambda x: np.broadcast_to(x + np.arange(TIMES), (2, TIMES)),
        True,
    ),
    "along the other": (
        lambda r: r.x.x + jnp.arange(2.0)[:, None],
        lambda x: np.broadcast_to(x + np.arange(2.0)[:, None], (2, TIMES)),
        True,
    ),
    "of the simulation": (
        lambda r: r.sim,
        lambda x: x * np.arange(2.0 * TIMES).reshape(2, TIMES),
        True,
    ),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_is_told_at_every_point_and_needs_no_run_it_does_not_look_at(name):
    where, truth, looks = CONDITIONS[name]
    claim = at_most("claim", simulated, nine, where=where)
    found, traced, x = traced_with(claim, condition_of, 2 * TIMES)
    np.testing.assert_allclose(found, truth(float(x.x)).ravel(), rtol=1e-14)
    assert bool(traced) is looks


def test_a_probability_of_an_average_is_no_formula():
    claim = with_probability("claim", simulated, nine, at_least=lambda r: jnp.mean(r.mean(r.sim)))
    assert traced_with(claim, probability_of, keys=64)[0] is None


def by_a_pattern(r):
    match r:
        case Run(sim=found):
            return found[0, 1]
        case _:
            return -r.x.x


LOOKS = {
    "within a loop and outside": lambda r: (
        jax.lax.fori_loop(0, 3, lambda i, s: s + r.sim[0, 0], 0.0) + r.sim[0, 1]
    ),
    "within a call": lambda r: jax.jit(lambda y: 2 * y - r.sim[0, 1])(r.x.x),
    "within a branch": lambda r: jax.lax.cond(r.x.x > 0, lambda: r.theory, lambda: r.sim[0, 1]),
    "within a map": lambda r: jax.lax.map(lambda i: i * r.theory, jnp.arange(2.0))[1],
    "by a copy": lambda r: dataclasses.replace(r, sim=2 * r.sim).sim[0, 1] / 2,
    "by a disturbed copy": lambda r: r.disturb().sim[0, 1],
    "if it has one": lambda r: getattr(r, "sim", jnp.zeros((2, TIMES)))[0, 1],
    "if it has none": lambda r: r.x.x if hasattr(r, "sim") else -r.x.x,
    "by a pattern": by_a_pattern,
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_condition_looks_at_its_run_in_whatever_way(name):
    claim = at_most("claim", simulated, nine, where=LOOKS[name])
    found, _, x = traced_with(claim, condition_of, 2 * TIMES)
    np.testing.assert_allclose(found, np.full(2 * TIMES, float(x.x)), rtol=1e-14)


def test_an_error_of_a_formula_is_told_once():
    """With nothing before it, whether it looks at its run or not."""

    def wrong(r):
        raise ValueError("its own")

    def wrong_later(r):
        return wrong(r.sim)

    for where in (wrong, wrong_later):
        with pytest.raises(ValueError, match="its own") as told:
            traced_with(at_most("claim", simulated, nine, where=where), condition_of, 2 * TIMES)
        assert told.value.__context__ is None


def test_a_condition_of_an_average_is_no_formula():
    claim = at_most("claim", simulated, nine, where=lambda r: r.mean(r.sim))
    assert traced_with(claim, condition_of, 2 * TIMES, keys=64)[0] is None
