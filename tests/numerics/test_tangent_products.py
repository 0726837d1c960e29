"""Products with tangent kernels against the kernel itself and NumPy's eigenvalues."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim import empirical_ntk
from theorysim.numerics.tangent_products import (
    _product,
    kernel_product,
    kernel_trace,
    top_of_spectrum,
)


def numbers(*shape, seed):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape))


@pytest.fixture
def given(x64):
    """A model with two outputs, its parameters, and eleven inputs."""
    params = {"first": numbers(3, 8, seed=0), "second": numbers(8, 2, seed=1)}
    return model, params, numbers(11, 3, seed=2)


def model(params, x):
    return jnp.tanh(x @ params["first"]) @ params["second"]


def matrix(given):
    """K over rows (input, output)."""
    return np.asarray(empirical_ntk(*given)).transpose(0, 2, 1, 3).reshape(22, 22)


@pytest.mark.parametrize("batch", [1, 4, 11, 100])
def test_products_are_those_of_the_matrix(given, batch):
    vector = numbers(11, 2, seed=3)
    found = kernel_product(*given, vector, batch=batch)
    np.testing.assert_allclose(found.ravel(), matrix(given) @ vector.ravel(), rtol=1e-12)


@pytest.mark.parametrize("batch", [3, 100])
def test_traces_are_those_of_the_blocks(given, batch):
    truth = np.trace(empirical_ntk(*given), axis1=2, axis2=3).diagonal()
    np.testing.assert_allclose(kernel_trace(*given, batch=batch), truth, rtol=1e-13)


def test_the_top_of_the_spectrum_is_that_of_the_matrix(given):
    values, vectors = top_of_spectrum(*given, 5)
    kernel = matrix(given)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(kernel)[:-6:-1], rtol=1e-10)
    np.testing.assert_allclose(kernel @ vectors, vectors * values, atol=1e-9 * values[0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-10)


def test_memory_does_not_grow_with_the_square_of_the_inputs(given):
    def used(count):
        shapes = [jax.ShapeDtypeStruct((count, size), jnp.float64) for size in (3, 2)]
        program = _product.lower(*given[:2], *shapes, 16).compile()
        return program.memory_analysis().temp_size_in_bytes

    assert used(4096) < 5 * used(1024)


def test_what_does_not_fit_is_named(given):
    with pytest.raises(ValueError, match=r"shape \(11,\): pass one .*\(11, 2\)"):
        kernel_product(*given, jnp.ones(11))
    for count in (0, 22):
        with pytest.raises(ValueError, match=f"count = {count}: pass 1 to 21"):
            top_of_spectrum(*given, count)
