"""The experiments on linear teachers against what is known without them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import LONG_SINGLE, STEPS_SINGLE, SUMS_SINGLE
from drawn import thorough

from theorysim.claims.run import Run
from theorysim.numerics.kernels import tangent_gram
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.systems import linear_regression as regression
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as relu_limit
from theorysim.theorems.linear_teachers import _deep_descent as deep
from theorysim.theorems.linear_teachers import _digit_pairs as pairs
from theorysim.theorems.linear_teachers import _growing_samples as samples
from theorysim.theorems.linear_teachers import (
    figure_1_trained,
    figure_2b_trained,
    figure_3_trained,
    table_1,
    theorem_6_1_trained,
)

TRAINED = 2e-3
"""what 6000 steps leave of the slowest mode of pretraining"""
TUNED = 5e-3
"""the same of pretraining and fine-tuning together"""
BALANCED = 0.03
"""how far layers that are small, not balanced, end from the limit of balanced ones"""
DESCENDED = 0.02
"""what 4000 steps leave of the slowest mode of few samples"""
ALIGNED = 1e-2
"""of eigenvectors in single precision, whose gaps are about a hundredth"""
WIDE = 0.01
"""a few times m^(-1/2) = 0.011 times the size of the risk, at 8192 units"""


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)


def least_norm(rows, labels, start):
    """The solution nearest to the start, by NumPy's pseudo-inverse."""
    rows, labels, start = (np.asarray(each, float) for each in (rows, labels, start))
    return start + np.linalg.pinv(rows) @ (labels - rows @ start)


def test_padded_rows_are_the_first_ones_to_a_mean_and_to_a_span():
    every, several = normal(0, 6, 9), (2, 5)
    padded, spans = jax.jit(lambda e: (samples.padded(e, several), samples.spans(e, several)))(
        every
    )
    vector = np.asarray(normal(1, 9))
    for rows, basis, count in zip(padded, spans, several, strict=True):
        first = np.asarray(every[:count], float)
        expected = np.mean((first @ vector) ** 2)
        assert np.mean((np.asarray(rows) @ vector) ** 2) == pytest.approx(expected, rel=SUMS_SINGLE)
        basis = np.asarray(basis)
        np.testing.assert_allclose(basis @ basis.T, np.linalg.pinv(first) @ first, atol=SUMS_SINGLE)


def test_the_triangle_has_the_loss_of_all_samples():
    rows, weights, teacher = normal(0, 30, 5), normal(1, 5, 1), normal(2, 5)
    triangle = deep.square(rows)
    assert triangle.shape == (5, 5)
    few, many = (network.loss((weights,), each, each @ teacher) for each in (triangle, rows))
    assert float(few) == pytest.approx(float(many), rel=STEPS_SINGLE)


@pytest.mark.parametrize("depth", [thorough(1), 3])
def test_pretraining_finds_the_source_and_descent_the_limit_of_the_theory(depth):
    source, target, rows = normal(0, 10) / 3, normal(1, 10) / 2, normal(2, 3, 10)
    ready = deep.pretrained(jax.random.key(3), depth, source, 6000)
    np.testing.assert_allclose(network.end_to_end(ready), source, atol=TRAINED)
    assert network.imbalance(ready) < 0.1
    end = network.end_to_end(deep.descend(ready, rows, target, 6000))
    if depth == 1:
        np.testing.assert_allclose(end, least_norm(rows, rows @ target, source), atol=TUNED)
    else:
        np.testing.assert_allclose(
            end, deep_limit.limit(rows, source, target, depth), atol=BALANCED
        )


def test_unbalanced_layers_have_the_same_product():
    layers = deep.balanced_start(jax.random.key(0), 3, jnp.asarray(2.0), 6)
    other = deep.unbalanced(layers)
    np.testing.assert_allclose(
        network.end_to_end(other), network.end_to_end(layers), rtol=STEPS_SINGLE, atol=1e-5
    )
    assert network.imbalance(layers) < 1e-5 < network.imbalance(other)


def test_regression_of_figure_1_is_the_one_that_is_nearest_to_the_start():
    x = figure_1_trained.theorem.space.sample(jax.random.key(0), {"d": 50, "steps": 4000})
    found = jax.jit(figure_1_trained.simulate)(x, jax.random.key(1))
    np.testing.assert_allclose(found.risk[:, :8], found.predicted[:, :8], rtol=DESCENDED)
    rows, start, target = normal(0, 10, 50), normal(1, 2, 50), normal(2, 2, 50)
    ends = figure_1_trained._fine_tuned(rows, start, target @ rows.T, 3000)
    for end, one, goal in zip(ends, start, target, strict=True):
        np.testing.assert_allclose(end, least_norm(rows, rows @ goal, one), atol=LONG_SINGLE)


def test_curves_cross_between_two_numbers_of_samples():
    """Logarithms of Top over Bottom: from -2 to 2 about the third, never, and at the first."""
    shares = np.array(figure_1_trained.SHARES)
    ahead = np.full((3, len(shares)), -1.0)
    ahead[0, :2], ahead[0, 2], ahead[0, 3:] = -3, -2, 2
    ahead[2] = 1
    curves = jnp.stack([jnp.exp(ahead), jnp.ones_like(ahead)], axis=1)
    space = figure_1_trained.theorem.space
    x = space.sample(jax.random.key(0), space.default_sizes())
    run = Run(x, (), figure_1_trained.Risks(curves, curves, curves))
    expected = [(shares[2] + shares[3]) / 2, shares[-1], shares[0]]
    found = figure_1_trained._crossing(run, "risk")
    np.testing.assert_allclose(found, expected, rtol=STEPS_SINGLE)


def test_teachers_of_figure_2b_are_as_far_apart_and_as_long_as_it_says():
    x = figure_2b_trained.theorem.space.sample(jax.random.key(0), {"d": 20, "steps": 500})
    sources, targets = figure_2b_trained._teachers(x, jax.random.key(1))
    lengths = [np.linalg.norm(np.asarray(each, float), axis=-1) for each in (sources, targets)]
    factors = np.array(figure_2b_trained.FACTORS)
    np.testing.assert_allclose(lengths[0], [factors, np.ones(4)], rtol=SUMS_SINGLE)
    np.testing.assert_allclose(lengths[1], [np.ones(4), factors], rtol=SUMS_SINGLE)
    apart = sources / lengths[0][..., None] - targets / lengths[1][..., None]
    np.testing.assert_allclose(np.linalg.norm(apart, axis=-1), 0.1, rtol=STEPS_SINGLE)


def test_theory_of_figure_3_is_that_of_each_number_of_samples():
    every, source, target, several = normal(0, 8, 12), normal(1, 12), normal(2, 12), (3, 8)
    seen, spans = samples.padded(every, several), samples.spans(every, several)
    theory = jax.jit(figure_3_trained._theory)
    frozen, vanilla, tuned = theory(seen, spans, source, target)
    for place, count in enumerate(several):
        rows = every[:count]
        fitted = np.asarray(rows @ source, float)[:, None]
        multiple = np.linalg.lstsq(fitted, np.asarray(rows @ target, float), rcond=None)[0][0]
        ends = (
            (frozen, multiple * source),
            (vanilla, least_norm(rows, rows @ target, np.zeros(12))),
            (tuned, jax.jit(deep_limit.limit)(rows, source, target, 2)),
        )
        for found, end in ends:
            expected = np.sum(np.square(np.asarray(end, float) - np.asarray(target, float)))
            assert float(found[place]) == pytest.approx(expected, rel=LONG_SINGLE)


def test_steps_in_the_coordinates_of_samples_are_those_of_the_weights():
    rows, labels = np.asarray(normal(0, 6, 20), float), np.asarray(normal(1, 6), float)
    gram, kept = rows @ rows.T, jnp.arange(6) < 4
    largest = np.linalg.eigvalsh(gram[:4, :4])[-1]
    weights = np.zeros(20)
    for _ in range(7):
        weights -= rows[:4].T @ (rows[:4] @ weights - labels[:4]) / largest
    found = pairs.descended(jnp.asarray(gram), kept, jnp.asarray(labels), 7, jnp.asarray(largest))
    np.testing.assert_allclose(found @ rows, weights, atol=STEPS_SINGLE)
    ends = pairs.interpolated(jnp.asarray(gram), kept, jnp.asarray(labels))
    expected = least_norm(rows[:4], labels[:4], np.zeros(20))
    np.testing.assert_allclose(ends @ rows, expected, atol=STEPS_SINGLE)


def test_teachers_are_descent_on_their_pair_and_turn_with_it():
    x = table_1.theorem.space.sample(
        jax.random.key(0), {"tasks": 8, "draws": 3, "images": 20, "steps": 25}
    )
    training = normal(0, 10, 20, 30)
    teachers = jax.jit(pairs._teachers)(x, training)
    place = pairs.PAIRS.index((2, 7))
    rows = np.asarray(training[jnp.array([2, 7])], float).reshape(40, 30)
    labels = np.repeat([1.0, -1.0], 20)
    law = np.linalg.eigh(rows.T @ rows / 40)
    values, vectors = law.eigenvalues[::-1], law.eigenvectors[:, ::-1]
    rest = values[2:].sum()
    np.testing.assert_allclose(teachers.eigenvalues[place], [*values[:2], rest], rtol=LONG_SINGLE)
    aligned = np.abs(np.asarray(teachers.top[place]) @ vectors[:, :2])
    np.testing.assert_allclose(aligned, np.eye(2), atol=ALIGNED)
    weights = np.zeros(30)
    for _ in range(25):
        weights -= rows.T @ (rows @ weights - labels) / (40 * values[0])
    np.testing.assert_allclose(teachers.weights[place, -1], weights, atol=LONG_SINGLE)
    (one, forth), (other, back) = pairs._of(teachers, 2, 7), pairs._of(teachers, 7, 2)
    assert one == other == place
    np.testing.assert_array_equal(forth, -back)


def test_bounds_are_those_of_the_catalogue():
    law = regression.Covariance(jnp.array([3.0, 2.0, 0.5, 0.25]), jnp.eye(4))
    difference = normal(0, 1, 4)
    shortened = jnp.array([3.0, 2.0, 0.75])
    distance, benign, ours = jax.jit(pairs._bounds)(shortened, jnp.eye(4)[:2], difference)
    covariance_estimation = jax.jit(regression.covariance_estimation)
    risk_bound = jax.jit(regression.risk_bound)
    for column, count in enumerate(pairs.COUNTS):
        size = covariance_estimation(law.eigenvalues, 1.0, count)
        assert float(benign[0, column]) == pytest.approx(float(size * distance[0, column]))
        for row, constant in enumerate(pairs.CONSTANTS):
            terms = risk_bound(law, difference[0], constant * size)
            expected = float(terms.top[1] + terms.bottom[1])
            assert float(ours[row, 0, column]) == pytest.approx(expected, rel=SUMS_SINGLE)


def test_correlations_and_choices_of_table_1():
    accuracy, bound = normal(0, 20, 3), normal(1, 20, 5, 3)
    found = jax.jit(table_1._squared)(accuracy[:, None], bound)
    expected = np.corrcoef(accuracy[:, 1], bound[:, 2, 1])[0, 1] ** 2
    assert float(found[2, 1]) == pytest.approx(expected, rel=STEPS_SINGLE)
    # The first run alone is best with the first choice, and must not take it.
    correlations = jnp.zeros((6, 2, 3)).at[0, 0].set(0.9).at[1:, 1].set(0.5)
    best = jax.jit(table_1.at_its_best)(correlations)
    np.testing.assert_allclose(best[0], 0.0)
    np.testing.assert_allclose(best[1:], 0.5)


SIZES = {"d": 8, "n_source": 16, "unseen": 32, "width": 64, "steps": 50}


@pytest.mark.thorough
def test_networks_without_fine_tuning_stay_and_wide_ones_come_to_the_kernel():
    space = theorem_6_1_trained.theorem.space
    still = theorem_6_1_trained.without_fine_tuning(
        space.sample(jax.random.key(0), SIZES), jax.random.key(1)
    )
    assert np.all(np.asarray(still.moved) == 0)
    assert np.all(np.asarray(still.bound) > 0)
    wide = space.sample(jax.random.key(0), {**SIZES, "width": 8192})
    found = jax.jit(theorem_6_1_trained.simulate)(wide, jax.random.key(1))
    np.testing.assert_allclose(found.risk[-1], found.kernel_risk[-1], atol=WIDE)
    np.testing.assert_array_less(found.gram_error[-1], 0.05)


def test_the_kernel_of_both_stages_is_the_transfer_of_the_catalogue():
    x = theorem_6_1_trained.theorem.space.sample(jax.random.key(0), SIZES)
    rate, steps = theorem_6_1_trained.RATE, jnp.array([5])

    @jax.jit
    def both():
        """The risk of the statement, and that of the catalogue."""
        task = theorem_6_1_trained._task(x, jax.random.key(1), jnp.asarray(0.5), False)
        task = task._replace(unseen=task.target)
        fresh = relu.initialise(jax.random.key(2), 64, x.d, 0.3)
        untrained = theorem_6_1_trained._outputs(fresh, jax.tree.map(lambda each: each[None], task))
        count = len(task.target.labels)
        found = theorem_6_1_trained._at_infinite_width(x, untrained, task, count, 5)
        inputs = jnp.concatenate([task.source.inputs, task.target.inputs])

        def stage(task, steps):
            return relu_limit.Stage(task.labels, relu.outputs(fresh, task.inputs), rate, steps)

        stages = stage(task.source, x.steps), stage(task.target, steps)
        gram = tangent_gram(inputs, inputs)
        ends = relu_limit.transfer(gram, *stages, normalisation="mean")
        apart = jnp.abs(ends.target_outputs[0] - task.target.labels)
        return found, jnp.mean(jnp.minimum(apart, 1))

    found, expected = both()
    assert float(found) == pytest.approx(float(expected), rel=LONG_SINGLE)
