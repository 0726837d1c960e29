"""Rows that are measured in the order of their lengths, by threads, are those measured in turn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import marks_of
from jax import lax

from tests.engine.statements import theorem
from theorysim.claims import Real, Space, at_most
from theorysim.engine.measure import batch
from theorysim.engine.measure.sample import draw_sample
from theorysim.engine.measure.setup import Setup, parse_settings

ROWS = 70


def descent(steps, start):
    return lax.fori_loop(0, steps.astype(int), lambda _, y: jnp.tanh(y) * 0.999 + 0.001, start)


@jax.custom_vjp
def with_a_derivative(steps, start):
    return descent(steps, start)


with_a_derivative.defvjp(lambda *given: (with_a_derivative(*given), None), lambda _, g: (None, g))

SIMULATIONS = {
    "a loop": lambda x, key: descent(x.steps, x.a),
    "in a choice": lambda x, key: lax.cond(x.a > 1.5, descent, lambda n, y: -y, x.steps, x.a),
    "in a loop": lambda x, key: lax.fori_loop(0, 5, lambda i, y: descent(x.steps / 5, y), x.a),
    "with a derivative": lambda x, key: with_a_derivative(x.steps, x.a),
    "of random length": lambda x, key: descent(x.steps * jax.random.uniform(key), x.a),
}
# Nothing is known of these before.
UNKNOWN = {
    "downwards": lambda x, key: lax.while_loop(lambda y: y > 1, lambda y: y / 2, x.steps * x.a),
}


def setup_of(simulate, keys):
    side = lambda r: jnp.mean(r.sim) + 0 * r.x.steps  # noqa: E731
    found = theorem(
        at_most("claim", side, lambda r: 10 + r.x.a),
        simulate=simulate,
        predict=lambda x: x.a,
        space=Space(steps=Real(1, 5000, log=True), a=Real(1, 2)),
        keys=keys,
    )
    return Setup(found, tuple(found.all_readings()), parse_settings(found, {}))


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        pytest.param(name, keys, marks=marks_of(keys == 1 or name == "of random length"))
        for name in (SIMULATIONS | UNKNOWN)
        for keys in (1, 8)
    ],
)
def test_the_order_and_the_threads_change_no_bit(monkeypatch, name, keys):
    setup = setup_of((SIMULATIONS | UNKNOWN)[name], keys)
    sample = draw_sample(setup, ROWS)
    orders = []

    def measured(worth, threads):
        monkeypatch.setattr(batch, "WORTH_SORTING", worth)
        monkeypatch.setattr(batch, "threads_for", lambda calls_libraries: threads)
        return batch.measure_all(setup, sample.instances, sample.keys)

    longest_first = batch._longest_first
    monkeypatch.setattr(
        batch, "_longest_first", lambda *given: orders.append(longest_first(*given)) or orders[-1]
    )
    together, alone = measured(0.0, 3), measured(np.inf, 1)
    first, second = (not np.array_equal(order, np.arange(len(order))) for order in orders)
    assert first == (name in SIMULATIONS) and not second
    for one, other in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
        np.testing.assert_array_equal(one, other)
    (claim,) = next(iter(together.values())).values()
    np.testing.assert_array_equal(np.ravel(claim.rhs), 10 + sample.instances.a)


def test_the_longest_are_first():
    setup = setup_of(SIMULATIONS["a loop"], 1)
    sample = draw_sample(setup, ROWS)
    program = batch._length_program(setup.theorem, setup.readings, setup.settings.size_items)
    assert program is not None
    lengths = np.asarray(program((sample.instances, sample.keys)))
    steps = np.floor(sample.instances.steps)
    assert (np.diff(lengths[np.argsort(steps, kind="stable")]) >= 0).all()
    assert len(np.unique(lengths)) > ROWS / 2
