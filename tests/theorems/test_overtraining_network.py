"""The linear network in real descent against automatic differentiation and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_DOUBLE, SOLVED_DOUBLE, SUMS_DOUBLE

from theorysim.numerics.products import dot
from theorysim.systems import linear_modes, two_layer_linear
from theorysim.systems.two_layer_linear import Factors, FineTuning
from theorysim.theorems.overtraining import _network as network
from theorysim.theorems.overtraining import _network_stages as stages
from theorysim.theorems.overtraining import section_4_1, section_4_2, section_4_sizes

pytestmark = pytest.mark.usefixtures("x64")

descended = jax.jit(network.descended, static_argnums=4)

D = 3


def drawn(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


def batches(step):
    inputs = jax.random.normal(jax.random.fold_in(jax.random.key(5), step), (8, D))
    return inputs.T @ inputs / 8


@pytest.fixture
def weights():
    return Factors(drawn(0, D, D), drawn(1, D, D))


@pytest.fixture
def tuning():
    return FineTuning(drawn(2, D, D), drawn(3, D, D), 0.7)


def test_descent_is_that_of_the_batch_loss(weights, tuning):
    steps, rate = jnp.asarray(9), jnp.asarray(0.01)
    found = descended(weights, tuning, rate, steps, batches)
    true = two_layer_linear.fine_tune_to(weights, tuning, 0.01, 9, covariances=batches)
    np.testing.assert_allclose(found.first, true.first, rtol=SUMS_DOUBLE)
    np.testing.assert_allclose(found.second, true.second, rtol=SUMS_DOUBLE)


def test_every_run_stops_after_its_own_steps(weights, tuning):
    steps, rates = jnp.asarray([2, 7]), jnp.asarray([0.01, 0.02])
    both = jax.tree.map(lambda w: jnp.stack([w, w]), weights)
    found = descended(both, tuning, rates, steps, batches)
    for k in range(2):
        alone = descended(weights, tuning, rates[k], steps[k], batches)
        np.testing.assert_allclose(found.first[k], alone.first, rtol=FEW_DOUBLE)


def test_marks_are_passed_one_after_the_other(weights, tuning):
    marks = jnp.asarray([0, 3, 3, 8])
    same = lambda number: lambda step: jnp.eye(D)  # noqa: E731
    found = network.along(weights, tuning, jnp.asarray(0.01), marks, same)
    np.testing.assert_array_equal(found.first[0], weights.first)
    np.testing.assert_array_equal(found.first[1], found.first[2])
    end = descended(weights, tuning, jnp.asarray(0.01), marks[-1], same(0))
    np.testing.assert_allclose(found.first[3], end.first, rtol=FEW_DOUBLE)


def test_stage_marks_are_stage_times_of_each_run():
    gaps, taus = jnp.asarray([1.5, 3.0]), jnp.asarray([4.0, 9.0])
    stage_marks, stage_times = map(jax.jit, (network.stage_marks, linear_modes.stage_times))
    marks = stage_marks(network.features(D, gaps[:, None]), taus, jnp.asarray(1e-3))
    for k in range(2):
        times = stage_times(network.features(D, float(gaps[k])), taus[k])
        np.testing.assert_array_equal(marks[1:, k], np.round(np.asarray(times) / 1e-3))
    assert np.all(marks[0] == 0)


@pytest.mark.parametrize("seed", range(6))
def test_a_learnable_start_has_the_sign_of_the_task(seed):
    first, second = jax.random.split(jax.random.key(seed))
    task, start = network.vectors(D, first), network.small_start(D, second)
    found = network.learnable(start, task)
    sign = np.linalg.det(np.asarray(dot(*found))) * np.linalg.det(np.asarray(dot(*task)))
    assert sign == pytest.approx(1)
    np.testing.assert_allclose(np.abs(found.second), np.abs(start.second))


def at(theorem, **sizes):
    return theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(**sizes))


def test_ideal_stages_have_the_first_features():
    x = at(section_4_2.theorem)
    vectors = jax.jit(network.vectors, static_argnums=0)(x.d, jax.random.key(0))
    rotated = jax.jit(lambda vectors: vectors.rotated(dot(*stages.ideal(x, vectors))))
    theta = np.asarray(rotated(vectors))
    for n in range(x.d + 1):
        expected = np.diag(np.where(np.arange(x.d) < n, stages.features(x), 0))
        np.testing.assert_allclose(theta[n], expected, atol=FEW_DOUBLE)


def test_variances_lie_between_the_features():
    x = at(section_4_2.theorem)
    threshold = 2 * x.d * np.asarray(section_4_2.gammas(x)) ** 2
    below = (threshold[:, None] > np.asarray(stages.features(x))).sum(1)
    assert list(below) == list(range(x.d + 1))


def test_the_flow_beside_the_path_is_a_logistic_curve_where_start_and_task_agree(monkeypatch):
    """From exp(-tau) U, exp(-tau) V^T every mode is a network of its own."""
    x = at(section_4_1.theorem, d=2)

    def aligned(x, key):
        vectors = network.vectors(x.d, key)
        start = Factors(vectors.left, vectors.right.T)
        return vectors, jax.tree.map(lambda w: np.exp(-stages.TAU) * w, start)

    monkeypatch.setattr(stages, "begun", aligned)
    found = jax.jit(lambda key: section_4_1._path(x, key, stages.features(x)))(jax.random.key(0))
    times = (section_4_1._steps(x) * stages.rate(x))[:, None]
    curve = linear_modes.growth(times, stages.features(x), jnp.asarray(stages.TAU))
    np.testing.assert_allclose(found.flow, curve, atol=SOLVED_DOUBLE)
    assert np.max(np.abs(found.learned[-1] - stages.features(x))) < 1e-3


def test_the_picture_is_a_fall_and_then_rises():
    losses = jnp.asarray([[3.0, 1.0, 2.0, 4.0], [3.0, 1.0, 0.5, 4.0], [1.0, 3.0, 4.0, 5.0]]).T
    np.testing.assert_array_equal(section_4_sizes._is_seen(losses), [1, 0, 0])


def test_the_map_of_modes_is_that_of_ideal_stages_at_tiny_starts():
    """From a very small start with wide gaps it is seen after a short fine-tuning."""
    sizes = section_4_sizes.Sizes(taus=(40.0,), gaps=(2.0,), rates=(0.25,), lengths=(1.0, 400.0))
    found = np.asarray(jax.jit(lambda: section_4_sizes._of_modes(3, sizes))()).ravel()
    np.testing.assert_array_equal(found, [1, 0])
