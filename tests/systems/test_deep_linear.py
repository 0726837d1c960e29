"""Deep linear dynamics: reduced ODE, L-matrix flow and an independent SciPy ODE."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.systems import deep_linear as deep
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.systems import linear_regression as regression
from validation.oracles import deep_linear as oracle
from validation.oracles import linear_regression as regression_oracle

EPS = np.finfo(np.float64).eps
TIMES = np.array([0.0, 0.1, 0.4, 1.0, 2.0])
COARSER = 32.0

pytestmark = pytest.mark.usefixtures("x64")

flow = jax.jit(deep.end_to_end_flow)
frozen_scale_flow = jax.jit(deep.frozen_scale_flow, static_argnums=(3, 4))
limit = jax.jit(deep_limit.limit)


@partial(jax.jit, static_argnames=("samples", "dimension"))
def problem(samples=2, dimension=5, seed=0):
    parts = jax.random.split(jax.random.key(seed), 4)
    return (
        jax.random.normal(parts[0], (samples, dimension)),
        jax.random.normal(parts[1], (dimension,)),
        jax.random.normal(parts[2], (dimension,)),
        parts[3],
    )


def arrays(*values):
    return tuple(np.asarray(value) for value in values)


def with_error(path, *arguments):
    """A compiled path and its error: the change when the tolerances are 32 times coarser."""
    fine, coarse = (path(*arguments, tolerance_scale=scale) for scale in (1.0, COARSER))
    error = np.max(np.abs(np.subtract(fine, coarse)))
    assert error < 1e-6, "the integrator's error is too large to compare anything"
    return np.asarray(fine), error + 1e3 * EPS


def test_flow_solves_the_printed_ode():
    data, source, target, _ = problem()
    for depth in (1.0, 2.0, 2.5, 5.0, 40.0):
        path, error = with_error(flow, data, source, target, depth, jnp.asarray(TIMES))
        expected = oracle.end_to_end_flow(*arrays(data, source, target), depth, TIMES)
        # The oracle runs at rtol 1e-12 over up to thousands of steps.
        np.testing.assert_allclose(path, expected, rtol=0, atol=error + 1e-10)


@pytest.mark.parametrize("depth", [*map(thorough, (2, 3)), 5])
def test_flow_is_that_of_the_matrices(depth):
    data, source, target, key = problem()
    layers = network.balanced_layers(key, source, (5,) * (depth - 1))
    times = jnp.asarray(TIMES)

    @jax.jit
    def matrices(tolerance_scale):
        path = partial(network.flow_path, layers, data, data @ target, times)
        return path(tolerance_scale=tolerance_scale).weights

    reduced, error = with_error(flow, data, source, target, float(depth), times)
    full, full_error = with_error(matrices)
    np.testing.assert_allclose(reduced, full, rtol=0, atol=error + full_error)


def test_flow_at_depth_one_is_linear_regression():
    data, source, target, _ = problem()
    times = jnp.asarray(TIMES)
    found, error = with_error(flow, data, source, target, 1.0, times)
    exact = [regression_oracle.flow(*arrays(data, source, target), time) for time in TIMES]
    np.testing.assert_allclose(found, exact, rtol=0, atol=error)


@pytest.mark.parametrize("depth", [2.0, 7.0])
def test_invariant_part_outside_the_data(depth):
    data, source, target, _ = problem()
    path = np.asarray(flow(data, source, target, depth, jnp.asarray(TIMES)))
    assert np.linalg.norm(path[-1] - source) > 0.1
    outside = path - path @ (basis := np.asarray(regression.row_space(data))) @ basis.T
    power = (depth - 1) / depth
    conserved = outside / np.linalg.norm(path, axis=1, keepdims=True) ** power
    # Conserved by construction, hence to rounding at any integrator tolerance.
    expected = np.broadcast_to(conserved[0], conserved.shape)
    np.testing.assert_allclose(conserved, expected, rtol=0, atol=64 * depth * EPS)


@pytest.mark.parametrize("seed", [1, thorough(2)])
def test_flow_ends_at_the_fixed_point(seed):
    data, source, target, _ = problem(seed=seed)
    found, expected = [], []
    for depth in (1.0, 2.0, 5.0, 16.0):
        expected.append(np.asarray(limit(data, source, target, depth)))
        size = np.linalg.norm(expected[-1]) ** (2 - 2 / depth)
        # d ln(loss)/dt is below minus this while ||beta|| is not below its limit.
        rate = 4 / data.shape[0] * np.linalg.norm(data, ord=-2) ** 2 * size
        times = jnp.linspace(0.0, 60.0, len(TIMES)) / rate
        found.append(np.asarray(flow(data, source, target, depth, times))[-1])
    found, expected = np.array(found), np.array(expected)
    losses = np.mean(np.square((found - np.asarray(target)) @ np.asarray(data).T), axis=1)
    # What is left to go, sqrt(n loss)/sigma_min inside the data; outside, where the invariant ties
    # beta to its norm, at most as much. The loss ends at the square of the integrator's error.
    smallest = np.linalg.norm(data, ord=-2)
    distance = np.sqrt(2 * losses) / smallest + 1e-9
    assert np.all(distance < 1e-7)
    assert np.all(np.linalg.norm(found - expected, axis=1) < 2 * distance)
    assert np.linalg.norm(expected[0] - expected[-1]) > 0.1


@pytest.mark.thorough
def test_flow_passes_close_to_zero_weights():
    # A target opposite to the source inside the data: the norm falls to s c_perp^L on the way.
    data = jnp.array([[1.0, 0.0, 0.0]])
    source, target, depth = jnp.array([1.0, 0.2, 0.0]), jnp.array([-1.0, 0.0, 3.0]), 3
    times = np.linspace(0, 400, 9)
    found, error = with_error(flow, data, source, target, depth, jnp.asarray(times))
    expected = oracle.end_to_end_flow(*arrays(data, source, target), depth, times)
    np.testing.assert_allclose(found, expected, rtol=0, atol=error + 1e-8)
    np.testing.assert_allclose(
        found[-1], limit(data, source, target, depth), rtol=0, atol=error + 1e-9
    )


def test_dependent_rows_zero_source_and_depth_below_one_are_no_numbers():
    data, source, target, _ = problem()
    data, source = arrays(data, source)
    cases = [(np.stack([data[0], 2 * data[0]]), source, 3.0), (data, 0 * source, 3.0)]
    cases += [(data, source, 0.5), (data, source, 3.0)]
    paths = [flow(*given, target, depth, jnp.asarray(TIMES)) for *given, depth in cases]
    assert [bool(np.isfinite(path).any()) for path in paths] == [False, False, False, True]


@pytest.mark.thorough
def test_flow_in_single_precision():
    data, source, target, _ = problem()
    exact = flow(data, source, target, 3.0, jnp.asarray(TIMES))
    *low, times = (part.astype(np.float32) for part in arrays(data, source, target, TIMES))
    found = jax.jit(partial(deep.end_to_end_flow, rtol=1e-5, atol=1e-6))(*low, 3.0, times)
    assert found.dtype == jnp.float32
    # The integrator's error per step, over some tens of steps.
    np.testing.assert_allclose(found, exact, rtol=0, atol=30 * 1e-5)


# Frozen layers


@pytest.mark.parametrize(("depth", "frozen"), [thorough(2, 1), (3, 1), (5, 2)])
def test_frozen_scale_solves_the_printed_ode(depth, frozen):
    data, source, target, _ = problem()
    times = jnp.asarray(TIMES)
    for goal in (target + 2 * source, -target - 2 * source):
        scale, error = with_error(frozen_scale_flow, data, source, goal, depth, frozen, times)
        problems = arrays(data, source, goal)
        expected = [oracle.frozen_scale(*problems, depth, frozen, time) for time in TIMES[1:]]
        np.testing.assert_allclose(scale[1:], expected, rtol=0, atol=error + 1e-10)


@pytest.mark.thorough  # frozen layers solve the printed equation beside
def test_frozen_closed_form_of_two_layers():
    data = jnp.array([[1.0, 0.5], [0.0, 2.0]])
    source = jnp.array([1.0, 0.5])
    # X source = (1.25, 1), to which (-1, 1.25) is orthogonal: c* is the factor of the source.
    blind = np.linalg.solve(data, np.array([-1.0, 1.25]))
    best = np.array([1.5, 0.0, -1.0])
    targets = jnp.asarray(best[:, None] * np.asarray(source) + blind)
    times = np.array([0.0, 0.3, 2.0, 50.0, 300.0])
    # A = (2K/n) ||X source||^2 / ||source||^(2/L), and K = n = 2.
    rate = 2 * (1.25**2 + 1) / np.sqrt(np.linalg.norm(source))
    for target, end in zip(targets, best, strict=True):
        given = data, source, target, 4, 2, jnp.asarray(times)
        scale, error = with_error(frozen_scale_flow, *given)
        # c* / (1 - (1 - c*) exp(-A c* t)), which decays algebraically at c* = 0.
        with np.errstate(over="ignore"):  # for c* < 0, where c tends to 0
            left = np.exp(-rate * end * times)
        closed = 1 / (1 + rate * times) if end == 0 else end / (1 - (1 - end) * left)
        np.testing.assert_allclose(scale, closed, rtol=0, atol=error)
        assert end == 0 or abs(float(scale[-1]) - max(end, 0)) <= error


@pytest.mark.parametrize("frozen", [1, thorough(2)])
def test_frozen_network_keeps_the_direction_of_the_source(frozen):
    data, source, target, key = problem()
    layers = network.balanced_layers(key, source, (5, 5))
    times = jnp.asarray(TIMES)

    @jax.jit
    def matrices(tolerance_scale):
        path = partial(network.flow_path, layers, data, data @ target, times, frozen=frozen)
        return path(tolerance_scale=tolerance_scale).weights

    full, error = with_error(matrices)
    scale, scale_error = with_error(frozen_scale_flow, data, source, target, 3, frozen, times)
    assert abs(float(scale[-1]) - 1) > 0.1
    source = np.asarray(source)
    size = np.linalg.norm(source)
    np.testing.assert_allclose(
        full, scale[:, None] * source, rtol=0, atol=error + size * scale_error
    )
    along = (full @ source / (source @ source))[:, None] * source
    np.testing.assert_allclose(full, along, rtol=0, atol=1e3 * EPS)


def test_frozen_data_blind_to_the_source_change_nothing():
    data, source, target = jnp.eye(5)[1:3], 2 * jnp.eye(5)[0], jnp.ones(5)
    scale = frozen_scale_flow(data, source, target, 3, 1, jnp.asarray(TIMES))
    np.testing.assert_array_equal(scale, np.ones(5))


@pytest.mark.parametrize("frozen", [0, 3])
def test_frozen_layers_out_of_range(frozen):
    data, source, target, _ = problem()
    with pytest.raises(ValueError, match=f"{frozen} frozen layers of 3: freeze at least 1"):
        deep.frozen_scale_flow(data, source, target, 3, frozen, jnp.asarray(TIMES))


# Checks of a user's problem


def test_good_problems_are_accepted():
    data, source, target, _ = problem()
    for depth in (1, 2.5, np.inf):
        assert jnp.all(jnp.isfinite(deep_limit.limit(data, source, target, depth)))


LIMITS = [
    (lambda x, s, t: (x, s, t, 0), "depth 0 is below 1: use at least one layer"),
    (lambda x, s, t: (x.T, s[:2], t[:2], 2), "5 samples exceed the dimension 2"),
    (lambda x, s, t: (x.at[1].set(x[0]), s, t, 2), "X X.T is singular: row 1.*remove dependent"),
    (lambda x, s, t: (x.at[1].set(jnp.nan), s, t, 2), "row 1 of the data is not finite"),
    (lambda x, s, t: (x, 0 * s, t, 2), "source is zero.*use a nonzero source"),
    (lambda x, s, t: (x, s * jnp.inf, t, 2), "source is not finite"),
    (lambda x, s, t: (jnp.eye(5), s, t, 2), r"P_perp source.* use fewer samples"),
    (lambda x, s, t: (x, x.T @ x @ s, t, 2), r"P_perp source.* use fewer samples"),
]


@pytest.mark.parametrize(("change", "message"), LIMITS)
def test_limits_name_the_degenerate_case(change, message):
    data, source, target, _ = problem()
    with pytest.raises(ValueError, match=message):
        deep_limit.limit(*change(data, source, target))


@pytest.mark.parametrize(("change", "message"), LIMITS[:6])
def test_flows_name_the_degenerate_case(change, message):
    data, source, target, _ = problem()
    *parts, depth = change(data, source, target)
    with pytest.raises(ValueError, match=message):
        deep.end_to_end_flow(*parts, depth, jnp.asarray(TIMES))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, t: (s.at[:2].set(0), t), "P_par source.*degenerate"),
        (lambda s, t: (s, t.at[:2].set(0)), "P_par target.*degenerate"),
        (lambda s, t: (s.at[2:].set(0), t), "P_perp source.*degenerate"),
    ],
)
def test_the_limit_of_infinite_depth_names_the_degenerate_case(change, message):
    _, source, target, _ = problem()
    with pytest.raises(ValueError, match=message):
        deep_limit.infinite_depth_limit(jnp.eye(5)[:2], *change(source, target))
