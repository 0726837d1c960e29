"""Flows against closed forms, conservation laws and their own coarser runs."""

from functools import partial

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.numerics.flow import gradient_flow, integrate

pytestmark = pytest.mark.usefixtures("x64")

TIMES = np.linspace(0, 5, 21)
RTOL = 1e-10
# A controlled integrator keeps the error per step below its tolerance; over some tens of steps of
# a flow that does not amplify errors it stays below this multiple of it.
ACCUMULATED = 100 * RTOL
# The same of the absolute tolerance, which is all that is left of a flow that has decayed.
DECAYED = 100 * 1e-12
# An absolute tolerance above every error of sixteen steps, and the share of a state they may miss.
NEVER_BINDS, SIXTEEN_STEPS = 1e-3, 1e-6


def logistic(y, rate):
    return rate * y * (1 - y)


def test_the_logistic_flow_has_its_closed_form():
    path = integrate(logistic, jnp.asarray(0.01), jnp.asarray(TIMES), 2.0)
    exact = 1 / (1 + 99 * np.exp(-2.0 * TIMES))
    np.testing.assert_allclose(path, exact, rtol=ACCUMULATED)


def test_a_rotation_conserves_its_radius():
    field = lambda z, _: {"x": -z["y"], "y": z["x"]}  # noqa: E731
    path = integrate(field, {"x": jnp.asarray(3.0), "y": jnp.asarray(4.0)}, jnp.asarray(TIMES))
    np.testing.assert_allclose(np.hypot(path["x"], path["y"]), 5, rtol=ACCUMULATED)


def test_a_gradient_flow_descends_its_loss():
    curvature = jnp.asarray([1.0, 3.0])
    loss = lambda w: jnp.sum(curvature * w**2) / 2  # noqa: E731
    path = gradient_flow(loss, jnp.ones(2), jnp.asarray(TIMES))
    exact = np.exp(-np.asarray(curvature) * TIMES[:, None])
    np.testing.assert_allclose(path, exact, atol=ACCUMULATED)


def test_the_coarser_run_is_further_from_the_truth_than_the_fine_one():
    exact = 1 / (1 + 99 * np.exp(-2.0 * TIMES))
    start, times = jnp.asarray(0.01), jnp.asarray(TIMES)
    run = jax.jit(lambda c: integrate(logistic, start, times, 2.0, tolerance_scale=c))
    fine, coarse = np.asarray(run(1.0)), np.asarray(run(32.0))
    assert np.max(np.abs(coarse - fine)) > np.max(np.abs(fine - exact))


@jax.jit
def decay(start, times, tolerance_scale):
    options = {"atol": NEVER_BINDS, "tolerance_scale": tolerance_scale}
    return integrate(lambda y, _: -y, start, times, **options)


@pytest.mark.parametrize("size", [1e-7, 1.0])
def test_the_coarser_run_differs_where_the_tolerances_bind_nowhere(size):
    """A short flow, and a state below the absolute tolerance: both take the longest steps."""
    times = np.linspace(0, 1, 8)
    fine, coarse = (np.asarray(decay(jnp.asarray(size), times, c)) for c in (1.0, 32.0))
    exact = size * np.exp(-times)
    assert 0 < np.max(np.abs(fine - exact)) < np.max(np.abs(coarse - fine)) < SIXTEEN_STEPS * size


def test_tolerance_scale_compiles_nothing_anew():
    traces = []

    @jax.jit
    def run(tolerance_scale):
        traces.append(1)
        start = jnp.asarray(0.01)
        return integrate(logistic, start, jnp.asarray(TIMES), 2.0, tolerance_scale=tolerance_scale)

    run(1.0)
    run(32.0)
    assert len(traces) == 1


@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_not_finite_becomes_nan_and_never_hangs(reverse):
    times = jnp.asarray(TIMES)
    options = {"reverse": reverse, "max_steps": 4096}
    run = jax.jit(partial(integrate, logistic, **options))
    assert np.all(np.isnan(run(jnp.asarray(jnp.nan), times, 2.0)))
    assert np.all(np.isnan(run(jnp.asarray(0.1), times, jnp.nan)))
    blow_up = integrate(lambda y, _: y**2, jnp.asarray(1.0), times, **options)
    assert np.all(np.isnan(blow_up))


def test_a_flow_that_is_too_stiff_becomes_nan():
    times = jnp.asarray([0.0, 1.0])
    run = jax.jit(partial(integrate, lambda y, rate: -rate * y, jnp.ones(()), times))
    relaxed = [np.asarray(run(rate)) for rate in (1e3, 1e7)]
    np.testing.assert_allclose(relaxed[0][-1], 0, atol=DECAYED)
    assert np.all(np.isnan(relaxed[1]))


def test_one_undefined_lane_does_not_spoil_another():
    starts = jnp.asarray([0.1, jnp.nan, 0.2])
    paths = jax.jit(jax.vmap(lambda y: integrate(logistic, y, jnp.asarray(TIMES), 2.0)))(starts)
    assert np.array_equal(np.isnan(paths).all(1), [False, True, False])


def test_derivatives_forward_and_reverse():
    def end(start, reverse):
        times = jnp.asarray(TIMES)
        return integrate(logistic, start, times, 1.0, reverse=reverse, max_steps=4096)[-1]

    start = 0.01
    exact = np.exp(-5.0) / (start + (1 - start) * np.exp(-5.0)) ** 2
    forward = jax.jit(jax.jacfwd(lambda s: end(s, False)))(jnp.asarray(start))
    reverse = jax.jit(jax.grad(lambda s: end(s, True)))(jnp.asarray(start))
    np.testing.assert_allclose([forward, reverse], exact, rtol=ACCUMULATED)


def test_float32_stays_float32():
    with jax.enable_x64(False):
        path = integrate(logistic, jnp.asarray(0.01), jnp.asarray(TIMES, np.float32), 2.0)
    assert path.dtype == np.float32
    exact = 1 / (1 + 99 * np.exp(-2.0 * TIMES))
    np.testing.assert_allclose(path, exact, rtol=1000 * np.finfo(np.float32).eps)
    beside_float64 = integrate(logistic, jnp.float32(0.01), jnp.asarray(TIMES, np.float32), 2.0)
    assert beside_float64.dtype == np.float32
    np.testing.assert_allclose(beside_float64, path, rtol=1000 * np.finfo(np.float32).eps)


def test_the_order_of_the_solver_shows():
    """Fixed steps of Dopri8 converge with order 8 here: the solver is the one we name."""
    errors = []
    for step in (0.5, 0.25):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, _: logistic(y, 1.0)),
            diffrax.Dopri8(),
            0.0,
            5.0,
            step,
            jnp.asarray(0.5),
        )
        errors.append(abs(float(solution.ys[0]) - 1 / (1 + np.exp(-5.0))))
    assert np.log2(errors[0] / errors[1]) > 6
