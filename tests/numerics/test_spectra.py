"""Lanczos against dense eigenvalues and ARPACK, easy and degenerate spectra."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from jax.flatten_util import ravel_pytree
from scipy.sparse.linalg import eigsh

from theorysim.numerics import spectra

pytestmark = pytest.mark.usefixtures("x64")

EPS = np.finfo(np.float64).eps


def symmetric(eigenvalues, seed=0):
    size = len(eigenvalues)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    return basis @ np.diag(eigenvalues) @ basis.T


def top(matrix, count, iterations):
    return jax.tree.map(np.asarray, compiled_top(matrix, count, iterations))


@partial(jax.jit, static_argnums=(1, 2))
def compiled_top(matrix, count, iterations, seed=0):
    keys = jax.random.split(jax.random.key(seed))
    return spectra.top_eigenvalues(
        lambda vector: jnp.matmul(matrix, vector, precision=jax.lax.Precision.HIGHEST),
        jax.random.normal(keys[0], (len(matrix),), matrix.dtype),
        count,
        iterations=iterations,
        key=keys[1],
    )


def rounding(matrix):
    """Backward error of an eigensolver: n eps times the norm, a few times."""
    return 4 * len(matrix) * float(np.finfo(matrix.dtype).eps) * float(np.linalg.norm(matrix, 2))


@pytest.mark.parametrize("iterations", [10, *map(thorough, (20, 40)), 80])
def test_residuals_bound_the_distance_to_the_spectrum(iterations):
    matrix = symmetric(np.linspace(-3, 1, 80) ** 3)
    exact = np.linalg.eigvalsh(matrix)
    found = top(matrix, 10, iterations)
    gaps = np.min(np.abs(np.asarray(found.eigenvalues)[:, None] - exact), axis=1)
    assert np.all(gaps <= found.residuals + rounding(matrix))
    assert np.all(np.diff(found.eigenvalues) <= 0)
    # Ritz values are extreme values over a subspace: below the true ones, in order.
    assert np.all(found.eigenvalues <= exact[::-1][:10] + rounding(matrix))


def test_converged_values_are_the_largest_ones():
    matrix = symmetric(1.0 / np.arange(1, 301) ** 2)
    found = top(matrix, 12, 60)
    arpack = np.sort(eigsh(matrix, 12, which="LA")[0])[::-1]
    assert np.max(found.residuals) <= 1e-7  # converged, so errors are residual^2 over the gap
    np.testing.assert_allclose(found.eigenvalues, arpack, rtol=0, atol=rounding(matrix))


def test_all_products_give_all_eigenvalues():
    matrix = symmetric([5.0, 2.0, 2.0 - 1e-6, 0.0, -1e-3, -7.0, -7.5])
    found = top(matrix, 7, 7)
    exact = np.linalg.eigvalsh(matrix)[::-1]
    np.testing.assert_allclose(found.eigenvalues, exact, rtol=0, atol=rounding(matrix))


@pytest.mark.parametrize(
    "eigenvalues",
    [np.ones(9), np.zeros(9), [3.0] * 4 + [1.0] * 5, [2.0, 1.0] + [0.0] * 7, [-1.0] * 8 + [5.0]],
    ids=["identity", "zero", "two_values", "low_rank", "spike"],
)
def test_fresh_starts_find_repeated_eigenvalues(eigenvalues):
    matrix = symmetric(eigenvalues)
    found = top(matrix, 9, 9)
    exact = np.sort(eigenvalues)[::-1]
    np.testing.assert_allclose(found.eigenvalues, exact, rtol=0, atol=rounding(matrix) + EPS)


def test_no_ghosts_beside_a_dominating_eigenvalue():
    """Without orthogonalisation, copies of the first would take all the places."""
    matrix = symmetric(np.concatenate([[1e8], np.linspace(0, 1, 150)]))
    found = top(matrix, 3, 100)
    exact = np.linalg.eigvalsh(matrix)[::-1][:3]
    np.testing.assert_allclose(found.eigenvalues, exact, rtol=0, atol=rounding(matrix))
    assert found.eigenvalues[1] < 2


def network_loss(sizes=(4, 6, 3)):
    rng = np.random.default_rng(5)
    first, second, inputs = (
        jnp.asarray(rng.standard_normal(shape)) for shape in (sizes[:2], sizes[1:], (20, sizes[0]))
    )
    params = {"first": first, "rest": (second, jnp.zeros(sizes[2]))}
    labels = jnp.asarray(rng.integers(0, sizes[2], 20))

    def loss(params):
        weights, bias = params["rest"]
        scores = jnp.tanh(inputs @ params["first"]) @ weights + bias[None]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1))

    return loss, params


def test_hessian_of_a_network():
    loss, params = network_loss()
    flat, unravel = ravel_pytree(params)
    dense = np.asarray(jax.jit(jax.hessian(lambda vector: loss(unravel(vector))))(flat))
    exact = np.linalg.eigvalsh(dense)[::-1]
    found = jax.jit(
        lambda params: spectra.top_hessian_eigenvalues(
            loss, params, 8, iterations=40, key=jax.random.key(0)
        )
    )(params)
    np.testing.assert_allclose(found.eigenvalues, exact[:8], rtol=0, atol=rounding(dense))
    assert exact[-1] < -1e-3  # the spectrum has a negative side, which is not reported


@pytest.mark.thorough  # one network stays
def test_hessians_of_a_batch():
    loss, params = network_loss()
    batch = jax.tree.map(lambda leaf: np.stack([leaf, 2 * leaf]), params)

    @jax.jit
    def find(params):
        return spectra.top_hessian_eigenvalues(
            loss, params, 3, iterations=30, key=jax.random.key(1)
        )

    together = np.asarray(jax.vmap(find)(batch).eigenvalues)
    apart = find(jax.tree.map(lambda leaf: leaf[1], batch))
    np.testing.assert_allclose(together[1], apart.eigenvalues, rtol=1e3 * EPS)


def test_single_precision_stays_single():
    matrix = symmetric(1.0 / np.arange(1, 41))
    found = top(matrix.astype(np.float32), 5, 40)
    assert found.eigenvalues.dtype == found.residuals.dtype == np.float32
    exact = np.linalg.eigvalsh(matrix)[::-1][:5]
    np.testing.assert_allclose(
        found.eigenvalues, exact, rtol=0, atol=rounding(np.asarray(matrix, np.float32))
    )


def test_nan_is_passed_on():
    assert np.all(np.isnan(top(np.full((4, 4), np.nan), 2, 3).eigenvalues))


@pytest.mark.parametrize(("count", "iterations"), [(0, 3), (4, 3), (2, 6)])
def test_impossible_requests_are_refused(count, iterations):
    with pytest.raises(ValueError, match=rf"count = {count}, iterations = {iterations}, size = 5"):
        top(np.eye(5), count, iterations)
