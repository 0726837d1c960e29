"""The models of the linearization paper: their Lipschitz constants, and the flows beside them."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from drawn import thorough
from scipy.integrate import solve_ivp

from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization import _ridge as ridge
from validation.oracles import linearized as oracle

FAMILIES = {"quadratic": 0.0, "sine": 1.0, "network": 2.0}
SAMPLED = 0.05
"""by how much a maximum over drawn points may fall short of that over the ball"""
RADIUS = 0.7

# Integrated to 1e-10 of the parameters, of which a gap is a thousandth at least.
FLOW_RTOL = 1e-6
# Solved in matrices whose condition number is below 100.
SOLVE_RTOL = 1e-11
# Of sums and differences of a few numbers of order one.
ROUNDING = 1e-14
# The same of products of two such sums, and of numbers relative to their own size.
PRODUCTS = 10 * ROUNDING
DIGITS = 100 * ROUNDING

pytestmark = pytest.mark.usefixtures("x64")

lipschitz = jax.jit(models.lipschitz)
kernel_lipschitz = jax.jit(models.kernel_lipschitz)


def instance(family, seed=0):
    space = models.model_space()
    x = space.sample(jax.random.key(seed), space.default_sizes())
    return x.replace(family=jnp.asarray(FAMILIES[family]), bend_scale=jnp.asarray(1.0))


@jax.jit
def sampled_constants(x):
    """Largest slopes of f and of its Jacobian at random points of the ball's surface and inside."""
    rng, count = np.random.default_rng(1), 1000
    ways = rng.standard_normal((count, 2 * x.n)) * (rng.uniform(size=(count, 2 * x.n)) < 0.3)
    ways = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
    shares = np.linspace(0, 1, count)[:, None] ** 0.2
    points = jnp.concatenate(
        [RADIUS * shares * ways, RADIUS * jnp.eye(2 * x.n), jnp.zeros((1, 2 * x.n))]
    )

    def slopes(delta, way):
        change = jax.jvp(lambda d: models.jacobian(x, d), (delta,), (way,))[1]
        return jnp.linalg.norm(models.jacobian(x, delta), ord=2), jnp.linalg.norm(change, ord=2)

    axes = jnp.eye(2 * x.n)
    both = jax.vmap(jax.vmap(slopes, (None, 0)), (0, None))(points, axes)
    return jax.tree.map(jnp.max, both)


@jax.jit
def sampled_kernel_constant(x):
    """Largest slope of the kernel along the axes of the ball, where f acts entry by entry."""
    shares = jnp.linspace(-RADIUS, RADIUS, 401)

    def slope(axis, share):
        step = jax.jvp(lambda d: models.gram(x, d), (share * axis,), (axis,))[1]
        return jnp.linalg.norm(step, ord=2)

    axes = jnp.eye(2 * x.n)
    return jnp.max(jax.vmap(jax.vmap(slope, (None, 0)), (0, None))(axes, shares))


@pytest.mark.thorough
@pytest.mark.parametrize("family", ["quadratic", thorough("sine")])
def test_smoothness_bounds_the_curvature_where_the_loss_is_below_the_first(family):
    """At the start, and at points of a ball whose loss is at most that of the start."""
    x = instance(family)
    loss, bound = models.loss(x), models.smoothness(x)
    points = jnp.concatenate(
        [models.start(x)[None], 0.3 * jax.random.normal(jax.random.key(2), (2000, 2 * x.n))]
    )
    below = jax.vmap(loss)(points) <= x.residual_size**2
    curvature = jax.vmap(lambda d: jnp.linalg.norm(jax.hessian(loss)(d), ord=2))(points)
    worst = jnp.max(jnp.where(below, curvature, 0))
    assert jnp.sum(below) > 10
    assert 0.02 * bound < worst <= bound * (1 + ROUNDING)


@pytest.mark.parametrize("seed", [0, thorough(1), thorough(2)])
@pytest.mark.parametrize("family", FAMILIES)
def test_constants_bound_the_slopes_and_are_attained_where_exact(family, seed):
    x = instance(family, seed)
    bounds = lipschitz(x, jnp.asarray(RADIUS))
    kernel_bound = kernel_lipschitz(x, jnp.asarray(RADIUS))
    sampled = sampled_constants(x)
    kernel = sampled_kernel_constant(x)
    assert kernel <= kernel_bound * (1 + 1e-9)
    assert sampled[0] <= bounds.f * (1 + 1e-12)
    assert sampled[1] <= bounds.jacobian * (1 + 1e-12)
    if family != "network":
        np.testing.assert_allclose(sampled, bounds, rtol=SAMPLED)
        np.testing.assert_allclose(kernel, kernel_bound, rtol=SAMPLED)


def test_constants_grow_with_the_radius_and_broadcast():
    for family in FAMILIES:
        found = lipschitz(instance(family), jnp.array([0.0, 0.5, 2.0]))
        assert found.f.shape == found.jacobian.shape == (3,)
        assert jnp.all(jnp.diff(found.f) >= 0) and jnp.all(jnp.diff(found.jacobian) >= 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_outputs_are_those_of_the_model_less_those_at_the_start(family):
    """By the models' definitions, whose cancellation is rounding at this distance."""
    x = instance(family)
    delta = jnp.linspace(-0.8, 1.1, 2 * x.n)

    def whole(delta):
        weights = x.weights + delta.reshape(x.n, models.HIDDEN)
        entries = delta[: x.n]
        return {
            "quadratic": x.slope * entries + x.bend_scale * x.bend * entries**2 / 2,
            "sine": x.slope * jnp.sin(x.frequency * entries + x.phase),
            "network": jnp.tanh(x.rows[:, 1:] @ weights[1:]) @ weights[0] / np.sqrt(2),
        }[family]

    difference = whole(delta) - whole(models.start(x))
    np.testing.assert_allclose(models.outputs(x)(delta), difference, atol=ROUNDING)


@jax.jit
def changes(x, delta, move):
    """Of Jacobian and kernel: the change, the difference, and the slope at half of the move."""
    found = []
    for change, of in (
        (models.jacobian_change, models.jacobian),
        (models.gram_change, models.gram),
    ):
        rate = jax.jvp(partial(of, x), (delta + move / 2,), (move,))[1]
        found.append((change(x, delta, move), of(x, delta + move) - of(x, delta), rate))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_changes_of_jacobian_and_kernel_are_differences_and_keep_the_digits_of_small_moves(family):
    x = instance(family)
    delta, move = jnp.linspace(-0.8, 1.1, 2 * x.n), jnp.linspace(0.5, -0.3, 2 * x.n)
    for found, difference, _ in changes(x, delta, move):
        np.testing.assert_allclose(found, difference, atol=PRODUCTS)
    # About the middle a difference is the derivative to the second order of the move.
    share = 1e-9
    for found, _, rate in changes(x, delta, share * move):
        np.testing.assert_allclose(found, rate, rtol=DIGITS, atol=share * PRODUCTS)


def test_the_first_residual_is_the_given_one():
    x = instance("sine")
    loss = models.loss(x)(models.start(x))
    np.testing.assert_allclose(loss, x.residual_size**2, rtol=1e-12)


@pytest.mark.parametrize("strength", [thorough(0.0), 2.0])
def test_linearised_flows_are_those_of_the_oracle(strength):
    x = instance("network")
    path = jax.jit(flow.run)(x, strength, 0.5)
    jacobian = np.asarray(models.jacobian(x, models.start(x)))
    gap = -np.asarray(models.first_residual(x))
    end = oracle.flow(jacobian, gap, 0.0, 0.5)
    np.testing.assert_allclose(path.linear[-1], end, rtol=1e-7, atol=1e-9)
    pulled = oracle.flow(jacobian, gap, strength, 0.5)
    outputs = models.outputs(x)
    behind = outputs(path.deltas[-1]) - outputs(models.start(x)) - jacobian @ pulled
    np.testing.assert_allclose(path.outputs[-1] - path.straight["B"][-1], behind, rtol=FLOW_RTOL)
    slope, times = jax.jit(jax.grad(models.loss(x))), np.linspace(0, 0.5, 200)
    field = lambda _, delta: -np.asarray(slope(delta)) - strength * delta  # noqa: E731
    dense = solve_ivp(field, (0, 0.5), np.zeros(2 * x.n), t_eval=times, rtol=1e-8, atol=1e-10)
    distances = np.linalg.norm(dense.y, axis=0)
    for radius, time in zip(path.radius, path.times):
        assert np.max(distances[times <= time]) <= radius * (1 + FLOW_RTOL)
    assert path.radius[-1] < 1.5 * np.max(path.distance)


@pytest.mark.parametrize("z", [1e-12, 1e-4, 0.3, 0.4999, 0.5001, 4.0, 800.0])
def test_excess_time_keeps_its_digits(z):
    with mp.workdps(50):
        truth = float((mp.mpf(z) - 1 + mp.exp(-mp.mpf(z))) / 2)
    found = flow.excess_time(jnp.asarray(2.0), jnp.asarray(z / 2))
    np.testing.assert_allclose(found, truth, rtol=4e-15)


def test_the_newton_step_solves_the_ridge_problem():
    jacobian = jnp.asarray(np.random.default_rng(0).standard_normal((3, 5)))
    gap = jnp.array([1.0, -2.0, 0.5])
    tuned = jax.jit(ridge.tuned_outputs)(jacobian, gap, jnp.asarray(0.3))
    truth = oracle.ridge(np.asarray(jacobian), np.asarray(gap), 0.3)
    np.testing.assert_allclose(tuned, truth, rtol=SOLVE_RTOL)
