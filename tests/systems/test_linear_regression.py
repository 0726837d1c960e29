"""Linear regression against many-digit evaluations of the printed formulas."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.systems import linear_regression as regression
from validation.oracles import linear_regression as oracle

EPS = np.finfo(np.float64).eps
KEY = jax.random.key(3)


pytestmark = pytest.mark.usefixtures("x64")


def problem(samples=4, dimension=7, seed=0):
    parts = jax.random.split(jax.random.key(seed), 3)
    return (
        jax.random.normal(parts[0], (samples, dimension)),
        jax.random.normal(parts[1], (dimension,)),
        jax.random.normal(parts[2], (dimension,)),
    )


def arrays(*values):
    return tuple(np.asarray(value) for value in values)


def rounding(data):
    """Projections onto the rows are as ill conditioned as the rows."""
    return 8 * data.shape[1] * EPS * float(jnp.linalg.cond(data))


def covariance_of(eigenvalues, seed=1):
    size = len(eigenvalues)
    vectors, _ = jnp.linalg.qr(jax.random.normal(jax.random.key(seed), (size, size)))
    return regression.Covariance(jnp.asarray(eigenvalues), vectors)


@pytest.mark.parametrize("samples", [1, 4, 6, 7])
def test_row_space_projects_as_the_printed_inverse(samples):
    data, _, _ = problem(samples)
    basis = regression.row_space(data)
    np.testing.assert_allclose(
        basis @ basis.T, oracle.projection(np.asarray(data)), rtol=0, atol=rounding(data)
    )


@pytest.mark.parametrize("outside", [1.0, 1e-8, 1e-14])
def test_orthogonal_part_is_orthogonal_however_small(outside):
    data, start, target = problem()
    basis = regression.row_space(data)
    vector = regression.project(basis, start).parallel + outside * target
    small = regression.project(basis, vector).orthogonal
    # Without the second pass the cosine would be of order eps / outside.
    assert jnp.linalg.norm(basis.T @ small) <= 8 * EPS * jnp.linalg.norm(small)


def test_row_scales_do_not_count_as_dependence():
    data, _, _ = problem()
    scaled = data * jnp.array([1e-12, 1.0, 1e6, 1e-3])[:, None]
    assert jnp.all(jnp.isfinite(regression.row_space(scaled)))


def test_dependent_rows_and_too_many_rows_are_refused():
    data, start, target = problem()
    dependent = data.at[3].set(data[0] - 2 * data[1])
    assert jnp.all(jnp.isnan(jax.jit(regression.limit)(dependent, start, target)))
    with pytest.raises(ValueError, match=r"7 samples exceed the dimension 4"):
        regression.row_space(data.T)


@pytest.mark.parametrize("samples", [1, 4, 6])
def test_limit(samples):
    data, start, target = problem(samples)
    np.testing.assert_allclose(
        regression.limit(data, start, target),
        oracle.limit(*arrays(data, start, target)),
        rtol=0,
        atol=rounding(data) * float(jnp.linalg.norm(start - target)),
    )


@pytest.mark.parametrize("samples", [1, 4, 12])
def test_flow_is_the_matrix_exponential(samples):
    data, start, target = problem(samples)
    times = np.array([0.0, 1e-9, 0.3, 4.0])
    path = regression.gradient_flow(data, start, target, jnp.asarray(times))
    expected = [oracle.flow(*arrays(data, start, target), time) for time in times]
    np.testing.assert_allclose(path.weights, expected, rtol=0, atol=16 * max(data.shape) * EPS)


def test_flow_of_rank_deficient_data_ends_at_the_pseudo_inverse():
    data, start, target = problem()
    data = jnp.concatenate([data, data[:2] + data[2:]])
    path = regression.gradient_flow(data, start, target, jnp.array([0.0, jnp.inf]))
    inverse = np.linalg.pinv(np.asarray(data))
    expected = start + inverse @ (data @ (target - start))
    np.testing.assert_allclose(path.weights[1], expected, rtol=0, atol=rounding(data[:4]))
    assert path.train_loss[1] == 0


@pytest.mark.parametrize(("samples", "fraction"), [(1, 0.3), (4, 0.1), (4, 0.95), (9, 0.95)])
def test_descent_is_the_recursion(samples, fraction):
    data, start, target = problem(samples)
    rate = fraction * regression.largest_learning_rate(data)
    steps = np.array([0, 1, 2, 7, 300])
    path = regression.gradient_descent(data, start, target, rate, jnp.asarray(steps))
    for index, count in enumerate(steps):
        weights, loss = oracle.descent(*arrays(data, start, target), float(rate), int(count))
        np.testing.assert_allclose(path.weights[index], weights, rtol=0, atol=64 * EPS)
        # The smallest singular value is known to cond(X) eps, its decay to t times as much.
        relative = 8 * EPS * float(jnp.linalg.cond(data)) * (count + 1)
        floor = 10.0 ** (10 - 2 * oracle.DIGITS)  # rounding of the recursion's residual, squared
        assert float(path.train_loss[index]) == pytest.approx(loss, rel=relative, abs=floor)


def test_descent_in_one_step_and_before_it():
    data = jnp.array([[2.0, 0.0]])
    start, target = jnp.array([1.0, 1.0]), jnp.array([-3.0, 5.0])
    path = regression.gradient_descent(data, start, target, 0.125, jnp.arange(3))
    np.testing.assert_array_equal(path.weights, [[1.0, 1.0], [-3.0, 1.0], [-3.0, 1.0]])


def test_training_by_autodiff_follows_the_exact_path():
    data, start, target = problem()
    rate, steps = 0.6 * regression.largest_learning_rate(data), 400
    run = regression.train(data, data @ target, start, rate, steps, every=50)
    exact = regression.gradient_descent(data, start, target, rate, 50 * jnp.arange(9))
    # The recursion contracts, so that its rounding errors add up to cond(X)^2 eps at most.
    tolerance = 8 * EPS * float(jnp.linalg.cond(data)) ** 2
    np.testing.assert_allclose(run, exact.weights, rtol=0, atol=tolerance)
    outside = regression.project(regression.row_space(data), run[-1] - start).orthogonal
    assert jnp.linalg.norm(outside) <= steps * EPS


def test_descent_tends_to_the_flow_at_first_order():
    data, start, target = problem()
    exact = regression.gradient_flow(data, start, target, jnp.array([1.0])).weights[0]
    steps = 2 ** jnp.arange(7, 13)
    errors = [
        jnp.linalg.norm(
            regression.gradient_descent(data, start, target, 1 / n, n[None]).weights[0] - exact
        )
        for n in steps
    ]
    orders = -np.diff(np.log2(np.array(errors)))
    # A second-order term of relative size 1/n: the order is off by about that much.
    np.testing.assert_allclose(orders[-3:], 1, atol=0.05)


@pytest.mark.parametrize(("fraction", "converges"), [(0.999, True), (1.001, False)])
def test_largest_learning_rate_separates_convergence(fraction, converges):
    data, start, target = problem()
    rate = fraction * regression.largest_learning_rate(data)
    regression_path = regression.gradient_descent(
        data, start, target, rate, jnp.array([10_000, 20_000])
    )
    assert (regression_path.train_loss[1] < regression_path.train_loss[0]) == converges


def test_population_risk_is_the_quadratic_form():
    covariance = covariance_of([3.0, 1.0, 0.5, 1e-3])
    weights, target = jax.random.normal(KEY, (2, 4))
    vectors = np.asarray(covariance.eigenvectors)
    matrix = vectors @ np.diag(np.asarray(covariance.eigenvalues)) @ vectors.T
    difference = np.asarray(weights - target)
    expected = difference @ matrix @ difference
    both = regression.population_risk(jnp.stack([weights, target]), target, covariance)
    np.testing.assert_allclose(both, [expected, 0], rtol=64 * EPS, atol=0)


@pytest.mark.parametrize("entries", ["gaussian", "rademacher"])
def test_sampled_rows_have_the_covariance(entries):
    covariance = covariance_of([4.0, 1.0, 0.25])
    samples = 40_000
    rows = regression.sample_rows(KEY, covariance, samples, entries)
    error = regression.covariance_error(rows, covariance)
    vectors = np.asarray(covariance.eigenvectors)
    expected = vectors @ np.diag([4.0, 1.0, 0.25]) @ vectors.T
    direct = np.linalg.norm(np.cov(rows.T, bias=True) - expected, 2)
    # np.cov removes the sample mean, which changes the matrix by ||mean||^2 ~ trace / samples.
    assert abs(float(error) - direct) <= 20 * 5.25 / samples
    # Every entry has a standard error below sqrt(2/samples) * 4, and there are nine.
    assert 0 < error <= 5 * 3 * 4 * np.sqrt(2 / samples)


def test_covariance_error_vanishes_for_exact_data():
    covariance = covariance_of([4.0, 1.0, 0.25])
    rows = jnp.sqrt(3 * covariance.eigenvalues)[:, None] * covariance.eigenvectors.T
    assert regression.covariance_error(rows, covariance) <= 64 * EPS


@pytest.mark.parametrize(("delta", "samples"), [(1.0, 3), (1.0, 1000), (500.0, 10), (500.0, 10**5)])
def test_covariance_estimation(delta, samples):
    values = 1.0 / np.arange(1, 21) ** 2
    found = regression.covariance_estimation(jnp.asarray(values), delta, samples, 0.7)
    expected = oracle.covariance_estimation(values, delta, samples, 0.7)
    assert float(found) == pytest.approx(expected, rel=32 * EPS)


def test_risk_bound_at_every_split():
    values = np.array([2.0, 1.5, 1.5, 1e-3, 1e-160])
    covariance = covariance_of(values)
    difference = jax.random.normal(KEY, (5,))
    terms = regression.risk_bound(covariance, difference, 0.3)
    components = np.asarray(covariance.eigenvectors.T @ difference)
    expected = [oracle.risk_bound(values, components, 0.3, m) for m in range(1, 6)]
    np.testing.assert_allclose(jnp.stack(terms, axis=1)[:4], expected[:4], rtol=64 * EPS)
    assert terms.bottom[4] == 0
    assert terms.top[4] > 1e300


def test_risk_bound_rates_in_the_number_of_samples():
    covariance = covariance_of([1.0, 0.5, 0.1])
    difference = jnp.ones(3)

    def terms(samples):
        g = regression.covariance_estimation(covariance.eigenvalues, 1.0, samples)
        return regression.risk_bound(covariance, difference, g)

    few, many = terms(100), terms(400)
    # g falls exactly as n^(-1/2) here, hence the terms by 4^(3/2) and 4^(1/2).
    np.testing.assert_allclose(few.top / many.top, 8, rtol=64 * EPS)
    np.testing.assert_allclose(few.bottom[:2] / many.bottom[:2], 2, rtol=64 * EPS)


def test_checks_name_value_limit_and_remedy():
    data, _, _ = problem()
    regression.check_data(data)
    regression.check_learning_rate(data, 0.5 * float(regression.largest_learning_rate(data)))
    with pytest.raises(ValueError, match=r"sigma_min/sigma_max = .* remove dependent"):
        regression.check_data(data.at[1].set(data[0]))
    with pytest.raises(ValueError, match="7 samples exceed the dimension 4"):
        regression.check_data(data.T)
    with pytest.raises(ValueError, match="finite"):
        regression.check_data(data.at[0, 0].set(jnp.nan))
    with pytest.raises(ValueError, match=r"learning rate 9 is outside .* use a smaller one"):
        regression.check_learning_rate(data, 9.0)


def test_kernels_under_vmap_and_grad():
    data, start, target = problem()
    batch = jnp.stack([data, 2 * data])
    limits = jax.vmap(partial(regression.limit, start=start, target=target))(batch)
    np.testing.assert_allclose(limits[0], limits[1], rtol=0, atol=rounding(data))

    def total(start):
        return jnp.sum(regression.limit(data, start, target))

    basis = regression.row_space(data)
    expected = jnp.ones(7) - basis @ (basis.T @ jnp.ones(7))
    np.testing.assert_allclose(jax.grad(total)(start), expected, rtol=0, atol=32 * EPS)


def test_single_precision_stays_single():
    data, start, target = problem()
    exact = regression.gradient_descent(data, start, target, 0.05, jnp.arange(5))
    low = [part.astype(jnp.float32) for part in (data, start, target)]
    path = regression.gradient_descent(*low, 0.05, jnp.arange(5))
    assert path.weights.dtype == path.train_loss.dtype == jnp.float32
    assert regression.limit(*low).dtype == jnp.float32
    np.testing.assert_allclose(
        path.weights, exact.weights, rtol=0, atol=64 * float(jnp.finfo(jnp.float32).eps)
    )
