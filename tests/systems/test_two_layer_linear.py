"""Losses against sampling and enumeration, descent against its printed rules and exact modes."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.numerics.statistics import loglog_slope
from theorysim.systems import batch_covariance, linear_modes
from theorysim.systems import two_layer_linear as network
from theorysim.systems.balanced_flow import balanced_flow
from theorysim.systems.two_layer_linear import Factors, FineTuning
from validation.oracles import two_layer_linear as oracle

EPS = np.finfo(np.float64).eps

pytestmark = pytest.mark.usefixtures("x64")


def problem(width=3, pull_back=0.7, seed=0):
    drawn = np.random.default_rng(seed).standard_normal((4, width, width))
    first, second, target, anchor = map(jnp.asarray, drawn)
    return Factors(first, second), FineTuning(target, anchor, pull_back)


def test_the_pretraining_loss_is_the_expected_error():
    factors, tuning = problem()
    inputs = np.random.default_rng(1).standard_normal((100_000, 3))
    gap = np.subtract(network.product(factors), tuning.target)
    losses = np.sum((np.asarray(inputs) @ gap.T) ** 2, axis=1)
    exact = float(jax.jit(network.pretraining_loss)(factors, tuning.target))
    standard_error = losses.std() / np.sqrt(losses.size)
    assert abs(losses.mean() - exact) < 5 * standard_error < 0.1 * exact


def test_the_batch_loss_is_the_mean_over_its_inputs():
    factors, tuning = problem()
    inputs = np.random.default_rng(1).standard_normal((7, 3))
    theta = np.asarray(network.product(factors))
    errors = np.asarray(inputs) @ (theta - np.asarray(tuning.target)).T
    pull = 0.7 * np.sum((theta - np.asarray(tuning.anchor)) ** 2)
    batch_loss = jax.jit(network.batch_loss)
    found = batch_loss(factors, tuning, jax.jit(batch_covariance.of_inputs)(inputs))
    np.testing.assert_allclose(found, np.mean(np.sum(errors**2, axis=1)) + pull, rtol=64 * EPS)
    np.testing.assert_allclose(
        batch_loss(factors, tuning, np.eye(3)),
        jax.jit(network.fine_tuning_loss)(factors, tuning),
        rtol=64 * EPS,
    )


@pytest.mark.parametrize("shapes", [((2, 2), (2, 2)), ((1, 2), (2, 3)), ((2, 1), (1, 3))])
def test_the_perturbed_loss_is_its_enumerated_expectation(shapes):
    rng = np.random.default_rng(0)
    first, second = (rng.normal(size=shape) for shape in shapes)
    target = rng.normal(size=(shapes[0][0], shapes[1][1]))
    found = jax.jit(network.perturbed_loss)(Factors(first, second), target, 0.6)
    exact = oracle.perturbed_loss(first, second, target, 0.6)
    np.testing.assert_allclose(found, exact, rtol=1e3 * EPS)


def test_fine_tuning_follows_the_corrected_update_on_shared_batches():
    """Eqs. 10 and 11 with the covariance on the side of the input in both."""
    (start, tuning), rate = problem(), 0.01
    covariances = batch_covariance.stream(
        jax.random.key(3), lambda key: batch_covariance.wishart(key, 3, 5)
    )
    fine_tune = jax.jit(partial(network.fine_tune, steps=4, covariances=covariances))
    path, covariance = (
        jax.tree.map(np.asarray, fine_tune(start, tuning, rate)),
        jax.jit(covariances),
    )
    target, anchor = np.asarray(tuning.target), np.asarray(tuning.anchor)
    first, second = map(np.asarray, start)
    for step in range(4):
        np.testing.assert_allclose(path.first[step], first, rtol=0, atol=1e3 * EPS)
        np.testing.assert_allclose(path.second[step], second, rtol=0, atol=1e3 * EPS)
        theta = first @ second
        slope = (theta - target) @ np.asarray(covariance(step)) + 0.7 * (theta - anchor)
        first, second = first - 2 * rate * slope @ second.T, second - 2 * rate * first.T @ slope
    end = jax.jit(partial(network.fine_tune_to, covariances=covariances))(start, tuning, rate, 4)
    np.testing.assert_allclose(end.first, first, rtol=0, atol=1e3 * EPS)
    np.testing.assert_allclose(end.second, path.second[-1], rtol=0, atol=1e3 * EPS)


def test_full_matrices_descend_like_their_modes():
    pre, ft = np.array([2.0, 1.0, 0.5]), np.array([1.0, 3.0, 0.6])
    left, right = np.asarray(jax.random.orthogonal(jax.random.key(2), 3, (2,)))
    learned = np.array([1.0, 1.0, 0.0])
    root = np.sqrt(pre * learned)
    start = Factors(left * root, root[:, None] * right.T)
    tuning = FineTuning((left * ft) @ right.T, start.first @ start.second, 0.4)
    end = jax.jit(network.fine_tune_to)(start, tuning, 0.03, 60)
    modes = linear_modes.Tuning(ft, pre * learned, np.asarray(0.4), np.asarray(0.03))
    exact = jax.jit(linear_modes.descent, static_argnums=2)(root, modes, 60)
    # The third mode is zero up to rounding, which grows by 1 + 2 eta sigma in every step.
    seeded = 64 * EPS * (1 + 2 * 0.03 * 0.6) ** 60
    first, second = map(np.asarray, end)
    np.testing.assert_allclose(left.T @ first, np.diag(exact), atol=8 * seeded + 60 * 8 * EPS)
    np.testing.assert_allclose(second @ right, np.diag(exact), atol=8 * seeded + 60 * 8 * EPS)


def test_descent_approaches_the_exact_flow_with_order_one():
    target = jax.random.normal(jax.random.key(5), (3, 3))
    start = Factors(*2 * (jnp.asarray(0.3 * np.eye(3)),))
    flow = jax.jit(partial(balanced_flow, *start, target, jnp.asarray([0.5])))
    exact = np.asarray(flow().product)[0]
    pretrain = jax.jit(network.pretrain, static_argnums=3, static_argnames="every")
    steps, errors = np.array([50, 100, 200, 400]), []
    for count in map(int, steps):
        path = pretrain(start, target, 0.5 / count, count, every=count)
        errors.append(np.linalg.norm(np.matmul(*path)[-1] - exact))
    slope = loglog_slope(steps.astype(float), np.array(errors))
    # Between the coarsest rungs the next order still shows, as a few per cent.
    assert abs(slope.value + 1) < 0.05


@pytest.mark.parametrize("pull_back", [0.0, 1.5])
def test_the_largest_learning_rate_is_two_over_the_curvature(pull_back):
    _, tuning = problem(pull_back=pull_back)
    target, anchor, _ = map(np.asarray, tuning)
    goal = (target + pull_back * anchor) / (1 + pull_back)
    left, values, right = np.linalg.svd(goal)
    root = np.sqrt(values)
    minimum = Factors(left * root, root[:, None] * right)

    def flat(weights):
        return network.fine_tuning_loss(Factors(*weights.reshape(2, 3, 3)), tuning)

    curvature = np.linalg.eigvalsh(jax.jit(jax.hessian(flat))(np.stack(minimum).ravel()))[-1]
    limit = float(network.largest_learning_rate(jnp.asarray(goal), pull_back))
    np.testing.assert_allclose(limit, 2 / curvature, rtol=1e3 * EPS)

    nudge = 1e-3 * np.asarray(jax.random.normal(jax.random.key(6), (2, 3, 3)))
    start = Factors(*map(jnp.asarray, np.stack(minimum) + nudge))

    @jax.jit  # a traced learning rate is not refused
    def left(rate):
        end = network.fine_tune_to(start, tuning, rate, 400)
        return jnp.linalg.norm(network.product(end) - goal)

    assert left(0.95 * limit) < 1e-6 and not left(1.05 * limit) < 1e-2
    network.fine_tune_to(start, tuning, 0.999 * limit, 1)
    for run in (network.fine_tune, network.fine_tune_to):
        with pytest.raises(ValueError, match=r"exceeds 2/lambda_max = .*: choose a smaller one"):
            run(start, tuning, 1.001 * limit, 1)


def test_learning_rates_past_the_limit_are_named():
    target = jnp.asarray(np.diag([1.2195, 0.3]))
    start = Factors(*2 * (jnp.asarray(0.1 * np.eye(2)),))
    with pytest.raises(ValueError, match=r"learning rate 0\.9 exceeds 2/lambda_max = 0\.41"):
        network.pretrain(start, target, 0.9, 10)
    with pytest.raises(ValueError, match=r"learning rate 5 exceeds 2/lambda_max = 0\.41"):
        network.pretrain(start, target, 5.0, 10)
    with pytest.raises(ValueError, match="learning rate 0 is not positive"):
        network.pretrain(start, target, 0.0, 10)
    run = jax.jit(network.pretrain, static_argnums=3)
    assert not np.all(np.isfinite(run(start, target, 5.0, 10).first))


def test_a_start_from_which_descent_diverges_is_named():
    target = jnp.asarray(np.diag([1.2195, 0.3]))
    with pytest.raises(
        ValueError, match=r"diverges at learning rate 0\.4; .* 2/lambda_max = 0\.00"
    ):
        network.pretrain(Factors(*2 * (10 * jnp.eye(2),)), target, 0.4, 20)
    with pytest.raises(ValueError, match="the loss is nan at the start: check the data"):
        network.pretrain(Factors(*2 * (jnp.nan * jnp.eye(2),)), target, 0.4, 20)


@pytest.mark.parametrize("law", [thorough("sampled"), "wishart", "asymptotic"])
def test_covariances_have_the_moments_of_their_law(law):
    width, batch, draws = 3, 40, 20_000
    draw = {
        "sampled": partial(batch_covariance.sample, width=width, batch=batch),
        "wishart": partial(batch_covariance.wishart, width=width, batch=batch),
        "asymptotic": partial(
            batch_covariance.asymptotic, width=width, log10_batch=np.log10(batch)
        ),
    }[law]
    samples = np.asarray(jax.jit(jax.vmap(draw))(jax.random.split(jax.random.key(7), draws)))
    assert np.array_equal(samples, np.swapaxes(samples, 1, 2))
    error = np.sqrt(batch) * (samples - np.eye(width))
    # Mean 0; variances 1 off the diagonal and 2 on it; entries uncorrelated.
    squares = error.reshape(draws, -1, 1) * error.reshape(draws, 1, -1)
    exact = np.eye(width**2) + np.eye(width**2).reshape(3, 3, 9).swapaxes(0, 1).reshape(9, 9)
    for statistic, truth in ((error, 0.0), (squares, exact)):
        deviation = np.abs(statistic.mean(0) - truth) / (statistic.std(0) / np.sqrt(draws))
        # 45 moments per law: a five standard error event has odds below 1e-4.
        assert np.max(deviation) < 5
    if law != "asymptotic":
        # det(m S) has the mean m (m - 1) (m - 2), which the Gaussian limit misses.
        determinants = np.linalg.det(batch * samples)
        exact = batch * (batch - 1) * (batch - 2)
        assert abs(determinants.mean() - exact) < 5 * determinants.std() / np.sqrt(draws)


def test_covariances_of_small_and_huge_batches():
    key = jax.random.key(8)
    wishart = jax.jit(batch_covariance.wishart, static_argnums=1)
    asymptotic = jax.jit(batch_covariance.asymptotic, static_argnums=1)
    few = jax.jit(batch_covariance.sample, static_argnums=(1, 2))(key, 4, 2)
    assert np.linalg.matrix_rank(np.asarray(few)) == 2
    assert np.all(np.isnan(wishart(key, 4, 3.0)))
    for huge in (wishart(key, 4, 1e14), asymptotic(key, 4, 14.0)):
        error = 1e7 * np.abs(huge - np.eye(4))
        assert 0.1 < error.max() < 10
    assert np.array_equal(np.diag(asymptotic(key, 4, 600.0)), np.ones(4))
    covariances = batch_covariance.stream(key, lambda k: wishart(k, 4, 9.0))
    assert np.array_equal(covariances(3), covariances(3))
    assert not np.array_equal(covariances(3), covariances(4))
