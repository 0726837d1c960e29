"""Piecewise linear maps: values, integrals, resolvents and what proximal maps know."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_DOUBLE
from jax.test_util import check_grads

from theorysim.jaxprs.kinks import kinks
from theorysim.numerics.piecewise_linear import evaluate, integral, prox_value, resolvent

# Bends at 1 and 2 to the right with slopes 1, 0, 3; at 1/2 and 4 to the left with slopes 2, 1, 0.
MAP = [[1.0, 2.0, 1.0, 0.0, 3.0], [0.5, 4.0, 2.0, 1.0, 0.0]]
POINTS = [-5.0, -1.0, 0.0, 0.25, 1.5, 3.0]
VALUES = [-4.5, -1.5, 0.0, 0.25, 1.0, 4.0]
INTEGRALS = [14.375, 0.875, 0.0, 0.03125, 1.0, 4.0]


@pytest.fixture(autouse=True)
def _double(x64):
    yield


def test_values_and_integrals_by_hand():
    map, w = jnp.asarray(MAP), jnp.asarray(POINTS)
    np.testing.assert_allclose(evaluate(map, w), VALUES, rtol=0, atol=FEW_DOUBLE)
    np.testing.assert_allclose(integral(map, w), INTEGRALS, rtol=0, atol=FEW_DOUBLE)


def test_the_gradient_of_the_integral_is_the_map_at_its_bends_too():
    map = jnp.asarray(MAP)
    w = jnp.asarray([-4.0, -0.5, 0.0, 1.0, 2.0, 2.5])
    slopes = jax.vmap(jax.grad(lambda p: integral(map, p)))(w)
    assert np.array_equal(slopes, evaluate(map, w))


def test_the_gradient_of_the_integral_differentiates_no_kink():
    map, w = jnp.asarray(MAP), jnp.asarray(1.0)
    assert not kinks(jax.make_jaxpr(jax.grad(lambda p: integral(map, p)))(w).jaxpr)
    assert kinks(jax.make_jaxpr(jax.grad(lambda p: evaluate(map, p)))(w).jaxpr)


def test_the_integral_has_derivatives_along_its_map_and_of_second_order():
    map, points = jnp.asarray(MAP), jnp.asarray([0.3, 1.7, -2.0])
    along_map = jax.jit(lambda m: integral(m, points))
    check_grads(along_map, (map,), order=1, modes=("fwd", "rev"))
    curvature = jax.jit(jax.vmap(jax.grad(jax.grad(lambda p: integral(map, p)))))(points)
    assert curvature.tolist() == [1.0, 0.0, 1.0]


def test_the_resolvent_inverts_the_identity_plus_the_map():
    map, w = jnp.asarray(MAP), jnp.linspace(-6, 6, 49)

    @jax.jit
    def there_and_back(w, step):
        return evaluate(resolvent(map, step), w + step * evaluate(map, w))

    for step in (0.1, 1.0, 7.0):
        again = there_and_back(w, step)
        np.testing.assert_allclose(again, w, rtol=0, atol=FEW_DOUBLE)


def test_a_proximal_map_knows_the_value_of_its_function():
    map, w = jnp.asarray(MAP), jnp.linspace(-6, 6, 49)
    known = jax.jit(lambda w: prox_value(resolvent(map, jnp.asarray(1.0)), w + evaluate(map, w)))(w)
    np.testing.assert_allclose(known, integral(map, w), rtol=FEW_DOUBLE, atol=FEW_DOUBLE)


def test_the_modulus_and_a_wall():
    """|w| / 2 to the right of a wall at zero: its proximal map is 0 up to 1/2, then has slope 1."""
    map, z = jnp.asarray([[0.5, 0.0, 1.0], [0.5, 0.0, 0.0]]), jnp.asarray([-9.0, 0.25, 0.5, 2.5])
    assert np.array_equal(jax.jit(evaluate)(map, z), [0, 0, 0, 2])
    assert np.array_equal(jax.jit(prox_value)(map, z), [0, 0, 0, 1])
