"""Stages after fine-tuning in exact arithmetic; inflection points by their definitions."""

from fractions import Fraction

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.systems.ideal_stages import ideal_stages, inflection_point, last_descent, stages_of
from theorysim.systems.linear_modes import Tuning, change

EPS = np.finfo(np.float64).eps

pytestmark = pytest.mark.usefixtures("x64")


def test_losses_and_increments_are_those_of_exact_arithmetic():
    anchor, feature = [4.0, 2.0, 1.0, 0.5], [5.0, 1.0, 3.0, 0.75]
    moved = [1e-17, -0.75, 1.25, 0.25]
    tuning = Tuning(jnp.asarray(feature), jnp.asarray(anchor), jnp.asarray(0.0), jnp.asarray(0.1))
    stages = stages_of(tuning, jnp.asarray(moved))
    pre, ft, delta = map(Fraction, anchor), map(Fraction, feature), map(Fraction, moved)
    pre, ft, delta = list(pre), list(ft), list(delta)

    def loss(goal, n):
        learned = [p + m for p, m in zip(pre[:n], delta)] + [Fraction(0)] * (4 - n)
        return sum((theta - g) ** 2 for theta, g in zip(learned, goal, strict=True))

    for found, goal in ((stages.pretraining, pre), (stages.fine_tuning, ft)):
        exact = [float(loss(goal, n)) for n in range(5)]
        np.testing.assert_allclose(found, exact, rtol=8 * EPS)
    exact = [float(sum(m**2 for m in delta[:n])) for n in range(5)]
    np.testing.assert_allclose(stages.sensitivity, exact, rtol=8 * EPS)
    for found, goal in (
        (stages.pretraining_increments, pre),
        (stages.fine_tuning_increments, ft),
    ):
        exact = [float(loss(goal, n + 1) - loss(goal, n)) for n in range(4)]
        np.testing.assert_allclose(found, exact, rtol=8 * EPS)


def test_traced_steps_and_leading_axes():
    feature = jnp.asarray([[2.0, 1.5], [0.5, 0.1]])
    tuning = Tuning(feature, jnp.ones((2, 2)), jnp.asarray(0.2), jnp.asarray(0.03))
    found = jax.jit(ideal_stages)(tuning, 40)
    expected = stages_of(tuning, change(tuning, 40))
    assert found.pretraining.shape == (2, 3)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=64 * EPS), found, expected)


@hypothesis.given(st.lists(st.integers(-2, 2), min_size=1, max_size=6))
def test_inflection_points_follow_their_definitions(increments):
    losses = np.concatenate([[0], np.cumsum(increments)])
    last = len(increments)
    first_rise = [r for r in range(last) if losses[r] < losses[r + 1]]
    rising_after = [
        r for r in range(last + 1) if all(losses[n] > losses[n - 1] for n in range(r + 1, last + 1))
    ]
    steps = jnp.asarray(increments, float)
    assert inflection_point(steps) == min(first_rise, default=last)
    assert last_descent(steps) == min(rising_after)


def test_inflection_points_of_batches():
    increments = jnp.asarray([[-1.0, 1.0, 2.0], [-1.0, -1.0, -1.0], [1.0, -1.0, 1.0]])
    assert jax.jit(inflection_point)(increments).tolist() == [1, 3, 0]
    assert jax.jit(last_descent)(increments).tolist() == [1, 3, 2]
    assert np.array_equal(jax.vmap(last_descent)(increments), last_descent(increments))
