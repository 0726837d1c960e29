"""Laws of the random numbers."""

import jax
import numpy as np
import pytest
from drawn import thorough
from scipy import stats

from theorysim.numerics.random import chi_square, normal

# A cube and a product, in single precision.
FEW_ROUNDINGS = 8 * float(np.finfo(np.float32).eps)


drawn = jax.jit(chi_square, static_argnums=2)


@pytest.mark.parametrize("degrees", [1, 2, 5, 10**6])
def test_chi_square_has_its_law(degrees):
    draws = drawn(jax.random.key(degrees), degrees, (4000,))
    assert stats.kstest(np.asarray(draws), stats.chi2(degrees).cdf).pvalue > 1e-4


def test_chi_square_without_degrees_is_zero():
    assert float(chi_square(jax.random.key(0), 0)) == 0


def test_chi_square_takes_traced_degrees_of_its_own_per_lane():
    degrees = jax.numpy.array([0.5, 3.0, 400.0])
    keys = jax.random.split(jax.random.key(0), 3)
    draws = jax.jit(jax.vmap(lambda key, n: chi_square(key, n, (4000,))))(keys, degrees)
    for row, n in zip(np.asarray(draws), degrees, strict=True):
        assert stats.kstest(row, stats.chi2(float(n)).cdf).pvalue > 1e-4


@pytest.mark.parametrize("degrees", [-6.0, np.nan, np.inf])
def test_chi_square_of_no_law_is_undefined_and_returns(degrees):
    assert np.isnan(float(chi_square(jax.random.key(0), degrees)))


@pytest.mark.thorough  # functions of a shared key have tests of their own
def test_chi_squares_that_share_a_key_are_those_of_each():
    degrees = jax.numpy.array([0.5, 3.0, 400.0])
    key = jax.random.key(1)
    together = jax.jit(jax.vmap(lambda n: chi_square(key, n, (400,))))(degrees)
    alone = [drawn(key, n, (400,)) for n in degrees]
    np.testing.assert_allclose(together, alone, rtol=FEW_ROUNDINGS)


@pytest.mark.usefixtures("x64")
def test_chi_squares_have_slopes_in_their_degrees():
    key, degrees, step = jax.random.key(2), np.array([0.7, 3.0, 40.0]), 1e-6

    @jax.jit
    def with_slope(n):
        return jax.jvp(lambda n: chi_square(key, n), (n,), (1.0,))

    slopes = [with_slope(n)[1] for n in degrees]
    apart = [(with_slope(n + step)[0] - with_slope(n - step)[0]) / (2 * step) for n in degrees]
    np.testing.assert_allclose(slopes, apart, rtol=np.sqrt(step))


@pytest.mark.parametrize("shape", [(), (7,), thorough((50, 3)), (2, 5, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_those_of_jax(shape, dtype):
    with jax.enable_x64(dtype == "float64"):
        key = jax.random.key(5)
        found, expected = normal(key, shape, dtype), jax.random.normal(key, shape, dtype)
    assert found.dtype == expected.dtype == dtype
    np.testing.assert_array_equal(found, expected)
