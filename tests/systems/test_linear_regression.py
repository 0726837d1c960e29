"""Linear regression against many-digit evaluations of the printed formulas."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.systems import linear_regression as regression
from validation.oracles import linear_regression as oracle

EPS = np.finfo(np.float64).eps


pytestmark = pytest.mark.usefixtures("x64")

gradient_descent = jax.jit(regression.gradient_descent)
row_space = jax.jit(regression.row_space)
project = jax.jit(regression.project)
risk_bound = jax.jit(regression.risk_bound)
covariance_estimation = jax.jit(regression.covariance_estimation)


@partial(jax.jit, static_argnames=("samples", "dimension"))
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
    return 8 * data.shape[1] * EPS * float(np.linalg.cond(data))


def covariance_of(eigenvalues, seed=1):
    size = len(eigenvalues)
    vectors, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    return regression.Covariance(jnp.asarray(eigenvalues), jnp.asarray(vectors))


@pytest.mark.parametrize("samples", [1, thorough(4), 6, thorough(7)])
def test_row_space_projects_as_the_printed_inverse(samples):
    data, _, _ = problem(samples)
    basis = row_space(data)
    np.testing.assert_allclose(
        basis @ basis.T, oracle.projection(np.asarray(data)), rtol=0, atol=rounding(data)
    )


@pytest.mark.parametrize("outside", [1.0, 1e-8, 1e-14])
def test_orthogonal_part_is_orthogonal_however_small(outside):
    data, start, target = problem()
    basis = row_space(data)
    vector = project(basis, start).parallel + outside * target
    small = project(basis, vector).orthogonal
    # Without the second pass the cosine would be of order eps / outside.
    assert jnp.linalg.norm(basis.T @ small) <= 8 * EPS * jnp.linalg.norm(small)


def test_row_scales_do_not_count_as_dependence():
    data, _, _ = problem()
    scaled = data * jnp.array([1e-12, 1.0, 1e6, 1e-3])[:, None]
    assert jnp.all(jnp.isfinite(regression.row_space(scaled)))


def test_dependent_rows_and_too_many_rows_are_refused():
    data, _, _ = problem()
    dependent = data.at[3].set(data[0] - 2 * data[1])
    assert jnp.all(jnp.isnan(jax.jit(regression.row_space)(dependent)))
    with pytest.raises(ValueError, match=r"X X\^T is singular: row 3 .* remove dependent"):
        regression.row_space(dependent)
    with pytest.raises(ValueError, match="row 1 of the data is not finite"):
        regression.row_space(data.at[1, 0].set(jnp.nan))
    with pytest.raises(ValueError, match=r"7 samples exceed the dimension 4"):
        regression.row_space(data.T)


@pytest.mark.parametrize(
    ("samples", "fraction"), [(1, 0.3), (4, 0.95), thorough(4, 0.1), thorough(9, 0.95)]
)
def test_descent_is_the_recursion(samples, fraction):
    data, start, target = problem(samples)
    rate = fraction * regression.largest_learning_rate(data)
    steps = np.array([0, 1, 2, 7, 300])
    path = gradient_descent(data, start, target, rate, jnp.asarray(steps))
    for index, count in enumerate(steps):
        weights, loss = oracle.descent(*arrays(data, start, target), float(rate), int(count))
        np.testing.assert_allclose(path.weights[index], weights, rtol=0, atol=64 * EPS)
        # The smallest singular value is known to cond(X) eps, its decay to t times as much.
        relative = 8 * EPS * float(np.linalg.cond(data)) * (count + 1)
        floor = 10.0 ** (10 - 2 * oracle.DIGITS)  # rounding of the recursion's residual, squared
        assert float(path.train_loss[index]) == pytest.approx(loss, rel=relative, abs=floor)


def test_descent_in_one_step_and_before_it():
    data = jnp.array([[2.0, 0.0]])
    start, target = jnp.array([1.0, 1.0]), jnp.array([-3.0, 5.0])
    path = gradient_descent(data, start, target, 0.125, jnp.arange(3))
    np.testing.assert_array_equal(path.weights, [[1.0, 1.0], [-3.0, 1.0], [-3.0, 1.0]])


def test_training_by_autodiff_follows_the_exact_path():
    data, start, target = problem()
    rate, steps = 0.6 * regression.largest_learning_rate(data), 400
    run = regression.train(data, data @ target, start, rate, steps, every=50)
    exact = gradient_descent(data, start, target, rate, 50 * jnp.arange(9))
    # The recursion contracts, so that its rounding errors add up to cond(X)^2 eps at most.
    tolerance = 8 * EPS * float(np.linalg.cond(data)) ** 2
    np.testing.assert_allclose(run, exact.weights, rtol=0, atol=tolerance)
    outside = project(row_space(data), run[-1] - start).orthogonal
    assert jnp.linalg.norm(outside) <= steps * EPS


@pytest.mark.parametrize(("fraction", "converges"), [(0.999, True), (1.001, False)])
def test_largest_learning_rate_separates_convergence(fraction, converges):
    data, start, target = problem()
    rate = fraction * regression.largest_learning_rate(data)
    regression_path = gradient_descent(data, start, target, rate, jnp.array([10_000, 20_000]))
    assert (regression_path.train_loss[1] < regression_path.train_loss[0]) == converges


@pytest.mark.parametrize(("delta", "samples"), [(1.0, 3), (1.0, 1000), (500.0, 10), (500.0, 10**5)])
def test_covariance_estimation(delta, samples):
    values = 1.0 / np.arange(1, 21) ** 2
    found = covariance_estimation(jnp.asarray(values), delta, samples, 0.7)
    expected = oracle.covariance_estimation(values, delta, samples, 0.7)
    assert float(found) == pytest.approx(expected, rel=32 * EPS)


def test_risk_bound_at_every_split():
    values = np.array([2.0, 1.5, 1.5, 1e-3, 1e-160])
    covariance = covariance_of(values)
    difference = jnp.asarray(np.random.default_rng(3).standard_normal(5))
    terms = risk_bound(covariance, difference, 0.3)
    components = np.asarray(covariance.eigenvectors.T @ difference)
    expected = [oracle.risk_bound(values, components, 0.3, m) for m in range(1, 6)]
    np.testing.assert_allclose(np.stack(terms, axis=1)[:4], expected[:4], rtol=64 * EPS)
    assert terms.bottom[4] == 0
    assert terms.top[4] > 1e300


def test_risk_bound_rates_in_the_number_of_samples():
    covariance = covariance_of([1.0, 0.5, 0.1])
    difference = jnp.ones(3)

    def terms(samples):
        g = covariance_estimation(covariance.eigenvalues, 1.0, samples)
        return risk_bound(covariance, difference, g)

    few, many = terms(100), terms(400)
    # g falls exactly as n^(-1/2) here, hence the terms by 4^(3/2) and 4^(1/2).
    np.testing.assert_allclose(few.top / many.top, 8, rtol=64 * EPS)
    np.testing.assert_allclose(few.bottom[:2] / many.bottom[:2], 2, rtol=64 * EPS)


def test_learning_rates_past_the_limit_are_named():
    data, start, target = problem()
    limit = float(regression.largest_learning_rate(data))
    named = rf"learning rate 9 exceeds 2/lambda_max = {limit:.6g}: choose a smaller one"
    with pytest.raises(ValueError, match=named):
        regression.train(data, data @ target, start, 9.0, 2)
    # The closed form is right past the limit, as long as its numbers do not overflow.
    path = regression.gradient_descent(data, start, target, 9.0, jnp.array([2.0]))
    assert jnp.all(jnp.isfinite(path.weights))
    with pytest.raises(ValueError, match=named):
        regression.gradient_descent(data, start, target, 9.0, jnp.array([jnp.inf]))
    traced = gradient_descent(data, start, target, 9.0, jnp.array([jnp.inf]))
    assert not jnp.all(jnp.isfinite(traced.weights))


def test_kernels_under_vmap_and_grad():
    data, start, target = problem()
    batch = jnp.stack([data, 2 * data])
    inside = jax.jit(
        jax.vmap(lambda rows: regression.project(regression.row_space(rows), start).parallel)
    )
    one, other = inside(batch)
    np.testing.assert_allclose(one, other, rtol=0, atol=rounding(data))

    def total(start):
        path = regression.gradient_descent(data, start, target, 1e-2, jnp.array([jnp.inf]))
        return jnp.sum(path.weights)

    basis = row_space(data)
    expected = jnp.ones(7) - basis @ (basis.T @ jnp.ones(7))
    np.testing.assert_allclose(
        jax.jit(jax.grad(total))(start), expected, rtol=0, atol=rounding(data)
    )


def test_single_precision_stays_single():
    data, start, target = problem()
    exact = gradient_descent(data, start, target, 0.05, jnp.arange(5))
    low = [part.astype(jnp.float32) for part in (data, start, target)]
    path = gradient_descent(*low, 0.05, jnp.arange(5))
    assert path.weights.dtype == path.train_loss.dtype == jnp.float32
    np.testing.assert_allclose(
        path.weights, exact.weights, rtol=0, atol=64 * float(jnp.finfo(jnp.float32).eps)
    )
