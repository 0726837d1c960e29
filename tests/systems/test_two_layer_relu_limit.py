"""Infinite-width training against many digits, against linearised and against finite networks."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.numerics import kernels
from theorysim.numerics.descent import iterate
from theorysim.numerics.statistics import loglog_slope
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit
from validation.oracles import two_layer_relu as oracle

pytestmark = pytest.mark.usefixtures("x64")

EPS = float(np.finfo(np.float64).eps)
KEY = jax.random.key(8)

transfer = jax.jit(limit.transfer, static_argnames="normalisation")
kernel_descent = jax.jit(limit.kernel_descent)
tangent_gram = jax.jit(kernels.tangent_gram)


@partial(jax.jit, static_argnums=(0, 1))
def units(count, dimension, seed=0):
    rows = jax.random.normal(jax.random.key(seed), (count, dimension))
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


@partial(jax.jit, static_argnums=0)
def uniform(count, seed):
    return jax.random.uniform(jax.random.key(seed), (count,), minval=-1, maxval=1)


def stages(source=3, target=4, dimension=5, rates=(1.0, 0.7), steps=(9, (0, 1, 2, 7, 30))):
    """A joint Gram matrix with a pretraining and a fine-tuning stage."""
    inputs = units(source + target, dimension)
    gram = np.asarray(tangent_gram(inputs, inputs))
    labels, initial = (np.asarray(uniform(source + target, seed)) for seed in (1, 2))
    return (
        gram,
        limit.Stage(labels[:source], initial[:source], rates[0], steps[0]),
        limit.Stage(labels[source:], initial[source:], rates[1], np.asarray(steps[1])),
    )


def condition(gram):
    return float(np.linalg.cond(gram))


@pytest.mark.parametrize(
    ("normalisation", "rates"),
    [
        ("half_sum", (1.0, 0.7)),
        ("half_sum", (1.9, 1.8)),
        ("mean", (2.0, 3.1)),
        ("mean", (0.01, 5.0)),
    ],
)
def test_both_stages_are_descent_of_a_linear_model_with_that_kernel(normalisation, rates):
    gram, pretraining, fine_tuning = stages(rates=rates)
    found = transfer(gram, pretraining, fine_tuning, normalisation=normalisation)
    found = jax.tree.map(np.asarray, found)
    factors = [
        relu.curvature(normalisation, stage.labels.size) for stage in (pretraining, fine_tuning)
    ]
    # Distances divide by eigenvalues; steps beyond 1/lambda alternate and need the parity.
    tolerance = 16 * EPS * condition(gram)
    for index, steps in enumerate((0, 1, 2, 7, 30)):
        exact = oracle.two_stages(
            gram,
            np.concatenate([pretraining.initial, fine_tuning.initial]),
            pretraining.labels,
            fine_tuning.labels,
            (factors[0] * rates[0], factors[1] * rates[1]),
            (9, steps),
        )
        source_gap = pretraining.labels - exact["source_outputs"]
        target_gap = fine_tuning.labels - exact["target_outputs"]
        for value, expected in (
            (found.source_outputs[index], exact["source_outputs"]),
            (found.target_outputs[0], exact["pretrained_target"]),
            (found.target_outputs[index], exact["target_outputs"]),
            (found.fine_tuning.residual[index], target_gap),
            (found.pretraining.distance, exact["pretraining_distance"]),
            (found.fine_tuning.distance[index], exact["fine_tuning_distance"]),
            (found.distance[index], exact["distance"]),
            (found.source_loss[index], factors[0] / 2 * source_gap @ source_gap),
            (found.target_loss[index], factors[1] / 2 * target_gap @ target_gap),
        ):
            np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance)


def test_coefficients_give_the_output_anywhere():
    gram, pretraining, fine_tuning = stages()
    found = transfer(gram, pretraining, fine_tuning, normalisation="half_sum")
    change = np.concatenate(
        [
            found.source_outputs - pretraining.initial[None],
            found.target_outputs - fine_tuning.initial[None],
        ],
        axis=1,
    )
    explained = np.asarray(found.coefficients) @ gram
    np.testing.assert_allclose(explained, change, rtol=0, atol=64 * EPS)


def test_no_pretraining_is_training_from_scratch():
    gram, pretraining, fine_tuning = stages(steps=(0, (0, 3)))
    found = transfer(gram, pretraining, fine_tuning, normalisation="mean")
    found = jax.tree.map(np.asarray, found)
    for outputs, stage in (
        (found.target_outputs, fine_tuning),
        (found.source_outputs, pretraining),
    ):
        np.testing.assert_allclose(outputs[0], stage.initial, rtol=0, atol=16 * EPS)
    assert found.pretraining.distance == found.fine_tuning.distance[0] == found.distance[0] == 0
    np.testing.assert_allclose(found.distance, found.fine_tuning.distance, rtol=0, atol=16 * EPS)


def test_infinite_training_interpolates_along_the_shortest_way():
    gram, pretraining, fine_tuning = stages(steps=(np.inf, (np.inf,)))
    found = transfer(gram, pretraining, fine_tuning, normalisation="half_sum")
    source, cross, target = gram[:3, :3], gram[:3, 3:], gram[3:, 3:]
    assert np.all(np.asarray(found.target_loss) == 0)
    moved = pretraining.labels - pretraining.initial
    start = fine_tuning.initial + cross.T @ np.linalg.solve(source, moved)
    gap = fine_tuning.labels - start
    expected = np.sqrt(oracle.quadratic_form(target, gap))
    relative = 16 * EPS * condition(gram)
    assert float(found.fine_tuning.distance[0]) == pytest.approx(expected, rel=relative, abs=0)
    found = limit.complexity(jnp.asarray(target), jnp.asarray(gap))
    assert 2 * float(found) == pytest.approx(expected, rel=relative, abs=0)  # sqrt(4 samples)


def test_slow_modes_keep_their_digits():
    gram, residual = jnp.array([[0.5]]), jnp.array([2.0])
    rate, steps = 2e-13, 1000
    found = kernel_descent(gram, residual, rate, steps)
    # 1 - (1 - s)^k = k s (1 - (k - 1) s / 2 + ...): the third term is below eps here.
    shrink = rate / 2
    progress = steps * shrink * (1 - (steps - 1) * shrink / 2)
    assert float(found.distance) == pytest.approx(progress * 2 / np.sqrt(0.5), rel=8 * EPS, abs=0)
    far = kernel_descent(gram, residual, rate, 10**15)
    assert float(far.residual[0]) == pytest.approx(2 * np.exp(-100.0), rel=1e-10, abs=0)


def test_distances_grow_below_one_over_lambda_max_only():
    gram, _, stage = stages()
    target = gram[3:, 3:]
    gap, largest = stage.labels, float(np.linalg.eigvalsh(target)[-1])

    def steps_taken(rate):
        run = jax.vmap(kernel_descent, (None, None, None, 0))
        return np.diff(run(target, gap, rate, np.arange(40)).distance)

    assert np.all(steps_taken(1 / largest) >= -8 * EPS)
    assert np.min(steps_taken(1.99 / largest)) < -1e-3


def test_weights_that_return_are_seen_to_return():
    """Fine-tuning back to the initial outputs undoes pretraining; a difference of squares would
    leave sqrt(eps)."""
    inputs = np.tile(units(4, 6), (2, 1))
    gram = np.asarray(tangent_gram(inputs, inputs))
    initial = uniform(4, 2)
    away = limit.Stage(uniform(4, 1), initial, 1.0, np.inf)
    back = limit.Stage(initial, initial, 1.0, np.array([np.inf]))
    found = transfer(gram, away, back, normalisation="half_sum")
    assert float(found.pretraining.distance) > 1
    assert float(found.distance[0]) <= 64 * EPS * condition(gram[:4, :4])


def test_repeated_inputs_leave_their_mode_at_rest():
    inputs = np.asarray(units(3, 4))
    inputs = np.concatenate([inputs, inputs[:1]])
    gram = tangent_gram(inputs, inputs)
    residual = jnp.array([1.0, 0.3, -0.2, 0.5])
    found = kernel_descent(gram, residual, 0.5, np.inf)
    # The two equal inputs meet in the middle, the others are learnt.
    np.testing.assert_allclose(found.residual, [0.25, 0, 0, -0.25], rtol=0, atol=16 * EPS)
    mean = np.array([0.75, 0.3, -0.2])
    regular = np.asarray(gram)[:3, :3]
    once = oracle.quadratic_form(regular, mean)
    assert float(found.distance) == pytest.approx(np.sqrt(once), rel=64 * EPS, abs=0)
    assert np.isnan(jax.jit(limit.complexity)(gram, residual))
    with pytest.raises(ValueError, match=r"singular: smallest eigenvalue .* remove repeated"):
        limit.complexity(gram, residual)
    limit.check_gram(regular)


@pytest.mark.parametrize("normalisation", ["mean", "half_sum"])
def test_largest_learning_rate_separates_convergence(normalisation):
    gram, _, stage = stages()
    target, labels = jnp.asarray(gram[3:, 3:]), jnp.asarray(stage.labels)
    edge = float(limit.largest_learning_rate(target, normalisation))

    def final(factor):
        rate = relu.curvature(normalisation, 4) * factor * edge
        return jnp.linalg.norm(limit.kernel_descent(target, labels, rate, 100_000).residual)

    assert final(0.999) < 1e-30
    assert final(1.001) > 1e30
    assert not np.isfinite(jax.jit(final)(1.1))
    with pytest.raises(ValueError, match=r"learning rate .* exceeds 2/lambda_max = .* smaller"):
        final(1.1)
    limit.check_learning_rate(target, 0.999 * edge, normalisation)
    for rate in (edge, 1.5 * edge):
        with pytest.raises(ValueError, match=rf"exceeds 2/lambda_max = {edge:.6g}: choose"):
            limit.check_learning_rate(target, rate, normalisation)
    for rate in (0.0, float("nan")):
        with pytest.raises(ValueError, match=rf"is not positive: choose one below {edge:.6g}"):
            limit.check_learning_rate(target, rate, normalisation)


def test_empirical_kernels_give_the_linearised_network():
    """With the Gram matrix of a finite network: exactly descent of its first-order expansion."""
    network = jax.jit(relu.initialise, static_argnums=(1, 2))(KEY, 30, 5, 1.0)
    inputs = units(7, 5)
    labels, initial = map(np.asarray, (uniform(7, 1), jax.jit(relu.outputs)(network, inputs)))

    def linear(weights):
        tangent = (weights - network.weights,)
        run = lambda w: relu.outputs(network._replace(weights=w), inputs)  # noqa: E731
        value, change = jax.jvp(run, (network.weights,), tangent)
        return value + change

    def descend(weights, part, steps):
        slope = jax.grad(lambda w: jnp.sum(jnp.square((linear(w) - labels)[part])) / 2)
        return iterate(lambda w: w - 0.9 * slope(w), weights, steps)

    @jax.jit
    def both_stages():
        pretrained = descend(network.weights, slice(0, 3), 10)[-1]
        path = descend(pretrained, slice(3, 7), 12)
        return pretrained, path, jax.vmap(linear)(path)

    pretrained, path, outputs = map(np.asarray, both_stages())
    gram = np.asarray(jax.jit(relu.empirical_gram)(network, inputs, network, inputs))
    found = transfer(
        gram,
        limit.Stage(labels[:3], initial[:3], 0.9, 10),
        limit.Stage(labels[3:], initial[3:], 0.9, np.arange(13)),
        normalisation="half_sum",
    )
    together = np.concatenate([found.source_outputs, found.target_outputs], axis=1)
    tolerance = 64 * EPS * condition(gram)
    np.testing.assert_allclose(together, outputs, rtol=0, atol=tolerance)
    for distance, start in (
        (found.distance, np.asarray(network.weights)),
        (found.fine_tuning.distance, pretrained),
    ):
        expected = np.linalg.norm((path - start).reshape(13, -1), axis=1)
        np.testing.assert_allclose(distance, expected, rtol=0, atol=tolerance)


def widths_errors(width, seeds, steps=40):
    """Root mean squares, over seeds, of finite minus infinite width after both stages."""
    inputs, labels = units(8, 5), uniform(8, 1)
    source, target = relu.Task(inputs[:4], labels[:4]), relu.Task(inputs[4:], labels[4:])
    gram = kernels.tangent_gram(inputs, inputs)
    train = partial(relu.train_to, learning_rate=1.0, normalisation="half_sum")

    def one(key):
        start = relu.initialise(key, width, 5, 1.0)
        pretrained = train(start, source, steps=steps)
        tuned = train(pretrained, target, steps=5)
        initial = relu.outputs(start, inputs)
        found = limit.transfer(
            gram,
            limit.Stage(source.labels, initial[:4], 1.0, steps),
            limit.Stage(target.labels, initial[4:], 1.0, jnp.array([5])),
            normalisation="half_sum",
        )
        within = relu.observe(tuned, pretrained, target, "half_sum")
        across = relu.observe(tuned, start, source, "half_sum")
        return {
            "target outputs": within.outputs - found.target_outputs[0],
            "source outputs": across.outputs - found.source_outputs[0],
            "loss": within.loss - found.target_loss[0],
            "distance within": within.distance - found.fine_tuning.distance[0],
            "distance across": across.distance - found.distance[0],
        }

    errors = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(width), seeds))
    return {name: float(jnp.sqrt(jnp.mean(jnp.square(gap)))) for name, gap in errors.items()}


@pytest.mark.thorough  # two minutes of a core; the kernels and both stages have tests of their own
def test_finite_networks_approach_the_limit_as_one_over_root_width():
    widths = 2.0 ** np.arange(8, 14)
    errors = [widths_errors(int(width), seeds=128) for width in widths]
    for name in errors[0]:
        slope = loglog_slope(widths, np.array([error[name] for error in errors]))
        assert slope.low <= -0.5 <= slope.high, (name, slope)
        # The claim can fail: exponents -1/4 and -1 are excluded.
        assert slope.low > -1 and slope.high < -0.25, (name, slope)


def test_initial_outputs_are_gaussian_with_the_activation_covariance():
    inputs, draws = np.asarray(units(3, 4)), 100_000
    inputs = jnp.asarray(np.concatenate([inputs, -inputs[:1]]))
    keys = jax.random.split(KEY, draws)
    sample = partial(limit.sample_initial_outputs, inputs=inputs, scale=0.2)
    values = np.asarray(jax.jit(jax.vmap(sample))(keys))
    products = values[:, :, None] * values[:, None, :]
    expected = 0.04 * np.asarray(jax.jit(kernels.activation_gram)(inputs, inputs))
    scores = (products.mean(axis=0) - expected) / (products.std(axis=0) / np.sqrt(draws))
    assert np.max(np.abs(scores)) < 4  # ten distinct entries
    # Gaussian: the fourth moment is three times the squared second, within sqrt(96/N).
    kurtosis = np.mean(values**4, axis=0) / np.mean(values**2, axis=0) ** 2
    np.testing.assert_allclose(kurtosis, 3, atol=5 * np.sqrt(96 / draws))


def test_complexity_has_derivatives_where_eigenvalues_coincide():
    inputs = np.eye(4)[:3]

    @jax.jit
    def value(rows):
        return limit.complexity(kernels.tangent_gram(rows, rows), jnp.array([1.0, -2.0, 0.5]))

    assert value(inputs) == pytest.approx(np.sqrt(2 * 5.25 / 3), rel=8 * EPS)
    slope, step = np.asarray(jax.grad(value)(inputs)), EPS ** (1 / 3)
    direction = np.asarray(jax.random.normal(KEY, inputs.shape))
    sides = [float(value(inputs + sign * step * direction)) for sign in (1, -1)]
    expected = (sides[0] - sides[1]) / (2 * step)
    assert np.sum(slope * direction) == pytest.approx(expected, abs=200 * step**2)


def test_pretraining_steps_can_be_swept_and_traced():
    gram, pretraining, fine_tuning = jax.tree.map(jnp.asarray, stages())

    @jax.jit
    @jax.vmap
    def start(steps):
        stage = pretraining._replace(steps=steps)
        return limit.transfer(gram, stage, fine_tuning, normalisation="mean").target_loss[0]

    swept = start(np.arange(4))
    one = pretraining._replace(steps=3)
    expected = transfer(gram, one, fine_tuning, normalisation="mean").target_loss[0]
    assert float(swept[3]) == pytest.approx(float(expected), rel=64 * EPS, abs=0)
    assert len(set(np.asarray(swept).tolist())) == 4


def test_single_precision_stays_single():
    gram, *both = stages()
    exact = transfer(gram, *both, normalisation="half_sum")
    low = [
        limit.Stage(s.labels.astype(np.float32), s.initial.astype(np.float32), *s[2:]) for s in both
    ]
    found = transfer(gram.astype(np.float32), *low, normalisation="half_sum")
    tolerance = 64 * float(np.finfo(np.float32).eps) * condition(gram)

    def compare(single, double):
        assert single.dtype == jnp.float32
        np.testing.assert_allclose(single, double, rtol=0, atol=tolerance)

    jax.tree.map(compare, found, exact)
