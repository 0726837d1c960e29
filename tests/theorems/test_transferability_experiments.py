"""The networks on digits against their definitions, and against closed forms and dense algebra."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE, LONG_SINGLE, ONE_SINGLE, STEPS_SINGLE, SUMS_SINGLE
from drawn import thorough
from jax.flatten_util import ravel_pytree
from scipy.special import log_softmax

from theorysim.numerics.spectra import top_hessian_eigenvalues
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_deviation as deviation
from theorysim.theorems.transferability import _digits_minima as minima
from theorysim.theorems.transferability import (
    figure_6,
    figure_7,
)

DRAWN = 0.05
"""three standard errors and more, of thousands of drawn weights"""

KEY = jax.random.key(0)


direction = jax.jit(minima.direction)
loss = jax.jit(digits.loss)
gradient = jax.jit(jax.grad(digits.loss))
trained = jax.jit(digits.trained)
drawn = jax.jit(digits.drawn, static_argnames=("low", "high"))
initialised = jax.jit(digits.initialised, static_argnums=(1, 2))


@pytest.fixture(scope="module")
def task():
    return digits.part(drawn(KEY, low=digits.HALF), 0, 60)


@pytest.fixture(scope="module")
def network():
    return initialised(jax.random.key(1), (digits.pixels(), 12, 8, 6, digits.HALF))


def normal(size):
    return jnp.asarray(np.random.default_rng(0).standard_normal(size), jnp.float32)


def plain(network, images):
    """Logits in NumPy, in double precision."""
    values = np.asarray(images, float)
    for depth, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        values = values @ np.asarray(weight, float).T + np.asarray(bias, float)
        values = values if depth == len(network.weights) - 1 else np.maximum(values, 0)
    return values


def plain_loss(network, task):
    logs = log_softmax(plain(network, task.images), axis=1)
    return -np.mean(logs[np.arange(len(logs)), np.asarray(task.labels)])


def test_networks_have_the_initialisation_of_he():
    wide = initialised(KEY, (400, 300, 200, 10))
    for weight, bias in zip(wide.weights, wide.biases, strict=True):
        assert np.std(weight) == pytest.approx(np.sqrt(2 / weight.shape[1]), rel=DRAWN)
        assert np.all(bias == 0) and bias.shape == weight.shape[:1]


def test_losses_and_errors_are_those_of_the_logits(network, task):
    assert float(loss(network, task)) == pytest.approx(plain_loss(network, task), rel=SUMS_SINGLE)
    wrong = plain(network, task.images).argmax(1) != np.asarray(task.labels)
    assert float(jax.jit(digits.error)(network, task)) == pytest.approx(
        wrong.mean(), abs=FEW_SINGLE
    )


@partial(jax.jit, static_argnums=(2, 3))
def path_of_losses(network, task, steps, every):
    return digits.path(network, task, steps, every, lambda n: digits.loss(n, task))


def test_training_learns_and_a_path_ends_where_a_run_does(network, task):
    end = trained(network, task, 100)
    path = path_of_losses(network, task, 100, 50)
    assert float(path[-1]) == pytest.approx(float(loss(end, task)), rel=STEPS_SINGLE)
    assert path[-1] < path[0] / 2
    still = trained(network, task, 0)
    assert all(map(np.array_equal, jax.tree.leaves(still), jax.tree.leaves(network)))


def test_a_head_alone_gives_the_logits_on_the_features(network, task):
    features = network.layers(task.images)[-2].given
    alone = digits.only_head(network)
    np.testing.assert_allclose(alone(features), network(task.images), rtol=FEW_SINGLE)
    assert len(alone.weights) == 1
    other = initialised(jax.random.key(5), (digits.pixels(), 12, 8, 6, digits.HALF))
    swapped = digits.with_head_of(network, other)
    assert np.array_equal(swapped.weights[-1], other.weights[-1])
    assert np.array_equal(swapped.weights[0], network.weights[0])


def test_deviations_are_sums_of_frobenius_norms(network):
    moved = jax.tree.map(lambda leaf: leaf + 0.5, network)
    sizes = [np.sqrt(weight.size) / 2 for weight in network.weights]
    assert float(digits.deviation(moved, network, 25)) == pytest.approx(
        sum(sizes) / 5, rel=SUMS_SINGLE
    )


def test_images_are_drawn_once_and_classes_count_from_the_first():
    all_of_them = drawn(KEY)
    low, high = (drawn(KEY, **kind) for kind in ({"high": 5}, {"low": 5}))
    assert len(low.labels) + len(high.labels) == len(all_of_them.labels)
    for task in (low, high):
        assert sorted(set(np.asarray(task.labels))) == [0, 1, 2, 3, 4]
    rows = np.unique(np.asarray(all_of_them.images), axis=0)
    assert len(rows) == len(all_of_them.images)
    first, rest = digits.part(low, 0, 100), digits.part(low, 100)
    both = np.concatenate([first.images, rest.images])
    np.testing.assert_array_equal(both, low.images)


def test_images_are_turned_permuted_and_darkened_as_said(task):
    images = task.images
    np.testing.assert_array_equal(digits.upside_down(digits.upside_down(images)), images)
    turned = np.asarray(digits.upside_down(images)).reshape(-1, 8, 8)
    np.testing.assert_array_equal(turned[:, 0], np.asarray(images).reshape(-1, 8, 8)[:, 7])
    mixed = digits.permuted(images, KEY)
    np.testing.assert_array_equal(np.sort(mixed, axis=1), np.sort(images, axis=1))
    assert not np.array_equal(mixed, images)
    classes = np.asarray(digits.brightness(images, 10))
    assert list(np.bincount(classes)) == [6] * 10
    upper = np.asarray(images)[:, :32].mean(1)
    assert all(upper[classes == k].max() <= upper[classes == k + 1].min() for k in range(9))


def test_targets_share_no_image_with_their_source_or_their_test():
    sizes = {name: size.low for name, size in deviation.SPACE.sizes.items()}
    data = jax.jit(deviation.drawn)(deviation.SPACE.sample(KEY, sizes), KEY)
    parts = [data.source.images, data.target.images[0], data.test.images[0]]
    joined = np.concatenate([np.asarray(part) for part in parts])
    assert len(np.unique(joined, axis=0)) == len(joined)
    np.testing.assert_allclose(data.target.images[2], 1 - data.target.images[1], atol=FEW_SINGLE)
    np.testing.assert_array_equal(data.target.labels[1], data.target.labels[4])


@pytest.mark.parametrize("is_normalised", [False, thorough(True)])
def test_back_propagation_is_the_rule_of_section_4(task, is_normalised):
    """dL/dx^(k-1) = W_k 1 (dL/dx^k), and dL/dlogits = (softmax - one-hot) / n."""
    widths = (digits.pixels(), 12, 8, 6, digits.HALF)
    network = initialised(jax.random.key(1), widths, is_normalised)
    slopes = jax.jit(figure_7.gradients)(network, task)
    layers = jax.jit(lambda n: n.layers(task.images))(network)
    last = np.exp(log_softmax(np.asarray(layers[-1].given, float), axis=1))
    last[np.arange(len(last)), np.asarray(task.labels)] -= 1
    np.testing.assert_allclose(slopes[-1].given, last / len(last), atol=FEW_SINGLE)
    for depth in range(1, len(slopes)):
        back = np.asarray(slopes[depth].received) @ np.asarray(network.weights[depth])
        np.testing.assert_allclose(slopes[depth - 1].given, back, atol=FEW_SINGLE)
    if not is_normalised:
        for slope, layer in list(zip(slopes, layers, strict=True))[:-1]:
            active = np.asarray(slope.given) * (np.asarray(layer.given) > 0)
            np.testing.assert_allclose(slope.received, active, atol=ONE_SINGLE)


def test_batch_normalisation_has_mean_0_and_variance_1_and_is_blind_to_scale(task):
    network = initialised(jax.random.key(1), (digits.pixels(), 12, 8, 3), True)
    wide = jax.tree.map(lambda leaf: 3 * leaf, network)
    rows = np.asarray(network._normalised(jnp.asarray(task.images) @ network.weights[0].T))
    np.testing.assert_allclose(rows.mean(0), 0, atol=SUMS_SINGLE)
    np.testing.assert_allclose(rows.std(0), 1, atol=LONG_SINGLE)
    first, second = (n.layers(task.images)[-2].given for n in (network, wide))
    np.testing.assert_allclose(first, second, atol=LONG_SINGLE)


def test_projections_are_one_for_isometries_and_for_random_weights_and_find_what_is_shrunk():
    slope = np.random.default_rng(2).standard_normal((50, 30)) * 0.8 ** np.arange(30)
    slope = jnp.asarray(slope, jnp.float32)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    np.testing.assert_allclose(
        figure_7.projections(jnp.asarray(basis), slope, 5), 1, rtol=SUMS_SINGLE
    )
    weights = np.random.default_rng(1).standard_normal((400, 30, 30), np.float32)
    found = jax.jit(jax.vmap(lambda w: figure_7.projections(w, slope, 3)))(weights)
    np.testing.assert_allclose(np.mean(np.square(found), axis=0), 1, rtol=DRAWN)
    first = np.linalg.svd(np.asarray(slope, float))[2][0]
    without = jnp.asarray((np.eye(30) - np.outer(first, first)) @ basis)
    shrunk = figure_7.projections(without, slope, 3)
    assert shrunk[0] < 1e-4 and np.all(np.asarray(shrunk[1:]) > 1)


def test_the_variation_is_the_largest_change_along_the_gradient(network, task):
    slope = gradient(network, task)
    here = plain_loss(network, task)

    def change(share):
        there = jax.tree.map(lambda w, g: np.asarray(w) - share * np.asarray(g), network, slope)
        return plain_loss(there, task) - here

    largest = max(abs(change(share)) for share in np.linspace(0, 1, 21))
    assert float(jax.jit(figure_6.variation)(network, task)) == pytest.approx(
        largest, rel=LONG_SINGLE
    )


def test_training_stops_at_the_level(network, task):
    losses = path_of_losses(network, task, 200, 1)
    until = jax.jit(minima.until)
    expected = int(np.argmax(np.asarray(losses) <= 0.5))
    end, count = until(network, task, 0.5, 200)
    assert int(count) == expected > 0
    assert float(loss(end, task)) <= 0.5
    assert int(until(network, task, 0.5, 3)[1]) == 3
    assert int(until(network, task, 100.0, 200)[1]) == 0


@pytest.mark.thorough  # it does of another network in test_spectra
def test_lanczos_finds_the_top_of_the_dense_spectrum(task):
    start = initialised(jax.random.key(1), (digits.pixels(), 6, 5, digits.HALF))
    end = trained(start, task, 100)
    flat, unravel = ravel_pytree(end)
    dense = jax.jit(jax.hessian(lambda vector: digits.loss(unravel(vector), task)))(flat)
    exact = np.linalg.eigvalsh(np.asarray(dense, float))[::-1][:10]
    found = jax.jit(
        lambda end: top_hessian_eigenvalues(
            lambda n: digits.loss(n, task), end, 10, iterations=100, key=jax.random.key(2)
        )
    )(end)
    np.testing.assert_allclose(
        found.eigenvalues, exact, rtol=STEPS_SINGLE, atol=STEPS_SINGLE * exact[0]
    )


def test_directions_have_filters_as_long_as_those_of_the_network(network, task):
    size = sum(weight.size for weight in network.weights)
    along = direction(network, normal(size))
    for weight, part in zip(network.weights, along.weights, strict=True):
        lengths = [np.linalg.norm(matrix, axis=1) for matrix in (weight, part)]
        np.testing.assert_allclose(*lengths, rtol=SUMS_SINGLE)
    assert all(np.all(bias == 0) for bias in along.biases)
    middle = minima.middle_alone(along)
    moved = [bool(np.any(weight != 0)) for weight in middle.weights]
    assert moved == [False, False, True, False]
    both = jax.tree.map(lambda *leaves: np.stack(leaves), along, middle)
    found = jax.jit(minima.changes)(network, task, both)
    here = plain_loss(network, task)
    for row, one in zip(np.asarray(found), (along, middle), strict=True):
        for radius, change in zip(minima.RADII, row, strict=True):
            there = jax.tree.map(lambda a, b, r=radius: a + r * np.asarray(b), network, one)
            expected = plain_loss(there, task) - here
            assert float(change) == pytest.approx(expected, abs=SUMS_SINGLE)


def test_the_printed_grid_is_a_tenth_of_the_gradient_wide(network, task):
    size = sum(weight.size for weight in network.weights)
    along = minima.middle_alone(direction(network, normal(size)))
    middle = len(network.weights) // 2
    slope = np.linalg.norm(gradient(network, task).weights[middle])
    length = np.linalg.norm(along.weights[middle])

    def at(place: int) -> float:
        by = 0.1 * slope * place / length
        there = jax.tree.map(lambda a, b: np.asarray(a) + by * np.asarray(b), network, along)
        return float(loss(there, task))

    heights = [at(place) for place in range(-100, 101)]
    one = jax.tree.map(lambda leaf: leaf[None], along)
    (found,) = jax.jit(minima.changes_to_the_next)(network, task, one)
    expected = np.mean(np.abs(np.diff(heights)))
    assert float(found) == pytest.approx(expected, rel=LONG_SINGLE)
