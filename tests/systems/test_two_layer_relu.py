"""Finite ReLU networks against unit-by-unit NumPy, exact laws of the initialisation, identities."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.numerics import kernels
from theorysim.systems import two_layer_relu as relu
from validation.oracles import two_layer_relu as oracle

pytestmark = pytest.mark.usefixtures("x64")

EPS = float(np.finfo(np.float64).eps)
KEY = jax.random.key(4)

initialise = jax.jit(relu.initialise, static_argnums=(1, 2, 4))
outputs = jax.jit(relu.outputs)
empirical_gram = jax.jit(relu.empirical_gram)
tangent_gram = jax.jit(kernels.tangent_gram)


@partial(jax.jit, static_argnums=(0, 1))
def units(count, dimension, seed=0):
    rows = jax.random.normal(jax.random.key(seed), (count, dimension))
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


@partial(jax.jit, static_argnums=(0, 1))
def task(samples=5, dimension=4, seed=0):
    labels = jax.random.uniform(jax.random.key(seed + 100), (samples,), minval=-1, maxval=1)
    return relu.Task(units(samples, dimension, seed), labels)


def arrays(*values):
    return tuple(np.asarray(value) for value in values)


def test_outputs_are_the_printed_sum():
    network, inputs = initialise(KEY, 37, 4, 0.7), units(6, 4)
    np.testing.assert_allclose(
        outputs(network, inputs), oracle.outputs(*arrays(*network, inputs)), atol=37 * EPS
    )


@pytest.mark.parametrize(("normalisation", "factor"), [("mean", 2 / 5), ("half_sum", 1.0)])
def test_descent_takes_the_printed_steps(normalisation, factor):
    network, problem, rate, steps = initialise(KEY, 30, 4, 1.0), task(), 0.8, 12
    train = partial(relu.train, network, problem, rate, steps, every=4)
    path = np.asarray(jax.jit(partial(train, normalisation=normalisation))())
    assert path.shape == (4, 30, 4)
    for index in range(4):
        weights, signs, inputs, labels = arrays(*network, *problem)
        expected = oracle.descent(weights, signs, inputs, labels, factor * rate, 4 * index)
        np.testing.assert_allclose(path[index], expected, rtol=0, atol=32 * steps * EPS)
    last = relu.train_to(network, problem, rate, jnp.int32(steps), normalisation=normalisation)
    np.testing.assert_allclose(last.weights, path[-1], rtol=0, atol=steps * EPS)
    residual = oracle.outputs(*arrays(*last, problem.inputs)) - np.asarray(problem.labels)
    assert float(relu.loss(last, problem, normalisation)) == pytest.approx(
        factor / 2 * residual @ residual, rel=64 * EPS, abs=0
    )


def test_units_are_active_at_zero():
    network = relu.Network(jnp.array([[0.0, 1.0]]), jnp.ones(1))
    problem = relu.Task(jnp.array([[1.0, 0.0]]), jnp.ones(1))
    moved = relu.train_to(network, problem, 0.25, 1, normalisation="half_sum")
    np.testing.assert_array_equal(moved.weights, [[0.25, 1.0]])
    gram = relu.empirical_gram(network, problem.inputs, network, problem.inputs)
    np.testing.assert_array_equal(gram, [[1.0]])


@pytest.mark.parametrize("block", [thorough(1), 7, thorough(16), 64])
def test_blocks_change_nothing_but_rounding(block):
    network, problem = initialise(KEY, 64, 4, 1.0), task()
    reference = initialise(jax.random.key(9), 64, 4, 1.0)
    reference = reference._replace(signs=network.signs)

    @partial(jax.jit, static_argnums=0)
    def everything(block):
        def objective(weights):
            return relu.loss(network._replace(weights=weights), problem, "mean", block=block)

        return (
            jax.grad(objective)(network.weights),
            relu.observe(network, reference, problem, "mean", block=block),
            relu.empirical_gram(network, problem.inputs, reference, problem.inputs, block=block),
        )

    jax.tree.map(
        partial(np.testing.assert_allclose, rtol=0, atol=64 * EPS),
        everything(block),
        everything(64),
    )


def test_memory_does_not_hold_inputs_times_width():
    samples, width = 256, 32_768
    problem = task(samples, 8)
    shapes = jax.eval_shape(lambda: relu.initialise(KEY, width, 8, 1.0))

    def needed(**options):
        run = partial(relu.train_to, learning_rate=0.1, steps=3, normalisation="mean", **options)
        analysis = jax.jit(run).lower(shapes, problem).compile().memory_analysis()
        assert analysis is not None
        return analysis.temp_size_in_bytes

    assert needed() < samples * width * 8 / 2
    assert needed(block=width) > samples * width * 8  # what the blocks avoid


def test_observations_by_hand():
    problem = task(6)
    start = initialise(KEY, 50, 4, 1.0)
    network = jax.jit(partial(relu.train_to, normalisation="half_sum"))(start, problem, 1.5, 20)
    seen = jax.jit(relu.observe, static_argnums=3)(network, start, problem, "half_sum")
    old, new, inputs = arrays(start.weights, network.weights, problem.inputs)
    changed = (inputs @ new.T >= 0) != (inputs @ old.T >= 0)
    np.testing.assert_array_equal(seen.flips, changed.sum(axis=1))
    assert changed.sum() > 0
    labels = np.asarray(problem.labels)
    residual = oracle.outputs(*arrays(*network, inputs)) - labels
    for found, expected in (
        (seen.outputs, residual + labels),
        (seen.loss, residual @ residual / 2),
        (seen.distance, np.linalg.norm(new - old)),
        (seen.movement, np.linalg.norm(new - old, axis=1).max()),
        (seen.margin, np.abs(inputs @ new.T).min()),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=64 * EPS)

    @jax.jit
    def features(weights):
        return jax.jacobian(lambda w: relu.outputs(start._replace(weights=w), problem.inputs))(
            weights
        )

    gap = np.subtract(features(network.weights), features(start.weights))
    # Every flipped unit changes its block of the features by x_i / sqrt(m).
    assert np.sum(np.square(gap)) == pytest.approx(changed.sum() / 50, rel=64 * EPS)


def test_empirical_gram_counts_and_is_the_product_of_jacobians():
    problem, other = task(4), units(3, 4, 8)
    before = initialise(KEY, 40, 4, 1.0)
    after = jax.jit(partial(relu.train_to, normalisation="half_sum"))(before, problem, 1.0, 30)
    found = empirical_gram(before, problem.inputs, after, other)
    expected = oracle.gram(*arrays(before.weights, problem.inputs, after.weights, other))
    np.testing.assert_allclose(found, expected, rtol=0, atol=16 * EPS)

    @jax.jit
    def features(network, inputs):
        values = partial(relu.outputs, inputs=inputs)
        jacobian = jax.jacobian(lambda w: values(network._replace(weights=w)))(network.weights)
        return jacobian.reshape(len(inputs), -1)

    product = np.asarray(features(before, problem.inputs)) @ np.asarray(features(after, other)).T
    np.testing.assert_allclose(found, product, rtol=0, atol=64 * EPS)


@pytest.mark.thorough  # it counts exactly beside
def test_empirical_gram_has_the_exact_mean_and_variance():
    inputs, width, draws, scale = units(3, 3), 16, 20_000, 0.3
    keys = jax.random.split(KEY, draws)

    def gram(key):
        network = relu.initialise(key, width, 3, scale)
        return relu.empirical_gram(network, inputs, network, inputs)

    samples = np.asarray(jax.jit(jax.vmap(gram))(keys))
    chance = np.asarray(jax.jit(kernels.coactivation)(inputs, inputs))
    variance = np.square(np.inner(inputs, inputs)) * chance * (1 - chance) / width
    scores = (samples.mean(axis=0) - tangent_gram(inputs, inputs)) / np.sqrt(variance / draws)
    assert np.max(np.abs(scores)) < 4  # six distinct entries
    # A variance from N draws has relative error sqrt(2/N) where the excess kurtosis is small.
    np.testing.assert_allclose(samples.var(axis=0), variance, rtol=5 * np.sqrt(2 / draws))


@pytest.mark.thorough  # at infinite width it stays
@pytest.mark.parametrize("width", [1, 8])
def test_initial_outputs_have_the_activation_covariance_at_every_width(width):
    inputs, draws, scale = units(3, 5), 100_000, 2.5
    values = jax.jit(
        jax.vmap(lambda key: relu.outputs(relu.initialise(key, width, 5, scale), inputs))
    )(jax.random.split(KEY, draws))
    values = np.asarray(values)
    products = values[:, :, None] * values[:, None, :]
    expected = scale**2 * np.asarray(jax.jit(kernels.activation_gram)(inputs, inputs))
    error = products.std(axis=0) / np.sqrt(draws)
    assert np.max(np.abs(products.mean(axis=0) - expected) / error) < 4  # six distinct entries
    assert np.max(error) < 0.03 * scale**2  # a factor two would be far outside


def test_silent_networks_are_silent():
    network = jax.jit(relu.initialise_silent, static_argnums=(1, 2))(KEY, 5000, 6, 30.0)
    weights, signs = arrays(*network)
    largest = np.max(np.abs(weights))
    # Partners are neighbours, and cancel exactly in whatever order pairs are summed.
    assert np.max(np.abs(outputs(network, units(20, 6)))) <= 5000**0.5 * EPS * largest
    assert np.sum(signs) == 0
    assert weights.std() == pytest.approx(30.0, rel=0.05)


def test_linear_networks_are_the_teacher_for_every_input():
    teacher = jnp.array([0.3, -2.0, 1.0, 0.5])
    network = jax.jit(relu.initialise_linear, static_argnums=1)(KEY, 5000, teacher, 3.0)
    inputs = 4 * jax.random.normal(KEY, (50, 4))
    weights, rows = arrays(network.weights, inputs)
    rounding = 5000**0.5 * EPS * np.max(np.abs(weights)) * np.max(np.abs(rows))
    np.testing.assert_allclose(
        outputs(network, inputs), rows @ np.asarray(teacher), rtol=0, atol=8 * rounding
    )
    assert weights[::2].std() == pytest.approx(3.0, rel=0.05)


@pytest.mark.parametrize(
    "make",
    [
        thorough(lambda key, width: relu.initialise_silent(key, width, 4, 1.0)),
        lambda key, width: relu.initialise_linear(
            key, width, jnp.array([1.0, -1.0, 0.0, 2.0]), 1.0
        ),
    ],
    ids=["silent", "linear"],
)
def test_paired_initialisations_have_the_same_infinite_kernel(make):
    inputs = units(4, 4)
    expected = tangent_gram(inputs, inputs)

    def error(width):
        def one(key):
            network = make(key, width)
            return relu.empirical_gram(network, inputs, network, inputs) - expected

        gaps = jax.jit(jax.vmap(one))(jax.random.split(KEY, 40))
        return np.sqrt(np.mean(np.square(gaps)))

    # 40 draws of 10 entries: the ratio is 8 up to some ten percent.
    assert error(32) / error(2048) == pytest.approx(8, rel=0.35)


def test_networks_are_homogeneous():
    network, inputs = initialise(KEY, 90, 3, 1.0), units(5, 3)
    scaled = network._replace(weights=1e-3 * network.weights)
    expected = 1e-3 * np.asarray(outputs(network, inputs))
    np.testing.assert_allclose(outputs(scaled, inputs), expected, rtol=0, atol=EPS)


@pytest.mark.thorough
def test_many_initialisations_at_once():
    problem, keys = task(), jax.random.split(KEY, 3)

    def run(key):
        network = relu.initialise(key, 20, 4, 1.0)
        return relu.train(
            network,
            problem,
            0.5,
            6,
            normalisation="mean",
            every=3,
            block=8,
            record=lambda now: relu.observe(now, network, problem, "mean", block=8),
        )

    together = jax.jit(jax.vmap(run))(keys)
    assert together.outputs.shape == (3, 3, 5)
    jax.tree.map(
        partial(np.testing.assert_allclose, rtol=0, atol=64 * EPS),
        jax.tree.map(lambda leaf: np.asarray(leaf)[1], together),
        jax.jit(run)(keys[1]),
    )


def test_single_precision_stays_single():
    network, problem = initialise(KEY, 64, 4, 1.0, jnp.float32), task()
    low = relu.Task(*(part.astype(jnp.float32) for part in problem))
    run = jax.jit(partial(relu.train_to, learning_rate=0.3, steps=10, normalisation="mean"))
    moved = run(network, low)
    seen = jax.jit(relu.observe, static_argnums=3)(moved, network, low, "mean")
    gram = empirical_gram(network, low.inputs, moved, low.inputs)
    for leaf in (moved.weights, seen.outputs, seen.loss, seen.distance, gram):
        assert leaf.dtype == jnp.float32
    wide = relu.Network(*(part.astype(jnp.float64) for part in network))
    np.testing.assert_allclose(
        moved.weights,
        run(wide, problem).weights,
        rtol=0,
        atol=100 * float(np.finfo(np.float32).eps),
    )


def test_nan_is_passed_on():
    network = initialise(KEY, 10, 4, 1.0)
    broken = network._replace(weights=network.weights.at[3, 1].set(jnp.nan))
    assert np.all(np.isnan(outputs(broken, units(3, 4))))


def test_divergence_is_named():
    network, problem = initialise(KEY, 64, 4, 1.0), task()

    def losses(rate):
        record = partial(relu.loss, task=problem, normalisation="half_sum")
        return relu.train(
            network, problem, rate, 400, normalisation="half_sum", record=record, every=40
        )

    with pytest.raises(ValueError, match=r"diverges at learning rate 40; .* 2/lambda_max = \d"):
        losses(40.0)
    relu.check_descent(losses(0.5), 0.5, 2.0)
    relu.check_descent(np.array([0.0, 1e-33, 1e-32]), 0.5, 2.0)  # rounding at the minimum
    with pytest.raises(ValueError, match=r"diverged: the loss rose .* rate 40; use one below"):
        relu.check_descent(jax.jit(losses)(40.0), 40.0, 2.0)
    with pytest.raises(ValueError, match=r"rose from 1 to nan .* record 2 on.*0\.7.*= 0\.5"):
        relu.check_descent(np.array([1.0, 0.9, 3.0, np.nan]), 0.7, 0.5)
    with pytest.raises(ValueError, match="record 1 on"):
        relu.check_descent(np.array([1.0, 2.0]), 0.7, 0.5)


def test_bad_tasks_are_refused_with_a_remedy():
    good = task()
    relu.check_task(good)
    relu.check_task(relu.Task(jnp.concatenate([good.inputs, -good.inputs]), jnp.ones(10)))
    cases = [
        (
            good._replace(inputs=good.inputs.at[2].multiply(1 + 1e-9)),
            "input 2 has length 1.0000000",
        ),
        (good._replace(inputs=good.inputs.at[1, 0].set(jnp.nan)), "input 1 has length nan"),
        (good._replace(inputs=good.inputs.at[4].set(good.inputs[1])), "inputs 1 and 4 coincide"),
        (good._replace(labels=good.labels.at[3].set(-1.5)), r"label 3 is -1.5, needed within \[-1"),
        (good._replace(labels=good.labels.at[0].set(jnp.nan)), "label 0 is nan"),
        (good._replace(labels=good.labels[1:]), r"shapes \(5, 4\) and \(4,\)"),
    ]
    for wrong, message in cases:
        with pytest.raises(ValueError, match=message):
            relu.check_task(wrong)
    relu.check_task(good._replace(labels=3 * good.labels), largest_label=3.0)


def test_other_bad_requests_are_refused():
    with pytest.raises(ValueError, match="width 7 must be even"):
        relu.initialise_silent(KEY, 7, 3, 1.0)
    with pytest.raises(ValueError, match="width 0 must be even"):
        relu.initialise_linear(KEY, 0, jnp.ones(3), 1.0)
    with pytest.raises(ValueError, match="'sum' is neither 'mean' nor 'half_sum'"):
        relu.curvature("sum", 4)
