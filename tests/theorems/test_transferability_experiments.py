"""The networks on digits against their definitions, and against closed forms and dense algebra."""

from itertools import permutations
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE, LONG_SINGLE, ONE_SINGLE, STEPS_SINGLE, SUMS_SINGLE
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from scipy.special import log_softmax
from scipy.stats import spearmanr

from theorysim import claims
from theorysim.numerics import kernels
from theorysim.numerics.spectra import top_hessian_eigenvalues
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_deviation as deviation
from theorysim.theorems.transferability import _digits_minima as minima
from theorysim.theorems.transferability import _digits_section_6 as section_6
from theorysim.theorems.transferability import _digits_sources as sources
from theorysim.theorems.transferability import _digits_starts as starts
from theorysim.theorems.transferability import _table_1 as table
from theorysim.theorems.transferability import (
    figure_2,
    figure_4,
    figure_6,
    figure_7,
    figure_9,
    table_1,
    table_1_printed,
)
from theorysim.theorems.transferability._digits_seen import seen

DRAWN = 0.05
"""three standard errors and more, of thousands of drawn weights"""
ENDLESS = 1e-2
"""what 100000 steps leave of the slowest mode"""
THREE_DIGITS, ONE_DECIMAL = 5e-4, 0.05
"""as the page of the paper rounds"""
OF_20000 = 0.01
"""three standard errors of shares of 20000 labels"""

KEY = jax.random.key(0)


@pytest.fixture
def task():
    return digits.part(digits.drawn(KEY, low=digits.HALF), 0, 60)


@pytest.fixture
def network():
    return digits.initialised(jax.random.key(1), (digits.pixels(), 12, 8, 6, digits.HALF))


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
    wide = digits.initialised(KEY, (400, 300, 200, 10))
    for weight, bias in zip(wide.weights, wide.biases, strict=True):
        assert np.std(weight) == pytest.approx(np.sqrt(2 / weight.shape[1]), rel=DRAWN)
        assert np.all(bias == 0) and bias.shape == weight.shape[:1]


def test_losses_and_errors_are_those_of_the_logits(network, task):
    assert float(digits.loss(network, task)) == pytest.approx(
        plain_loss(network, task), rel=SUMS_SINGLE
    )
    wrong = plain(network, task.images).argmax(1) != np.asarray(task.labels)
    assert float(digits.error(network, task)) == pytest.approx(wrong.mean(), abs=FEW_SINGLE)


def test_training_learns_and_a_path_ends_where_a_run_does(network, task):
    end = digits.trained(network, task, 100)
    path = digits.path(network, task, 100, 50, lambda n: digits.loss(n, task))
    assert float(path[-1]) == pytest.approx(float(digits.loss(end, task)), rel=STEPS_SINGLE)
    assert path[-1] < path[0] / 2
    still = digits.trained(network, task, 0)
    assert all(map(np.array_equal, jax.tree.leaves(still), jax.tree.leaves(network)))


def test_a_head_alone_gives_the_logits_on_the_features(network, task):
    features = network.layers(task.images)[-2].given
    alone = digits.only_head(network)
    np.testing.assert_allclose(alone(features), network(task.images), rtol=FEW_SINGLE)
    assert len(alone.weights) == 1
    other = digits.initialised(jax.random.key(5), (digits.pixels(), 12, 8, 6, digits.HALF))
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
    all_of_them = digits.drawn(KEY)
    low, high = (digits.drawn(KEY, **kind) for kind in ({"high": 5}, {"low": 5}))
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
    data = deviation.drawn(deviation.SPACE.sample(KEY, sizes), KEY)
    parts = [data.source.images, data.target.images[0], data.test.images[0]]
    joined = np.concatenate([np.asarray(part) for part in parts])
    assert len(np.unique(joined, axis=0)) == len(joined)
    np.testing.assert_allclose(data.target.images[2], 1 - data.target.images[1], atol=FEW_SINGLE)
    np.testing.assert_array_equal(data.target.labels[1], data.target.labels[4])


@pytest.mark.parametrize("is_normalised", [False, True])
def test_back_propagation_is_the_rule_of_section_4(task, is_normalised):
    """dL/dx^(k-1) = W_k 1 (dL/dx^k), and dL/dlogits = (softmax - one-hot) / n."""
    widths = (digits.pixels(), 12, 8, 6, digits.HALF)
    network = digits.initialised(jax.random.key(1), widths, is_normalised)
    slopes, layers = figure_7.gradients(network, task), network.layers(task.images)
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
    network = digits.initialised(jax.random.key(1), (digits.pixels(), 12, 8, 3), True)
    wide = jax.tree.map(lambda leaf: 3 * leaf, network)
    rows = np.asarray(network._normalised(jnp.asarray(task.images) @ network.weights[0].T))
    np.testing.assert_allclose(rows.mean(0), 0, atol=SUMS_SINGLE)
    np.testing.assert_allclose(rows.std(0), 1, atol=LONG_SINGLE)
    first, second = (n.layers(task.images)[-2].given for n in (network, wide))
    np.testing.assert_allclose(first, second, atol=LONG_SINGLE)


def test_projections_are_one_for_isometries_and_for_random_weights_and_find_what_is_shrunk():
    slope = jax.random.normal(KEY, (50, 30)) * 0.8 ** jnp.arange(30)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    np.testing.assert_allclose(
        figure_7.projections(jnp.asarray(basis), slope, 5), 1, rtol=SUMS_SINGLE
    )
    weights = jax.random.normal(KEY, (400, 30, 30))
    found = jax.vmap(lambda w: figure_7.projections(w, slope, 3))(weights)
    np.testing.assert_allclose(np.mean(np.square(found), axis=0), 1, rtol=DRAWN)
    first = np.linalg.svd(np.asarray(slope, float))[2][0]
    without = jnp.asarray((np.eye(30) - np.outer(first, first)) @ basis)
    shrunk = figure_7.projections(without, slope, 3)
    assert shrunk[0] < 1e-4 and np.all(np.asarray(shrunk[1:]) > 1)


def test_the_variation_is_the_largest_change_along_the_gradient(network, task):
    slope = jax.grad(digits.loss)(network, task)
    here = plain_loss(network, task)

    def change(share):
        return plain_loss(jax.tree.map(lambda w, g: w - share * g, network, slope), task) - here

    largest = max(abs(change(share)) for share in np.linspace(0, 1, 21))
    assert float(figure_6.variation(network, task)) == pytest.approx(largest, rel=LONG_SINGLE)


def test_training_stops_at_the_level(network, task):
    losses = digits.path(network, task, 200, 1, lambda n: digits.loss(n, task))
    expected = int(np.argmax(np.asarray(losses) <= 0.5))
    end, count = minima.until(network, task, 0.5, 200)
    assert int(count) == expected > 0
    assert float(digits.loss(end, task)) <= 0.5
    assert int(minima.until(network, task, 0.5, 3)[1]) == 3
    assert int(minima.until(network, task, 100.0, 200)[1]) == 0


def test_lanczos_finds_the_top_of_the_dense_spectrum(task):
    start = digits.initialised(jax.random.key(1), (digits.pixels(), 6, 5, digits.HALF))
    end = digits.trained(start, task, 100)
    flat, unravel = ravel_pytree(end)
    dense = jax.hessian(lambda vector: digits.loss(unravel(vector), task))(flat)
    exact = np.linalg.eigvalsh(np.asarray(dense, float))[::-1][:10]
    found = top_hessian_eigenvalues(
        lambda n: digits.loss(n, task), end, 10, iterations=100, key=jax.random.key(2)
    )
    np.testing.assert_allclose(
        found.eigenvalues, exact, rtol=STEPS_SINGLE, atol=STEPS_SINGLE * exact[0]
    )


def test_directions_have_filters_as_long_as_those_of_the_network(network, task):
    size = sum(weight.size for weight in network.weights)
    along = minima.direction(network, jax.random.normal(KEY, (size,)))
    for weight, part in zip(network.weights, along.weights, strict=True):
        lengths = [np.linalg.norm(matrix, axis=1) for matrix in (weight, part)]
        np.testing.assert_allclose(*lengths, rtol=SUMS_SINGLE)
    assert all(np.all(bias == 0) for bias in along.biases)
    middle = minima.middle_alone(along)
    moved = [bool(np.any(weight != 0)) for weight in middle.weights]
    assert moved == [False, False, True, False]
    both = jax.tree.map(lambda *leaves: jnp.stack(leaves), along, middle)
    found = minima.changes(network, task, both)
    for row, one in zip(found, (along, middle), strict=True):
        for radius, change in zip(minima.RADII, row, strict=True):
            there = jax.tree.map(lambda a, b, r=radius: a + r * b, network, one)
            expected = plain_loss(there, task) - plain_loss(network, task)
            assert float(change) == pytest.approx(expected, abs=SUMS_SINGLE)


def test_the_printed_grid_is_a_tenth_of_the_gradient_wide(network, task):
    size = sum(weight.size for weight in network.weights)
    along = minima.middle_alone(minima.direction(network, jax.random.normal(KEY, (size,))))
    middle = len(network.weights) // 2
    slope = np.linalg.norm(jax.grad(digits.loss)(network, task).weights[middle])
    length = np.linalg.norm(along.weights[middle])

    def at(place: int) -> float:
        by = 0.1 * slope * place / length
        there = jax.tree.map(lambda a, b: a + by * b, network, along)
        return float(digits.loss(there, task))

    heights = [at(place) for place in range(-100, 101)]
    one = jax.tree.map(lambda leaf: leaf[None], along)
    (found,) = minima.changes_to_the_next(network, task, one)
    expected = np.mean(np.abs(np.diff(heights)))
    assert float(found) == pytest.approx(expected, rel=LONG_SINGLE)


class Height(NamedTuple):
    """One number of every run."""

    height: Float[Array, ""]


def test_a_null_without_runs_sees_other_results():
    low = claims.on_average("low", lambda r: r.sim.height, lambda r: 0.0)
    (null,) = seen((low,), lambda found: Height(-found.height))
    x = claims.Space().sample(KEY, {})
    run = claims.Run(x, None, Height(jnp.asarray([-1.0, -2.0])), 2)
    assert null.name == low.name
    assert list(np.asarray(null.lhs(run))) == [1, 2]
    assert list(np.asarray(low.lhs(run))) == [-1, -2]


def test_infinite_width_is_that_of_theorem_1_and_wide_networks_are_near_it():
    images = digits.drawn(KEY)
    source = section_6.task(images.images[:30], images.labels[:30] < 5)
    target = section_6.task(images.images[30:50], images.labels[30:50] < 5)
    np.testing.assert_allclose(np.linalg.norm(source.inputs, axis=1), 1, rtol=FEW_SINGLE)
    gram, cross, own = (
        np.asarray(kernels.tangent_gram(a.inputs, b.inputs), float)
        for a, b in ((source, source), (source, target), (target, target))
    )
    transferred = cross.T @ np.linalg.solve(gram, np.asarray(source.labels, float))
    rest = np.asarray(target.labels) - transferred

    def after(width, steps, key=KEY):
        return section_6.pretrained(section_6.untrained(key, width, source), source, steps)

    endless = section_6.mismatches(after(4, 100_000), target).predicted
    assert float(endless) == pytest.approx(np.sum(rest**2) / 20, rel=ENDLESS)
    far = section_6.distances(after(4, 100_000), target, 100_000, 100_000).predicted[-1]
    assert float(far) == pytest.approx(np.sqrt(rest @ np.linalg.solve(own, rest)), rel=ENDLESS)
    untouched = section_6.mismatches(after(4, 0), target)
    assert float(untouched.measured) == pytest.approx(1) == float(untouched.predicted)

    def gaps(width):
        """Root mean squares over networks."""

        def one(key):
            state = after(width, 60, key)
            mismatch = section_6.mismatches(state, target)
            distance = section_6.distances(state, target, 60, 60)
            apart = [both.measured - both.predicted for both in (mismatch, distance)]
            return jnp.stack([apart[0], apart[1][-1]])

        squares = jnp.square(jax.lax.map(one, jax.random.split(KEY, 6)))
        return np.sqrt(np.mean(squares, axis=0))

    assert np.all(gaps(4096) < gaps(64) / 2)  # the root of 64 is 8


def test_sums_of_squares_and_lines_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    given, values = rng.normal(size=(2, 3, 7))
    for found, a, b in zip(table.proportional(given, values), given, values, strict=True):
        np.testing.assert_allclose(found, a * np.linalg.lstsq(a[:, None], b)[0], rtol=SUMS_SINGLE)
    expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(given, values, strict=True)]
    np.testing.assert_allclose(table.correlation(given, values), expected, rtol=SUMS_SINGLE)
    np.testing.assert_allclose(
        section_6.about_the_mean(values), 7 * values.var(1), rtol=SUMS_SINGLE
    )


def test_the_printed_table_has_a_correlation_and_no_constant_ratio():
    """Of the two settings: what docs/papers/transferability.md says of Table 1."""
    errors, moved = (np.array(rows) for rows in (table.ERRORS, table.DEVIATIONS))
    exact = [np.corrcoef(a, b)[0, 1] for a, b in zip(errors, moved, strict=True)]
    np.testing.assert_allclose(table.correlation(errors, moved), exact, rtol=SUMS_SINGLE)
    np.testing.assert_allclose(exact, (0.937, 0.784), atol=THREE_DIGITS)
    ranks = [spearmanr(a, b).statistic for a, b in zip(errors, moved, strict=True)]
    np.testing.assert_allclose(ranks, (0.7, 0.8))
    ratios = moved / errors
    np.testing.assert_allclose(ratios.max(1) / ratios.min(1), (31.3, 18.5), atol=ONE_DECIMAL)
    chances = [table_1_printed._chance(a, b) for a, b in zip(errors, moved, strict=True)]
    as_large = [
        sum(np.corrcoef(a, order)[0, 1] > r - 1e-12 for order in permutations(b))
        for a, b, r in zip(errors, moved, exact, strict=True)
    ]
    assert as_large == [4, 8]
    np.testing.assert_allclose(chances, np.array(as_large) / 120, rtol=ONE_SINGLE)


def test_a_relaxation_converges_and_neither_a_line_nor_what_a_logarithm_is_late_does():
    steps = 50.0 * np.arange(deviation.PARTS + 1)
    late = np.log(np.maximum(steps, 1))
    several = jnp.array([1 - np.exp(-steps / 100), steps, late])
    run = SimpleNamespace(sim=SimpleNamespace(deviation=several))
    room = figure_2.CONVERGE.rhs(run) - figure_2.CONVERGE.lhs(run)
    assert room[0] > 0 > room[1]
    assert room[2] == pytest.approx(0, abs=LONG_SINGLE)


def test_the_worst_target_is_chosen_by_the_other_half_of_the_runs():
    errors = jnp.array([[[0.0, 0.9, 0.1]], [[0.0, 0.8, 0.3]], [[0.5, 0.2, 0.3]], [[0.5, 0.1, 0.4]]])
    run = SimpleNamespace(sim=SimpleNamespace(error=errors))
    found = table_1._of_extreme(run, jnp.argmax)
    np.testing.assert_allclose(found[:, 0], (0.0, 0.0, 0.2, 0.1))


def test_distances_among_points_are_means_over_the_others():
    points = jnp.array([[0.0, 0.0], [3.0, 4.0], [0.0, 8.0]])
    np.testing.assert_allclose(figure_4._among(points), (6.5, 5.0, 6.5))
    np.testing.assert_allclose(figure_4._apart(points, points[::-1]), (8, 0, 8))


def test_sources_differ_in_inputs_or_in_labels():
    found = sources._sources(digits.part(digits.drawn(KEY), 0, 40), KEY)
    images, labels = found.task
    for place in (sources.PARITY, sources.BRIGHTNESS, sources.SHUFFLED):
        np.testing.assert_array_equal(images[place], images[sources.SAME])
    for place in (sources.UPSIDE_DOWN, sources.PERMUTED):
        np.testing.assert_array_equal(labels[place], labels[sources.SAME])
        np.testing.assert_array_equal(found.is_positive[place], found.is_positive[sources.SAME])
    np.testing.assert_array_equal(labels[sources.PARITY], labels[sources.SAME] % 2)
    np.testing.assert_array_equal(np.sort(labels[sources.SHUFFLED]), np.sort(labels[sources.SAME]))


def test_checkpoints_are_those_of_the_ladder_and_wrong_labels_as_many_as_said():
    x = figure_9.theorem.space.sample(KEY, figure_9.theorem.space.default_sizes())
    assert list(figure_9.checkpoints(x)) == [0, 10, 30, 100, 300, 1000, 3000]
    labels = jnp.zeros(20_000, int)
    found = np.bincount(figure_9._with_noise(labels, 0.5, KEY), minlength=10) / 20_000
    np.testing.assert_allclose(found, [0.55] + [0.05] * 9, atol=OF_20000)


def test_the_best_checkpoint_is_chosen_by_the_other_half_of_the_runs():
    values = jnp.array([[0.0, 9.0, 1.0], [0.0, 8.0, 3.0], [0.0, 2.0, 3.0], [0.0, 1.0, 4.0]])
    np.testing.assert_array_equal(figure_9._best(values), (2, 2, 1, 1))
    np.testing.assert_array_equal(figure_9._at_best(values), (1, 3, 2, 1))


def drawn_starts(null, steps):
    x = figure_6.theorem.space.sample(KEY, figure_6.theorem.space.default_sizes())
    return starts.drawn(x, KEY, (32, 32), False, null, steps)


def test_starts_share_a_head_that_knows_nothing_and_the_last_keeps_its_own():
    found = drawn_starts(starts.Null(), 200)
    head = found.starts.weights[-1]
    assert np.array_equal(head[0], head[1]) and np.array_equal(head[0], head[2])
    assert not np.array_equal(head[2], head[3])
    np.testing.assert_array_equal(found.starts.weights[0][2], found.starts.weights[0][3])
    errors = jax.vmap(lambda network: digits.error(network, found.test))(found.starts)
    assert np.all(np.asarray(errors[:3]) > 0.4) and errors[3] < 0.15  # by chance: 0.8
    both = np.concatenate([found.task.images, found.test.images])
    assert len(np.unique(both, axis=0)) == len(both)


def test_nulls_of_starts_take_away_what_they_say():
    untrained = drawn_starts(starts.Null(), 0)
    for layer in untrained.starts.weights[:-1]:
        assert np.all(np.asarray(layer) == np.asarray(layer[0]))
    strangers = drawn_starts(starts.Null(is_pretrained=False), 200).starts.weights[0]
    assert np.array_equal(strangers[1], strangers[2])
    assert not np.array_equal(strangers[0], strangers[1])
    wrong = drawn_starts(starts.Null(has_labels=False), 200)
    errors = jax.vmap(lambda network: digits.error(network, wrong.test))(wrong.starts)
    assert errors[3] > 0.6
    kinds = starts.of_both_kinds(
        lambda x, key, flag, null: jnp.asarray(flag), None, KEY, starts.Null(is_normalised=False)
    )
    assert list(np.asarray(kinds)) == [False, False]
