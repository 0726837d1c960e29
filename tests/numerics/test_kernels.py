"""Arc-cosine kernels against many digits, quadrature and Monte Carlo."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from theorysim.numerics import kernels
from validation.oracles import kernels as oracle

pytestmark = pytest.mark.usefixtures("x64")

EPS = np.finfo(np.float64).eps
SMALL_ANGLES = 10.0 ** -np.arange(1, 16)

coactivation = jax.jit(kernels.coactivation)
tangent_gram = jax.jit(kernels.tangent_gram)
activation_gram = jax.jit(kernels.activation_gram)


def units(count, dimension, seed=0):
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def near(row, angle, sign):
    """A unit vector at an angle from +row or from -row."""
    other = units(1, len(row), seed=7)[0]
    across = other - (other @ row) * row
    across /= np.linalg.norm(across)
    turned = sign * (np.cos(angle) * row + np.sin(angle) * across)
    return turned / np.linalg.norm(turned)


def pairwise(function, left, right):
    return np.array([[float(function(x, y)) for y in right] for x in left])


@pytest.mark.parametrize("dimension", [2, 5, 60])
@pytest.mark.parametrize(
    ("gram", "exact"),
    [
        (tangent_gram, oracle.tangent),
        (activation_gram, oracle.activation),
        (coactivation, lambda x, y: oracle.supplement(x, y) / (2 * mp.pi)),
    ],
)
def test_grams_are_the_printed_formulas(gram, exact, dimension):
    left = units(4, dimension)
    right = np.concatenate([units(2, dimension, 1), left[:2], -left[:2]])
    # The scalar product carries d eps, the angle a few more.
    np.testing.assert_allclose(
        gram(left, right), pairwise(exact, left, right), rtol=0, atol=(dimension + 8) * EPS
    )


@pytest.mark.parametrize("angle", [1.5, 1.01, 0.99, 0.5, *SMALL_ANGLES])
def test_near_antipodal_inputs_keep_relative_accuracy(angle):
    # Some of these rows have a length that rounds to one, and some do not.
    rows = units(6, 5)
    others = np.stack([near(row, angle, -1) for row in rows])
    # Lengths that differ by eps change an angle by (eps/angle)^2 of itself.
    relative = 16 * EPS + (5 * EPS / angle) ** 2
    for gram, exact in (
        (coactivation, lambda x, y: oracle.supplement(x, y) / (2 * mp.pi)),
        (tangent_gram, oracle.tangent),
        (activation_gram, oracle.activation),  # its cube triples the error
    ):
        found = np.diagonal(gram(rows, others))
        expected = [float(exact(row, other)) for row, other in zip(rows, others, strict=True)]
        np.testing.assert_allclose(found, expected, rtol=3 * relative, atol=0)


@pytest.mark.parametrize("angle", SMALL_ANGLES)
def test_smallest_eigenvalue_of_near_parallel_inputs(angle):
    row = units(1, 5)[0]
    inputs = np.stack([row, near(row, angle, 1)])
    exact = [[oracle.tangent(x, y) for y in inputs] for x in inputs]
    with mp.workdps(oracle.DIGITS):
        mean, half = (exact[0][0] + exact[1][1]) / 2, (exact[0][0] - exact[1][1]) / 2
        smallest = float(mean - mp.sqrt(half**2 + exact[0][1] ** 2))
    found = np.linalg.eigvalsh(tangent_gram(inputs, inputs))[0]
    assert found == pytest.approx(smallest, abs=8 * EPS)
    # It is angle/(2 pi) to first order, far above what arccos of a product could tell.
    assert found == pytest.approx(angle / (2 * np.pi), abs=8 * EPS + angle**2)


def test_tiny_angles_between_exact_unit_vectors():
    axis, tilted = np.array([[1.0, 0.0]]), np.array([[-1.0, 1e-30]])
    both, product = (gram(axis, tilted).item() for gram in (coactivation, activation_gram))
    assert both == pytest.approx(1e-30 / (2 * np.pi), rel=EPS, abs=0)
    assert product == pytest.approx(1e-90 / (6 * np.pi), rel=4 * EPS, abs=0)


@pytest.mark.parametrize("theta", [0.0, 1e-3, 0.4, np.pi / 2, 2.0, 2.2, 3.1])
def test_kernels_are_gaussian_means(theta):
    left, right = np.array([[1.0, 0.0]]), np.array([[np.cos(theta), np.sin(theta)]])
    both, product = oracle.gaussian_means(theta)
    assert coactivation(left, right).item() == pytest.approx(both, abs=4 * EPS)
    assert activation_gram(left, right).item() == pytest.approx(product, abs=4 * EPS)


@pytest.mark.thorough  # they are Gaussian means by quadrature beside
def test_kernels_within_monte_carlo_errors():
    inputs, draws = units(4, 3), 400_000
    values = np.random.default_rng(11).standard_normal((draws, 3)) @ inputs.T
    active, relu = values >= 0, np.maximum(values, 0)
    inner = inputs @ inputs.T
    for gram, first, second in (
        (tangent_gram, active, inner[None] * active[:, :, None]),
        (activation_gram, relu, relu[:, :, None]),
    ):
        samples = second * first[:, None, :]
        errors = samples.std(axis=0) / np.sqrt(draws)
        scores = (samples.mean(axis=0) - np.asarray(gram(inputs, inputs))) / errors
        # Ten distinct entries: one beyond 4 has a chance below a thousandth.
        assert np.max(np.abs(scores)) < 4
        assert np.max(errors) < 0.002  # a factor off by one percent would show


def test_exact_values():
    inputs = np.concatenate([np.eye(3), -np.eye(3)[:1]])
    expected = np.diag([0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(tangent_gram(inputs, inputs), expected)
    assert np.asarray(activation_gram(inputs, inputs))[0, 3] == 0
    np.testing.assert_array_equal(np.diagonal(coactivation(units(9, 7), units(9, 7))), 0.5)


def test_three_antipodal_pairs_in_the_plane_are_degenerate_and_two_are_not():
    angles = np.array([0.1, 1.0, 2.3])
    half = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def smallest(pairs):
        inputs = np.concatenate([half[:pairs], -half[:pairs]])
        return np.linalg.eigvalsh(tangent_gram(inputs, inputs))[0]

    assert abs(smallest(3)) <= 6 * EPS
    assert smallest(2) > 0.01


def test_kernels_are_homogeneous_and_vanish_at_zero():
    left, right = units(3, 6), units(4, 6, 1)
    factors = np.array([[1e-3], [2.0], [700.0]])
    for gram in (tangent_gram, activation_gram):
        scaled = gram(factors * left, 3 * right)
        expected = 3 * factors * np.asarray(gram(left, right))
        error = np.abs(scaled - expected) / (3 * factors)
        assert np.max(error) <= 16 * EPS
        np.testing.assert_array_equal(gram(np.zeros((1, 6)), right), 0)


def test_derivatives_agree_with_differences_and_survive_coincidence():
    inputs = np.concatenate([units(3, 4), -units(1, 4), units(1, 4)])
    weights = np.random.default_rng(1).standard_normal((5, 5))
    few = np.zeros((5, 5))  # of distinct inputs
    few[:3, :3] = weights[:3, :3]
    direction = np.random.default_rng(2).standard_normal((5, 4))
    step = EPS ** (1 / 3)  # where rounding over the step equals its square
    for gram in (tangent_gram, activation_gram):

        @jax.jit
        def total_and_slopes(rows, weights, gram=gram):
            return jax.value_and_grad(lambda rows: jnp.sum(weights * gram(rows, rows)))(rows)

        _, slopes = total_and_slopes(inputs, weights)
        assert np.all(np.isfinite(slopes))
        _, slopes = total_and_slopes(inputs, few)
        sides = [
            float(total_and_slopes(inputs + sign * step * direction, few)[0]) for sign in (1, -1)
        ]
        slope = np.sum(np.asarray(slopes) * direction)
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(slope, abs=200 * step**2)
        # On the diagonal both kernels are ||x||^2 / 2.
        _, slopes = total_and_slopes(inputs, np.eye(5))
        np.testing.assert_allclose(slopes, inputs, rtol=0, atol=16 * EPS)


def test_single_precision_stays_single():
    left, right = units(5, 8), units(4, 8, 1)
    low = [part.astype(np.float32) for part in (left, right)]
    for gram in (tangent_gram, activation_gram, coactivation):
        found = gram(*low)
        assert found.dtype == jnp.float32
        error = np.abs(np.asarray(found, float) - np.asarray(gram(left, right)))
        assert np.max(error) <= 16 * np.finfo(np.float32).eps


def test_kernels_under_jit_and_vmap():
    batch = jnp.asarray(np.stack([units(3, 5, seed) for seed in range(4)]))
    right = jnp.asarray(units(2, 5, 9))
    for gram in (kernels.tangent_gram, kernels.activation_gram):
        together = jax.jit(jax.vmap(partial(gram, right=right)))(batch)
        one = jax.jit(gram)
        apart = np.stack([one(left, right) for left in batch])
        np.testing.assert_allclose(together, apart, rtol=0, atol=8 * EPS)
