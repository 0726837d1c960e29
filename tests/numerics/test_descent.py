"""Descent against its closed form on quadratics."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from theorysim.numerics.descent import descend, descend_to, iterate, iterate_to

pytestmark = pytest.mark.usefixtures("x64")

CURVATURES = np.array([1.0, 3.0])
RATE = 0.1
# Each step multiplies and subtracts once; a contraction does not amplify what was rounded before.
ROUNDING = 64 * np.finfo(np.float64).eps


def loss(w):
    return jnp.sum(CURVATURES * w**2) / 2


def closed_form(steps):
    return (1 - RATE * CURVATURES) ** np.arange(steps + 1)[:, None]


def test_descent_of_a_quadratic_has_its_closed_form():
    path = descend(loss, jnp.ones(2), optax.sgd(RATE), 30)
    np.testing.assert_allclose(path, closed_form(30), rtol=ROUNDING)


def test_recording_less_often_keeps_the_same_states():
    every = descend(loss, jnp.ones(2), optax.sgd(RATE), 30)
    some = descend(loss, jnp.ones(2), optax.sgd(RATE), 30, every=10)
    assert np.array_equal(some, every[::10])
    with pytest.raises(ValueError, match="every = 7 does not divide steps = 30"):
        descend(loss, jnp.ones(2), optax.sgd(RATE), 30, every=7)


def test_memory_is_that_of_the_records():
    """A million steps on a hundred numbers, of which ten states are kept."""

    def run(start):
        return descend(lambda w: jnp.sum(w**2), start, optax.sgd(RATE), 10**6, every=10**5)

    sizes = jax.jit(run).lower(jnp.ones(100)).compile().memory_analysis()
    assert sizes.temp_size_in_bytes + sizes.output_size_in_bytes < 1e5


def test_a_traced_number_of_steps_ends_where_the_path_does():
    path = descend(loss, jnp.ones(2), optax.sgd(RATE), 30)
    end = jax.jit(lambda k: descend_to(loss, jnp.ones(2), optax.sgd(RATE), k))
    for steps in (0, 1, 17, 30):
        np.testing.assert_allclose(end(steps), path[steps], rtol=ROUNDING)


def test_both_factors_step_from_their_old_values():
    product_loss = lambda w: (w["a"] * w["b"] - 1.0) ** 2  # noqa: E731
    start = {"a": jnp.asarray(2.0), "b": jnp.asarray(3.0)}
    path = descend(product_loss, start, optax.sgd(RATE), 1)
    error = 2 * (2.0 * 3.0 - 1.0)
    np.testing.assert_allclose(path["a"][1], 2.0 - RATE * error * 3.0, rtol=ROUNDING)
    np.testing.assert_allclose(path["b"][1], 3.0 - RATE * error * 2.0, rtol=ROUNDING)


def test_batches_are_made_when_their_step_comes():
    centred = lambda w, batch: jnp.sum((w - batch) ** 2) / 2  # noqa: E731
    path = descend(
        centred, jnp.zeros(()), optax.sgd(1.0), 5, batches=lambda k: jnp.asarray(k, float)
    )
    assert np.array_equal(path, [0, 0, 1, 2, 3, 4])  # a unit step lands on its batch
    end = descend_to(
        centred, jnp.zeros(()), optax.sgd(1.0), 5, batches=lambda k: jnp.asarray(k, float)
    )
    assert end == 4


def test_optimisers_with_memory_keep_it():
    momentum = optax.sgd(RATE, momentum=0.5)
    path = np.asarray(descend(loss, jnp.ones(2), momentum, 10))
    weights, velocity = np.ones(2), np.zeros(2)
    for state in path[1:]:
        velocity = 0.5 * velocity + CURVATURES * weights
        weights = weights - RATE * velocity
        np.testing.assert_allclose(state, weights, rtol=ROUNDING)


def test_iterating_a_map():
    path = iterate(lambda y: y / 2, jnp.asarray(1.0), 4)
    assert np.array_equal(path, [1, 0.5, 0.25, 0.125, 0.0625])
    assert jax.jit(lambda k: iterate_to(lambda y: y / 2, jnp.asarray(1.0), k))(3) == 0.125


def test_derivatives_pass_through_a_run():
    end = lambda rate: descend(loss, jnp.ones(2), optax.sgd(rate), 10)[-1, 0]  # noqa: E731
    exact = -10 * (1 - RATE) ** 9
    np.testing.assert_allclose(jax.grad(end)(RATE), exact, rtol=10 * ROUNDING)
