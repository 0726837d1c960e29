"""The scalar fixed point of deep linear fine-tuning against roots in many digits."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from drawn import one_in

from theorysim.systems import deep_linear_limit as deep
from validation.oracles import deep_linear as oracle
from validation.oracles import linear_regression as regression_oracle

EPS = np.finfo(np.float64).eps
DEPTHS = [1.0, 1.5, 2.0, 3.0, 10.0, 1e3, 1e6]
RATIOS = [1e-6, 1e-3, 0.5, 1.0, 3.0, 1e3, 1e6]
INSIDE = [1e-6, 0.1, 0.7, 1 - 1e-6]


pytestmark = pytest.mark.usefixtures("x64")

log_norm_ratio = jax.jit(deep.log_norm_ratio)
source_coefficient = jax.jit(deep.source_coefficient)
log_coefficient_gap = jax.jit(deep.log_coefficient_gap)
limit = jax.jit(deep.limit)
many_log_norm_ratios = jax.jit(jax.vmap(deep.log_norm_ratio))


def lengths_of(inside, ratio):
    """c_par, c_perp and tau = ratio c_par; c_perp as the float nearest to the exact one."""
    outside = float(mp.sqrt(1 - mp.mpf(inside) ** 2))
    return deep.Alignment(*(jnp.asarray(part) for part in (inside, outside, ratio * inside)))


def problem(samples=3, dimension=6, seed=0):
    draw = np.random.default_rng(seed).standard_normal
    return tuple(jnp.asarray(draw(shape)) for shape in ((samples, dimension), dimension, dimension))


@pytest.mark.parametrize("inside", one_in(4, INSIDE))
def test_norm_ratio_is_the_root_in_many_digits(inside):
    grid = [(depth, ratio) for depth in DEPTHS for ratio in RATIOS]
    depths, ratios = map(np.array, zip(*grid, strict=True))
    fixed = deep.Alignment(*(np.full(len(grid), part) for part in lengths_of(inside, 1.0)))
    lengths = fixed._replace(target_parallel=ratios * fixed.source_parallel)
    found = many_log_norm_ratios(lengths, depths)
    for index, (depth, _) in enumerate(grid):
        exact = oracle.log_norm_ratio(*(float(part[index]) for part in lengths), depth)
        # A few ulp, of one or of ln x; the largest of 700 points was 2e-15 = 9 eps.
        assert abs(float(found[index]) - exact) < 8 * EPS * max(1, abs(exact)), grid[index]


@pytest.mark.parametrize("ratio", RATIOS)
def test_closed_forms_at_depth_one_and_infinity(ratio):
    lengths = lengths_of(0.3, ratio)
    single = 0.5 * mp.log(mp.mpf(float(lengths[1])) ** 2 + mp.mpf(float(lengths[2])) ** 2)
    assert abs(float(log_norm_ratio(lengths, 1.0)) - single) <= 8 * EPS
    # Rounding of exp(-2u) near the root, and of ln x itself.
    infinite = log_norm_ratio(lengths, np.inf)
    scale = max(1.0, abs(np.log(ratio)))
    assert float(infinite) == pytest.approx(np.log(ratio), abs=8 * EPS * scale)
    assert float(source_coefficient(lengths, 1.0)) == 1.0


@pytest.mark.parametrize("depth", [1, 2, 5, 100])
def test_target_unseen_by_the_data_leaves_the_power_of_the_source(depth):
    lengths = lengths_of(0.6, 0.0)
    found = log_norm_ratio(lengths, float(depth))
    assert float(found) == pytest.approx(depth * np.log(0.8), abs=8 * EPS * depth)


@pytest.mark.parametrize("depth", [1, 2, 5, 100])
def test_source_unseen_by_the_data_still_has_a_root(depth):
    lengths = deep.Alignment(*map(jnp.asarray, (0.0, 1.0, 2.0)))
    exact = oracle.log_norm_ratio(0.0, 1.0, 2.0, depth)
    assert abs(float(log_norm_ratio(lengths, float(depth))) - exact) <= 8 * EPS * depth


@pytest.mark.parametrize("depth", [1.0, 2.0, 5.0])
def test_nothing_left_of_source_and_target_leaves_zero(depth):
    """c_perp = tau = 0: x^2 = 0 at every depth, and 0^(1 - 1/L) is 1 at L = 1."""
    lengths = deep.Alignment(*map(jnp.asarray, (1.0, 0.0, 0.0)))
    assert float(log_norm_ratio(lengths, depth)) == -np.inf
    assert float(source_coefficient(lengths, depth)) == float(depth == 1)


@pytest.mark.parametrize("limit", [deep.limit, limit], ids=["known", "traced"])
def test_one_layer_forgets_a_source_inside_the_data_where_labels_vanish(limit):
    """gamma = P_perp theta_S + P_par theta_T = 0, with X = (e_1, e_2)^T: linear regression's."""
    data, source, target = jnp.eye(4)[:2], jnp.array([3.0, -4.0, 0, 0]), jnp.array([0, 0, 1.0, 2.0])
    exact = regression_oracle.limit(*map(np.asarray, (data, source, target)))
    np.testing.assert_array_equal(exact, 0)
    np.testing.assert_array_equal(limit(data, source, target, 1.0), exact)


def test_depth_below_one_is_no_number():
    assert jnp.isnan(log_norm_ratio(lengths_of(0.6, 2.0), 0.5))
    with pytest.raises(ValueError, match=r"depth 0\.5 is below 1: use at least one layer"):
        deep.log_norm_ratio(lengths_of(0.6, 2.0), 0.5)


@jax.jit
@partial(jax.grad, argnums=(0, 1, 2, 3))
def slopes_of_log_ratio(inside, outside, reached, depth):
    size = jnp.hypot(inside, outside)
    return deep.log_norm_ratio(deep.Alignment(inside / size, outside / size, reached / size), depth)


@pytest.mark.parametrize("ratio", [0.2, 5.0])
@pytest.mark.parametrize("depth", [1.5, 4.0, 300.0])
def test_derivatives_are_those_of_the_root(depth, ratio):
    lengths = lengths_of(0.4, ratio)
    slopes = slopes_of_log_ratio(*lengths, jnp.asarray(depth))
    for wanted, slope in enumerate(slopes):
        exact = oracle.log_norm_ratio_derivative(
            tuple(float(part) for part in lengths), depth, wanted
        )
        # Sums of a few terms, divided by the slope of the equation, that cancel at most 1/c^2-fold.
        assert float(slope) == pytest.approx(exact, rel=64 * EPS / 0.4**2)


def test_second_derivative_in_the_depth():
    lengths = lengths_of(0.4, 5.0)
    both = jax.jit(jax.value_and_grad(jax.grad(lambda depth: deep.log_norm_ratio(lengths, depth))))
    step = 1e-4
    expected = (both(3.0 + step)[0] - both(3.0 - step)[0]) / (2 * step)
    _, second = both(3.0)
    # Truncation is of relative order step^2, rounding eps / step: 1e-8 and 1e-12.
    assert float(second) == pytest.approx(float(expected), rel=10 * step**2)


@jax.jit
def errors_of_the_first_correction(lengths, depths):
    endless = deep.infinite_depth_coefficient(lengths)
    slope = jnp.log(endless) / jnp.square(lengths.source_parallel)

    def error_at(depth):
        exact = deep.source_coefficient(lengths, depth)
        return jnp.abs(exact - endless * (1 - slope / depth))

    return jax.vmap(error_at)(depths)


@pytest.mark.parametrize("ratio", [0.2, 5.0])
def test_first_correction_leaves_a_second_order(ratio):
    depths = np.exp2(np.arange(10.0, 14.0))
    error = errors_of_the_first_correction(lengths_of(0.5, ratio), depths)
    orders = -np.diff(np.log2(error))
    # The next order enters with ln(x)/(c^2 L) = 6e-3 at the first of these depths.
    np.testing.assert_allclose(orders, 2, atol=0.02)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("depth", [1.0, 3.0, 1e3, 1e9, 1e12])
def test_gap_to_infinite_depth_keeps_its_digits(depth, ratio):
    lengths = lengths_of(0.5, ratio)
    inside, outside, reached = (float(part) for part in lengths)
    with mp.workdps(oracle.DIGITS):
        log_x = oracle.log_norm_ratio(inside, outside, reached, depth)
        exact = (1 - 1 / mp.mpf(depth)) * log_x - mp.log(mp.mpf(reached) / mp.mpf(inside))
    found = float(log_coefficient_gap(lengths, depth))
    # ln(tau/c_par) is known to eps; the gap is a smooth multiple of it.
    assert found == pytest.approx(float(exact), rel=64 * EPS, abs=8 * EPS / depth)


def test_limits_at_depth_one_and_at_infinite_depth():
    data, source, target = problem()
    tolerance = 8 * data.shape[1] * EPS * float(np.linalg.cond(data))
    np.testing.assert_allclose(
        limit(data, source, target, 1.0),
        regression_oracle.limit(*map(np.asarray, (data, source, target))),
        rtol=0,
        atol=tolerance,
    )
    np.testing.assert_allclose(
        limit(data, source, target, np.inf),
        jax.jit(deep.infinite_depth_limit)(data, source, target),
        rtol=0,
        atol=tolerance,
    )


def test_limit_fits_the_data_and_solves_the_printed_equation():
    depth = 3.0
    weights = limit(*problem(), depth)
    data, source, target, weights = map(np.asarray, (*problem(), weights))
    tolerance = 64 * EPS * float(np.linalg.cond(data)) * np.linalg.norm(target)
    np.testing.assert_allclose(data @ weights, data @ target, rtol=0, atol=tolerance)
    inside = np.linalg.pinv(data) @ data
    ratio = np.linalg.norm(weights) / np.linalg.norm(source)
    expected = ratio ** ((depth - 1) / depth) * (source - inside @ source) + inside @ target
    np.testing.assert_allclose(weights, expected, rtol=0, atol=tolerance)


def test_limit_differentiates_in_both_modes():
    data, source, target = problem()

    def first(data):
        return deep.limit(data, source, target, 4.0)[0]

    direction = np.random.default_rng(9).standard_normal(data.shape)

    @jax.jit
    def everything(data):
        value, forward = jax.jvp(first, (data,), (direction,))
        return value, forward, jnp.sum(jax.grad(first)(data) * direction)

    _, forward, backward = everything(data)
    step = 1e-5
    above, below = (everything(data + sign * step * direction)[0] for sign in (1, -1))
    central = (above - below) / (2 * step)
    assert float(forward) == pytest.approx(float(backward), rel=1e3 * EPS)
    # Central differences: truncation step^2 times third derivatives (cubes of 1/sigma_min).
    assert float(forward) == pytest.approx(float(central), rel=1e3 * step**2)


def test_single_precision_stays_single():
    data, source, target = problem()
    exact = limit(data, source, target, 3.0)
    found = limit(*(part.astype(jnp.float32) for part in (data, source, target)), 3.0)
    assert found.dtype == jnp.float32
    precision = float(jnp.finfo(jnp.float32).eps)
    np.testing.assert_allclose(
        found, exact, rtol=0, atol=64 * precision * float(np.linalg.cond(data))
    )
