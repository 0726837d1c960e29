"""Hermite coefficients and dual activations against mpmath and two-dimensional quadrature."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.numerics import gaussian
from validation.oracles import gaussian as oracle

pytestmark = pytest.mark.usefixtures("x64")

ACTIVATIONS = {
    "relu": (gaussian.relu, "relu"),
    "absolute value": (gaussian.absolute_value, "abs"),
    "third Hermite": (lambda: gaussian.hermite(3), "hermite_3"),
}
each = pytest.mark.parametrize("name", ACTIVATIONS)


@each
def test_coefficients_are_projections(name):
    build, other = ACTIVATIONS[name]
    expected = [oracle.coefficient(other, p) for p in range(9)]
    np.testing.assert_allclose(build().coefficients(9), expected, rtol=1e-13, atol=1e-14)


@each
@pytest.mark.parametrize("r", [-1 + 1e-9, -0.6, 0.0, 0.3, 1 - 1e-9])
def test_duals_are_expectations_over_pairs(name, r):
    build, other = ACTIVATIONS[name]
    assert float(build().dual(jnp.asarray(r))) == pytest.approx(
        oracle.dual(other, r), rel=1e-11, abs=1e-13
    )
    assert float(build().tangent(jnp.asarray(r))) == pytest.approx(
        oracle.tangent(other, r), rel=1e-11, abs=1e-13
    )


@each
def test_the_tangent_is_the_derivative_of_the_dual(name):
    activation = ACTIVATIONS[name][0]()
    r = jnp.linspace(-0.95, 0.95, 7)
    slope = jax.jit(jax.vmap(jax.grad(activation.dual)))(r)
    np.testing.assert_allclose(slope, activation.tangent(r), rtol=1e-12, atol=1e-14)


def test_relu_keeps_its_digits_next_to_opposite_inputs():
    r = np.float64(-1 + 1e-12)
    assert float(gaussian.relu().dual(jnp.asarray(r))) == pytest.approx(
        oracle.relu_dual(r), rel=1e-13
    )


def test_hermite_polynomials_are_orthonormal():
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    values = np.asarray(gaussian.hermite_values(jnp.asarray(points), 20))
    gram = (values * weights / weights.sum()) @ values.T
    np.testing.assert_allclose(gram, np.eye(20), atol=1e-12)


def test_the_truncation_error_bounds_what_is_left_out_and_shrinks():
    activation, r = gaussian.relu(), jnp.asarray(0.9)
    for orders in (4, 64):
        series = gaussian.from_coefficients(activation.coefficients(orders))
        missing = abs(float(activation.tangent(r) - series.tangent(r)))
        bound = float(gaussian.truncation_error(activation, orders, r))
        assert missing <= bound <= 20 * missing


def test_adding_a_polynomial_adds_the_cross_terms():
    mu = jnp.asarray([0.0, -1.0])
    both = gaussian.with_polynomial(gaussian.relu(), 2.0, mu)  # 2 max(a, 0) - a = |a|
    other, r = gaussian.absolute_value(), jnp.linspace(-1, 1, 7)
    for name in ("value", "dual", "tangent"):
        ours, theirs = (jax.jit(getattr(each, name))(r) for each in (both, other))
        np.testing.assert_allclose(ours, theirs, atol=1e-15)
    np.testing.assert_allclose(both.coefficients(6), other.coefficients(6), atol=1e-15)


def test_single_precision_stays_single():
    r = jnp.asarray([0.3, -0.2], jnp.float32)
    for build, _ in ACTIVATIONS.values():
        assert build().tangent(r).dtype == build().dual(r).dtype == jnp.float32
