"""Exact balanced flow: balls of many bits, Taylor series, a real flow, analytic special cases."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import every_second, thorough

from theorysim.numerics.flow import gradient_flow
from theorysim.systems.balanced_flow import (
    Decomposition,
    balanced_flow,
    decompose,
    imbalance,
)
from theorysim.systems.two_layer_linear import Factors, pretraining_loss
from validation.oracles import two_layer_linear as oracle

EPS = np.finfo(np.float64).eps
BITS = 3000
COARSER = 32.0

pytestmark = pytest.mark.usefixtures("x64")

compiled_flow = jax.jit(balanced_flow)


def rounding(width, tau):
    """An amplitude exp(2 sigma t - tau) of order one has the rounding error of its exponent."""
    return 16 * EPS * (width + 2 * tau)


def identity_start(width, tau):
    return Factors(*2 * (jnp.exp(-tau) * jnp.eye(width),))


def distance(found, expected):
    """Largest distance over times, relative to the expected norm."""
    gaps = np.linalg.norm(np.asarray(found) - expected, axis=(-2, -1))
    return np.max(gaps / np.linalg.norm(expected, axis=(-2, -1)))


def around_transitions(values, tau):
    half = tau / (2 * np.asarray(values))
    return np.sort(np.concatenate([[0.0, 1e-3], 0.9 * half, half, 1.1 * half, [2.5 * half[-1]]]))


def random_start(rng, shape, hidden, scale):
    """W_2^T = R W_1 with orthonormal columns or rows of R, so that W_1^T W_1 = W_2 W_2^T."""
    smaller = min(shape)
    turn, _ = np.linalg.qr(rng.standard_normal((smaller, smaller)))
    core = scale * rng.standard_normal((smaller, hidden))
    first, second = np.zeros((shape[0], hidden)), np.zeros((shape[1], hidden))
    first[:smaller], second[:smaller] = core, turn @ core
    return Factors(jnp.asarray(first), jnp.asarray(second.T))


@pytest.mark.parametrize("tau", every_second([2, 40]))
@pytest.mark.parametrize("determinant", [1, -1])
@pytest.mark.parametrize("width", [thorough(1), thorough(3), 8])
def test_product_agrees_with_balls(width, determinant, tau):
    values = np.geomspace(3, 0.5, width)
    left = oracle.orthogonal(width, 1, 1, BITS)
    right = oracle.orthogonal(width, 2, determinant, BITS)
    times = around_transitions(values, tau)
    exact = oracle.products(oracle.Problem(left, list(values), right, tau), times, BITS)
    u, s, v = oracle.to_floats(left), values, oracle.to_floats(right)
    start = identity_start(width, tau)
    known = compiled_flow(*start, Decomposition(*map(jnp.asarray, (u, s, v))), jnp.asarray(times))
    found = compiled_flow(*start, jnp.asarray(u * s @ v.T), jnp.asarray(times))
    assert distance(known.product, exact) < rounding(width, tau)
    # A decomposition in floats is that of a matrix eps away.
    assert distance(found.product, exact) < 8 * rounding(width, tau)


@pytest.mark.thorough  # products agree with balls, and Gram matrices with the gradient flow
@pytest.mark.parametrize("determinant", [1, -1])
def test_grams_agree_with_taylor_series_of_the_factors(determinant):
    # In two dimensions the identity start would not turn the hidden space at all.
    tau, values = 2.0, np.array([2.0, 1.5, 0.8])
    u = oracle.to_floats(oracle.orthogonal(3, 3, 1, 200))
    v = oracle.to_floats(oracle.orthogonal(3, 4, determinant, 200))
    start, times = identity_start(3, tau), np.array([0.0, 0.3, 0.7, 1.1, 1.6, 2.8])
    known = Decomposition(*map(jnp.asarray, (u, values, v)))
    path = compiled_flow(*start, known, jnp.asarray(times))
    exact = oracle.factors(*map(np.asarray, start), u * values @ v.T, times, 200)
    first, second = (np.array(part) for part in zip(*exact))
    for found, left, right in (
        (path.product, first, second),
        (path.left_gram, first, np.swapaxes(first, 1, 2)),
        (path.right_gram, np.swapaxes(second, 1, 2), second),
    ):
        assert distance(found, left @ right) < 8 * rounding(3, tau)


@pytest.mark.parametrize(
    ("shape", "hidden", "scale"),
    [((5, 3), 4, 0.1), thorough((2, 4), 1, 2.0)],
)
def test_any_balanced_start_follows_the_gradient_flow(shape, hidden, scale):
    rng = np.random.default_rng(hidden)
    start = random_start(rng, shape, hidden, scale)
    target = jnp.asarray(rng.standard_normal(shape))
    times = jnp.asarray([0.0, 0.05, 0.3, 1.0, 2.0])

    def flow(tolerance_scale):
        loss = partial(pretraining_loss, target=target)
        return gradient_flow(loss, start, times, tolerance_scale=tolerance_scale)

    run = jax.jit(flow)
    expected, rough = (jax.tree.map(np.asarray, run(scale)) for scale in (1.0, COARSER))
    error = max(np.max(np.abs(a - b)) for a, b in zip(expected, rough, strict=True))
    assert error < 1e-6, "the integrator's error is too large to compare anything"
    room = 8 * (1 + scale) * error + 1e3 * EPS
    exact = compiled_flow(*start, target, times)
    for found, first, second in (
        (exact.product, expected.first, expected.second),
        (exact.left_gram, expected.first, np.swapaxes(expected.first, 1, 2)),
        (exact.right_gram, np.swapaxes(expected.second, 1, 2), expected.second),
    ):
        np.testing.assert_allclose(found, first @ second, rtol=0, atol=room)


@pytest.mark.parametrize("values", [(-3.0, 2.0, 1.0), (3.0, 2.0, -1.0), (2.0, -2.0, 0.0)])
@pytest.mark.parametrize("turned", [False, True])
def test_negative_eigenvalues_are_never_learned(values, turned):
    tau, key = 5.0, jax.random.key(0)
    basis = jax.random.orthogonal(key, 3) if turned else jnp.eye(3)
    values = jnp.asarray(values)
    times = jnp.asarray([0.0, 0.5, 1.0, 3.0, 10.0, 300.0])
    size = jnp.abs(values)
    order = jnp.argsort(-size, stable=True)
    known = Decomposition(
        (basis * jnp.where(values < 0, -1, 1)[None])[:, order], size[order], basis[:, order]
    )
    found = compiled_flow(*identity_start(3, tau), known, times).product
    t, sigma = np.asarray(times)[:, None], np.asarray(values)
    # dw/dt = 2 w (sigma - w^2), for either sign of sigma.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        modes = sigma / (1 + np.exp(-4 * sigma * t) * (sigma * np.exp(2 * tau) - 1))
    modes = np.where(sigma == 0, 1 / (np.exp(2 * tau) + 4 * t), modes)
    expected = np.einsum("ij,tj,kj->tik", basis, modes, basis)
    np.testing.assert_allclose(found, expected, rtol=0, atol=8 * rounding(3, tau))


def test_modes_separate_for_equal_singular_vectors_down_to_the_smallest_start():
    tau, values = 400.0, np.array([3.0, 2.0, 0.5])
    basis = jax.random.orthogonal(jax.random.key(1), 3)
    times = jnp.asarray([0.0, *(tau / (2 * values)), 1e4])
    known = Decomposition(basis, jnp.asarray(values), basis)
    found = compiled_flow(*identity_start(3, tau), known, times).product
    inside = np.einsum("ji,tjk,kl->til", basis, found, basis)
    assert np.all(inside[0] == 0), "exp(-800) is below the range of floats"
    for mode, value in enumerate(values):
        # At tau / (2 sigma) a mode is at sigma / (1 + sigma), all before it are learned.
        stage = np.where(np.arange(3) < mode, values, 0)
        stage[mode] = value / (1 + value)
        np.testing.assert_allclose(inside[1 + mode], np.diag(stage), atol=rounding(3, tau))
    np.testing.assert_allclose(inside[-1], np.diag(values), atol=rounding(3, 0))


def test_zero_start_stays():
    zeros = jnp.zeros((3, 3))
    path = compiled_flow(zeros, zeros, jnp.diag(jnp.asarray([2.0, 1.0, 0.0])), jnp.arange(3.0))
    assert np.all(np.asarray(path.product) == 0)


def test_nearly_dependent_rows_cost_no_more_than_the_input_is_uncertain():
    """The residual of a row is known to eps / gap, and so is the time at which it is learned."""
    for gap in (1e-3, 1e-6, 1e-9):
        rows = 1e-2 * np.random.default_rng(2).standard_normal((4, 4))
        rows[1] = rows[0] + gap * rows[1]
        values, eye, times = np.array([2.0, 1.9, 1.8, 1.0]), np.eye(4), np.linspace(0.0, 20.0, 41)
        found = compiled_flow(rows, rows.T, Decomposition(eye, values, eye), times).product
        exact = riccati_in_balls(rows, values, times)
        assert distance(found, exact) < 256 * EPS / gap


def riccati_in_balls(rows, values, times):
    """The product for W_1 = W_2^T = rows and a diagonal target: nothing falls."""
    from flint import arb, arb_mat, ctx

    ctx.prec = BITS
    start, width = arb_mat(rows.tolist()), len(values)
    path = []
    for time in map(float, times):
        # In eigenvectors of F the start is sqrt 2 times the rows.
        growth = [((4 * arb(s) * time).exp() - 1) / arb(s) for s in map(float, values)]
        grown, moved = arb_mat(width, width), arb_mat(width, width)
        for i, s in enumerate(map(float, values)):
            grown[i, i], moved[i, i] = growth[i], (2 * arb(s) * time).exp()
        eye = arb_mat(np.eye(width).tolist())
        inside = eye + start.transpose() * grown * start
        front = moved * start
        path.append(oracle.to_floats(front * inside.solve(front.transpose())))
    return np.array(path)


def test_derivatives_agree_with_differences():
    target, weight, direction = jnp.asarray(np.random.default_rng(3).standard_normal((3, 3, 3)))
    times = jnp.asarray([0.0, 0.4, 1.5, 4.0])

    @jax.jit
    @partial(jax.value_and_grad, argnums=(0, 1))
    def both(tau, target):
        path = balanced_flow(*identity_start(3, tau), target, times)
        return jnp.sum(weight * jnp.sum(path.product, axis=0))

    def value(tau, target):
        return both(tau, target)[0]

    _, slopes = both(2.0, target)
    step = EPS ** (1 / 3)
    for slope, plus, minus in (
        (slopes[0], value(2.0 + step, target), value(2.0 - step, target)),
        (
            np.sum(slopes[1] * direction),
            value(2.0, target + step * direction),
            value(2.0, target - step * direction),
        ),
    ):
        # Central differences err by step^2 times third derivatives and by eps / step.
        difference = (plus - minus) / (2 * step)
        np.testing.assert_allclose(slope, difference, rtol=0, atol=1e4 * step**2)


@pytest.mark.thorough
def test_batches_and_single_precision():
    targets = jnp.asarray(np.random.default_rng(4).standard_normal((5, 4, 4)))
    times = jnp.asarray(np.linspace(0.0, 6.0, 9))

    def path(target, times):
        start = Factors(*2 * (jnp.exp(-5.0).astype(target.dtype) * jnp.eye(4, dtype=target.dtype),))
        return balanced_flow(*start, target, times).product

    run = jax.jit(jax.vmap(path, (0, None)))
    batched = run(targets, times)
    one = jax.jit(path)
    single = np.stack([one(target, times) for target in targets])
    np.testing.assert_allclose(batched, single, rtol=0, atol=8 * rounding(4, 5))
    short = run(targets.astype(jnp.float32), times.astype(jnp.float32))
    assert short.dtype == jnp.float32
    # Float32 sees other singular vectors, by eps over the gap of the singular values.
    gap = -np.max(np.diff(np.linalg.svd(targets, compute_uv=False)))
    room = float(np.finfo(np.float32).eps / EPS * rounding(4, 5) / gap)
    np.testing.assert_allclose(short, batched, rtol=0, atol=room)


def test_what_is_outside_the_theory_is_named_or_nan_where_traced():
    eye, times = jnp.eye(2), jnp.asarray([0.0, 1.0])
    good = Decomposition(eye, jnp.asarray([2.0, 1.0]), eye)
    assert np.all(np.isfinite(compiled_flow(eye, eye, good, times).product))
    assert np.all(np.isnan(compiled_flow(eye, 2 * eye, good, times).product))
    assert np.all(np.isnan(compiled_flow(eye, eye, good, -times)[0][1]))
    for values in ([1.0, 2.0], [1.0, -1.0]):
        bad = good._replace(singular_values=jnp.asarray(values))
        assert np.all(np.isnan(compiled_flow(eye, eye, bad, times).product))
        with pytest.raises(ValueError, match=r"singular values \[.*\] are not decreasing.* sort"):
            balanced_flow(eye, eye, bad, times)
    with pytest.raises(ValueError, match=r"not balanced.* 0\.424 exceeds"):
        balanced_flow(eye, 2 * eye, good, times)
    with pytest.raises(ValueError, match="time -1 is before the start"):
        balanced_flow(eye, eye, good, -times)
    assert float(imbalance(1e-200 * eye, 1e-200 * eye)) == 0


def test_decomposition_is_thin():
    left, values, right = decompose(jax.random.normal(jax.random.key(5), (4, 2)))
    assert (left.shape, values.shape, right.shape) == ((4, 2), (2,), (2, 2))
