"""Deep linear networks of L matrices: gradients, invariants, orders in the step, pretraining."""

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.systems import deep_linear as deep
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from validation.oracles import deep_linear as oracle
from validation.oracles import linear_regression as regression_oracle

EPS = np.finfo(np.float64).eps


pytestmark = pytest.mark.usefixtures("x64")

end_to_end = jax.jit(network.end_to_end)
imbalance = jax.jit(network.imbalance)
train = jax.jit(network.train, static_argnames="frozen")
train_path = jax.jit(network.train_path, static_argnums=4, static_argnames="every")
flow_path = jax.jit(network.flow_path)
critical_learning_rate = jax.jit(network.critical_learning_rate)
limit = jax.jit(deep_limit.limit)


@partial(jax.jit, static_argnames=("samples", "dimension"))
def problem(samples=2, dimension=5, seed=0):
    parts = jax.random.split(jax.random.key(seed), 4)
    return (
        jax.random.normal(parts[0], (samples, dimension)),
        jax.random.normal(parts[1], (dimension,)),
        jax.random.normal(parts[2], (dimension,)),
        parts[3],
    )


@pytest.mark.parametrize("hidden", [(), (7,), (6, 5, 9)])
def test_balanced_layers(hidden):
    _, source, _, key = problem()
    layers = network.balanced_layers(key, source, hidden)
    assert [layer.shape for layer in layers] == list(pairwise((5, *hidden, 1)))
    depth = len(layers)
    np.testing.assert_allclose(end_to_end(layers), source, rtol=8 * depth * EPS)
    assert float(imbalance(layers)) <= 8 * EPS


def test_imbalance_is_what_the_definition_says():
    layers = (jnp.array([[2.0, 0.0], [0.0, 1.0]]), jnp.array([[3.0], [0.0]]))
    # W_1^T W_1 - W_2 W_2^T = diag(4 - 9, 1), and ||W_2||^2 = 9.
    assert float(imbalance(layers)) == pytest.approx(np.sqrt(26) / 9, rel=4 * EPS)
    with pytest.raises(ValueError, match="do not chain to one output"):
        network.train(layers[::-1], jnp.ones((1, 2)), jnp.ones(1), 0.1, 1)


@pytest.mark.parametrize("hidden", [(), (4,), (6, 3, 5)])
def test_gradients_are_the_products_of_the_other_layers(hidden):
    data, _, target, key = problem()
    layers = network.gaussian_layers(key, 5, hidden, 1.0)
    found = jax.jit(jax.grad(network.loss))(layers, data, data @ target)
    expected = oracle.layer_gradients(
        [np.asarray(layer) for layer in layers], np.asarray(data), np.asarray(target)
    )
    for slope, exact in zip(found, expected, strict=True):
        scale = 64 * EPS * float(np.max(np.abs(exact)))
        np.testing.assert_allclose(slope, exact, rtol=0, atol=scale)


def test_flow_from_unbalanced_layers_is_the_independent_one():
    data, _, target, key = problem()
    layers = network.gaussian_layers(key, 5, (4, 6), 0.6)
    times = np.array([0.0, 0.5, 2.0])
    run = flow_path(layers, data, data @ target, times)
    states = oracle.network_flow(
        [np.asarray(layer) for layer in layers], np.asarray(data), np.asarray(target), times
    )
    expected = np.stack([np.linalg.multi_dot(state)[:, 0] for state in states])
    # Errors of both integrators, at rtol 1e-10 and 1e-12, over some hundred steps.
    np.testing.assert_allclose(run.weights, expected, rtol=0, atol=100 * 1e-10)
    assert np.all(np.asarray(run.imbalance) > 0.1)
    residuals = np.asarray(data) @ (expected - np.asarray(target)).T
    np.testing.assert_allclose(run.train_loss, np.mean(residuals**2, axis=0), rtol=1e-6)


@pytest.mark.parametrize("frozen", [0, thorough(1)])
def test_descent_tends_to_the_flow_at_first_order(frozen):
    data, source, target, key = problem()
    layers = network.balanced_layers(key, source, (5, 5))
    times = np.array([0.0, 0.5])
    if frozen:
        flow = jax.jit(deep.frozen_scale_flow, static_argnums=(3, 4))
        exact = np.asarray(flow(data, source, target, 3, 1, times))[-1] * np.asarray(source)
    else:
        flow = jax.jit(deep.end_to_end_flow)
        exact = np.asarray(flow(data, source, target, 3.0, times))[-1]
    errors, residuals = [], []
    for steps in (400, 800, 1600):
        after = train(layers, data, data @ target, 0.5 / steps, steps, frozen=frozen)
        errors.append(np.linalg.norm(end_to_end(after) - exact))
        residuals.append(float(imbalance(after[frozen:])))
    # Each error is linear in the step up to a relative correction of the order of the last one.
    np.testing.assert_allclose(-np.diff(np.log2(errors)), 1, atol=0.1)
    if frozen:  # all remaining layers are scaled alike by every step
        assert max(residuals) <= 1e3 * EPS
    else:
        np.testing.assert_allclose(-np.diff(np.log2(residuals)), 1, atol=0.1)


@pytest.mark.parametrize("depth", [2, 3])
def test_long_descent_ends_at_the_fixed_point(depth):
    data, source, target, key = problem(seed=1)
    layers = network.balanced_layers(key, source, (5,) * (depth - 1))
    expected = np.asarray(limit(data, source, target, depth))
    norm = max(np.linalg.norm(source), np.linalg.norm(expected))
    largest = 0.2 * float(critical_learning_rate(data, depth, norm))
    ends = []
    for halvings in range(3):
        run = train_path(
            layers, data, data @ target, largest / 2**halvings, 4000 * 2**halvings, every=4000
        )
        assert np.asarray(run.train_loss)[-1] < 1e-20
        ends.append(np.asarray(run.weights)[-1])
    errors = [np.linalg.norm(end - expected) for end in ends]
    assert errors[0] > errors[1] > errors[2] > 0
    # Linear in the step, so that Richardson's extrapolation gains more than an order of magnitude.
    extrapolated = (ends[0] - 6 * ends[1] + 8 * ends[2]) / 3
    assert np.linalg.norm(extrapolated - expected) < 0.05 * errors[2]


def test_critical_learning_rate_separates_stable_from_unstable_minima():
    data, source, _, key = problem(samples=1)
    source = 2 * data[0]  # the direction of largest curvature
    layers = network.balanced_layers(key, source, (5, 5))
    largest = critical_learning_rate(data, 3, jnp.linalg.norm(source))
    rng = np.random.default_rng(0)
    nearby = tuple(layer + 1e-6 * rng.standard_normal(layer.shape) for layer in layers)
    for fraction, stable in ((0.9, True), (1.1, False)):
        run = train_path(nearby, data, data @ source, fraction * largest, 40, every=40)
        assert (run.train_loss[-1] < run.train_loss[0]) == stable


@pytest.mark.thorough  # a long descent that ends at the fixed point stays
@pytest.mark.parametrize("scale", [1e-1, 1e-2, 1e-3])
def test_pretraining_from_a_small_start_reaches_the_source(scale):
    data, source, target, key = problem()
    pretraining = jax.random.normal(jax.random.key(11), (20, 5))
    layers = network.gaussian_layers(key, 5, (5,), jnp.asarray(scale))
    norm = np.linalg.norm(source)
    rate = 0.3 * float(critical_learning_rate(pretraining, 2, norm))
    trained = train(layers, pretraining, pretraining @ source, rate, 3000)
    remaining = np.linalg.norm(np.subtract(end_to_end(trained), source))
    assert remaining <= 1e-10 * norm
    # Conserved by the flow, of order scale^2 at the start; gradient descent adds its O(rate).
    left = float(imbalance(trained))
    assert left < 10 * scale**2 + 10 * rate
    times = np.array([0.0, 2000.0])
    end = np.asarray(flow_path(trained, data, data @ target, times).weights)[-1]
    expected = np.asarray(limit(data, source, target, 2))
    worse = regression_oracle.limit(*map(np.asarray, (data, source, target)))
    error = np.linalg.norm(end - expected)
    # The limit moves by at most a moderate multiple of the imbalance, which separates the theorem
    # from its depth-one formula.
    assert error < 10 * left + 1e-8
    assert error < 0.2 * np.linalg.norm(end - worse)


def test_frozen_layers_do_not_move():
    data, _, target, key = problem()
    layers = network.gaussian_layers(key, 5, (4, 3), jnp.asarray(0.5))
    trained = network.train(layers, data, data @ target, 0.01, 10, frozen=2)
    for before, after in zip(layers[:2], trained[:2], strict=True):
        np.testing.assert_array_equal(before, after)
    assert np.any(np.asarray(trained[2]) != np.asarray(layers[2]))
    with pytest.raises(ValueError, match="3 frozen layers of 3"):
        network.train(layers, data, data @ target, 0.01, 10, frozen=3)


@pytest.mark.thorough
def test_single_precision_stays_single():
    data, source, target, key = (
        part if index == 3 else part.astype(jnp.float32) for index, part in enumerate(problem())
    )
    layers = network.balanced_layers(key, source, (5, 5))
    run = train_path(layers, data, data @ target, 0.01, 20, every=10)
    assert {part.dtype for part in run} == {jnp.dtype(jnp.float32)}
    losses = np.asarray(run.train_loss)
    assert losses[-1] < losses[0]
    wide = [part.astype(jnp.float64) for part in (source, data, target)]
    exact = train_path(
        tuple(layer.astype(jnp.float64) for layer in layers),
        wide[1],
        wide[1] @ wide[2],
        0.01,
        20,
        every=10,
    )
    # Rounding of 20 steps, each of relative size eps.
    precision = 20 * 8 * float(jnp.finfo(jnp.float32).eps)
    np.testing.assert_allclose(run.weights, exact.weights, rtol=0, atol=precision)
