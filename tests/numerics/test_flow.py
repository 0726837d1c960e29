"""Flows against closed forms, conservation laws and their own coarser runs."""

from functools import partial

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

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


TRACED = []


@jax.jit
def compiled(start, times, rate, tolerance_scale):
    TRACED.append(1)
    return integrate(logistic, start, times, rate, tolerance_scale=tolerance_scale)


def logistic_path(start, rate=2.0, times=TIMES, tolerance_scale=1.0):
    given = (jnp.asarray(each, float) for each in (start, times, rate, tolerance_scale))
    return np.asarray(compiled(*given))


def test_the_logistic_flow_has_its_closed_form():
    exact = 1 / (1 + 99 * np.exp(-2.0 * TIMES))
    np.testing.assert_allclose(logistic_path(0.01), exact, rtol=ACCUMULATED)


@pytest.mark.thorough  # closed forms of the other flows stay
def test_a_rotation_conserves_its_radius():
    field = lambda z, _: {"x": -z["y"], "y": z["x"]}  # noqa: E731
    path = jax.jit(partial(integrate, field))({"x": 3.0, "y": 4.0}, jnp.asarray(TIMES))
    np.testing.assert_allclose(np.hypot(path["x"], path["y"]), 5, rtol=ACCUMULATED)


def test_a_gradient_flow_descends_its_loss():
    loss = lambda w: (w["x"] ** 2 + 3 * w["y"] ** 2) / 2  # noqa: E731
    path = jax.jit(partial(gradient_flow, loss))({"x": 1.0, "y": 1.0}, jnp.asarray(TIMES))
    np.testing.assert_allclose(path["x"], np.exp(-TIMES), atol=ACCUMULATED)
    np.testing.assert_allclose(path["y"], np.exp(-3 * TIMES), atol=ACCUMULATED)


def test_the_coarser_run_is_further_from_the_truth_than_the_fine_one():
    exact = 1 / (1 + 99 * np.exp(-2.0 * TIMES))
    fine, coarse = (logistic_path(0.01, tolerance_scale=c) for c in (1.0, 32.0))
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
    logistic_path(0.01, tolerance_scale=1.0)
    before = len(TRACED)
    logistic_path(0.01, tolerance_scale=32.0)
    assert len(TRACED) == before


def assert_undefined_where_not_finite(run):
    assert np.all(np.isnan(run(np.nan, 2.0)))
    assert np.all(np.isnan(run(0.1, np.nan)))
    assert np.all(np.isnan(run(-1.0, 2.0)))  # it blows up at log(2) / 2


def test_what_is_not_finite_becomes_nan_and_never_hangs():
    assert_undefined_where_not_finite(logistic_path)


@pytest.mark.thorough  # the steps are those of the forward flow
def test_what_is_not_finite_becomes_nan_with_room_for_reverse_derivatives():
    run = jax.jit(partial(integrate, logistic, reverse=True, max_steps=4096))
    times = jnp.asarray(TIMES)
    assert_undefined_where_not_finite(lambda start, rate: run(jnp.asarray(start), times, rate))


def test_a_flow_that_is_too_stiff_becomes_nan():
    relaxed = [logistic_path(2.0, rate, TIMES / 5) for rate in (1e3, 1e7)]
    np.testing.assert_allclose(relaxed[0][-1], 1, rtol=ACCUMULATED)
    assert np.all(np.isnan(relaxed[1]))


def test_one_undefined_lane_does_not_spoil_another():
    starts = jnp.asarray([0.1, jnp.nan, 0.2])
    paths = jax.jit(jax.vmap(lambda y: integrate(logistic, y, jnp.asarray(TIMES), 2.0)))(starts)
    assert np.array_equal(np.isnan(paths).all(1), [False, True, False])


@pytest.mark.parametrize("reverse", [False, thorough(True)])
def test_derivatives_forward_and_reverse(reverse):
    @jax.jit
    @(jax.grad if reverse else jax.jacfwd)
    def slope(start):
        times = jnp.asarray(TIMES)
        return integrate(logistic, start, times, 1.0, reverse=reverse, max_steps=4096)[-1]

    start = 0.01
    exact = np.exp(-5.0) / (start + (1 - start) * np.exp(-5.0)) ** 2
    assert float(slope(start)) == pytest.approx(exact, rel=ACCUMULATED)


@pytest.mark.parametrize("double_exists", [False, thorough(True)])
def test_float32_stays_float32(double_exists):
    with jax.enable_x64(double_exists):
        start, times = jnp.float32(0.01), jnp.asarray(TIMES, np.float32)
        path = jax.jit(partial(integrate, logistic))(start, times, 2.0)
    assert path.dtype == np.float32
    exact = 1 / (1 + 99 * np.exp(-2.0 * TIMES))
    np.testing.assert_allclose(path, exact, rtol=1000 * np.finfo(np.float32).eps)


def test_the_order_of_the_solver_shows():
    """Fixed steps of Dopri8 converge with order 8 here: the solver is the one we name."""

    @jax.jit
    def end(step):
        term = diffrax.ODETerm(lambda t, y, _: logistic(y, 1.0))
        return diffrax.diffeqsolve(term, diffrax.Dopri8(), 0.0, 5.0, step, 0.5).ys[0]

    exact = 1 / (1 + np.exp(-5.0))
    coarse, fine = (abs(float(end(step)) - exact) for step in (0.5, 0.25))
    assert np.log2(coarse / fine) > 6
