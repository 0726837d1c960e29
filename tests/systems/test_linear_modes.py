"""Single modes against many digits, their differential equation and descent of their loss."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import optax
import pytest

from theorysim.numerics.descent import descend_to
from theorysim.systems import linear_modes as modes
from theorysim.systems.linear_modes import Tuning
from validation.oracles import two_layer_linear as oracle

EPS = np.finfo(np.float64).eps

pytestmark = pytest.mark.usefixtures("x64")


def tunings():
    """Ratios of targets from 1/100 to 100, with and without pull-back, and one at its limit."""
    feature = jnp.asarray([2.0, 0.02, 7.0, 1.0, 1.0 + 1e-9])
    anchor = jnp.asarray([1.0, 2.0, 0.07, 1.0, 1.0])
    pull_back = jnp.asarray([0.0, 0.3, 10.0, 1.0, 0.1])
    return Tuning(feature, anchor, pull_back, 0.2 / (4 * (pull_back + 2) * (feature + anchor)))


@pytest.mark.parametrize("tau", [0.1, 5.0, 40.0, 400.0])
@pytest.mark.parametrize("feature", [0.01, 0.9, 10.0])
def test_growth_agrees_with_many_digits(feature, tau):
    scale = tau / (2 * feature)
    times = scale * np.array([0.0, 1e-9, 0.3, 0.9, 1.0, 1.1, 3.0, 50.0])
    found = modes.log_growth(jnp.asarray(times), jnp.asarray(feature), jnp.asarray(tau))
    exact = [float(oracle.log_growth(t, feature, tau)) for t in times]
    # The exponent 2 tau - 4 sigma t is rounded before it decides anything.
    room = 8 * EPS * (1 + 2 * tau)
    np.testing.assert_allclose(found, exact, rtol=0, atol=room)
    grown = modes.growth(jnp.asarray(times), jnp.asarray(feature), jnp.asarray(tau))
    smallest = np.finfo(np.float64).tiny  # below it, numbers lose digits or are zero
    np.testing.assert_allclose(grown, np.exp(exact), rtol=room, atol=smallest)


def test_slopes_where_the_exponentials_change_places_are_those_on_either_side():
    feature, tau = jnp.asarray(2.0), jnp.asarray(1.0)
    slope = jax.jit(jax.grad(modes.growth))
    near = 1e-9
    at, *around = (slope(jnp.asarray(0.25 + shift), feature, tau) for shift in (0, -near, near))
    assert 2 * tau == 4 * feature * 0.25
    # Slopes differ by the curvature, of some 4 feature; half of one exponential would be far off.
    np.testing.assert_allclose(around, at, rtol=16 * float(feature) * near)
    theta = modes.growth(jnp.asarray(0.25), feature, tau)
    np.testing.assert_allclose(at, 4 * theta * (feature - theta), rtol=8 * EPS)


def test_growth_solves_its_equation_also_without_a_feature():
    times, features = jnp.meshgrid(jnp.asarray([0.0, 0.7, 3.0]), jnp.asarray([0.0, 0.5, 2.0]))
    tau = jnp.full_like(times, 1.5)
    run = jax.jit(
        lambda t: jax.jvp(lambda t: modes.growth(t, features, tau), (t,), (jnp.ones((3, 3)),))
    )
    theta, slope = run(times)
    np.testing.assert_allclose(slope, 4 * theta * (features - theta), atol=64 * EPS)
    np.testing.assert_allclose(theta[0], 1 / (np.exp(3.0) + 4 * times[0]), rtol=64 * EPS)


def test_derivatives_are_finite_at_the_start_and_far_away():
    slopes = jax.jit(jax.vmap(jax.grad(modes.log_growth, (0, 1, 2))))(
        jnp.asarray([0.0, 0.0, 1e6, 1.0]), jnp.asarray([0.0, 2.0, 2.0, 2.0]), jnp.full(4, 300.0)
    )
    # d log theta / d tau falls from -2 to 0 as the mode is learned.
    np.testing.assert_allclose(slopes[2], [-2, -2, 0, -2], atol=8 * EPS)
    assert all(np.all(np.isfinite(slope)) for slope in slopes)
    slopes = jax.jit(jax.vmap(jax.grad(modes.growth, (0, 1, 2))))(
        jnp.asarray([0.0, 0.0, 1e6, 1.0]), jnp.asarray([0.0, 2.0, 2.0, 2.0]), jnp.full(4, 600.0)
    )
    assert all(np.all(np.isfinite(slope)) for slope in slopes)


def test_stage_times_are_where_the_errors_are_least():
    features = jnp.asarray([4.0, 2.5, 1.0])

    @jax.jit
    @partial(jax.vmap, in_axes=(0, None, None))
    def log_errors(time, stage, tau):
        target = jnp.where(jnp.arange(3) < stage, features, 0.0)
        theta = modes.growth(jnp.full(3, time), features, jnp.full(3, tau))
        return jnp.log(jnp.linalg.norm(jnp.sqrt(theta) - jnp.sqrt(target)))

    stage_times = jax.jit(modes.stage_times)
    for stage in (1, 2):
        here, following = float(features[stage - 1]), float(features[stage])
        rate, logs = 2 * (here - following) / (2 * here + following), []
        for exponent in (12.0, 14.0):  # small errors, but far above rounding
            tau = exponent / rate
            best = float(stage_times(features, jnp.asarray(tau))[stage - 1])
            grid = np.linspace(0.5, 1.5, 2001) * best
            errors = np.asarray(log_errors(grid, stage, tau))
            # Prefactors of both errors shift the minimum by a time of order one.
            assert abs(grid[np.argmin(errors)] - best) < 1.0
            logs.append(errors[1000])
        # What is left out is smaller than the error by at least one power of it, exp(-12).
        assert logs[0] - logs[1] == pytest.approx(2.0, abs=1e-4)


@pytest.mark.parametrize("steps", [0, 1, 2, 10, 200])
def test_descent_is_that_of_the_loss_in_many_digits(steps):
    tuning = tunings()
    exact = np.array([oracle.weights(*map(float, t), steps=steps) for t in zip(*tuning)], float)
    found = jax.jit(modes.descent)(jnp.sqrt(tuning.anchor), tuning, steps)
    # Errors of single steps add up at most: the map contracts.
    room = 8 * (1 + steps) * EPS
    np.testing.assert_allclose(found, exact[:, 0], rtol=room)
    np.testing.assert_allclose(found, exact[:, 1], rtol=room)

    def loss(weights, feature, anchor, pull_back):
        theta = weights[0] * weights[1]
        return (theta - feature) ** 2 + pull_back * (theta - anchor) ** 2

    def run(feature, anchor, pull_back, rate):
        start = (jnp.sqrt(anchor), jnp.sqrt(anchor))
        return descend_to(
            lambda w: loss(w, feature, anchor, pull_back), start, optax.sgd(rate), steps
        )

    for weight in jax.vmap(run)(*tuning):
        np.testing.assert_allclose(found, weight, rtol=room)


@pytest.mark.parametrize("steps", [1, 10, 300])
def test_changes_have_all_their_digits(steps):
    tuning = tunings()
    changes = np.asarray(modes.change(tuning, steps))
    for parts, change in zip(zip(*tuning), changes, strict=True):
        feature, anchor, pull_back, rate = map(float, parts)
        with mp.workdps(oracle.DIGITS):
            weight, _ = oracle.weights(feature, anchor, pull_back, rate, steps)
            exact = weight**2 - mp.mpf(anchor)
            # Relative, although it may be far below eps times the weight.
            assert abs(float(change) - exact) <= 16 * (1 + steps) * EPS * abs(exact)


def test_the_limit_minimises_the_loss_and_the_printed_one_does_not():
    tuning = tunings()

    def slope(theta):
        return theta - tuning.feature + tuning.pull_back * (theta - tuning.anchor)

    size = (1 + tuning.pull_back) * (tuning.feature + tuning.anchor)
    assert np.all(np.abs(slope(modes.limit(tuning))) <= 4 * EPS * size)
    # They agree where both targets do, or for a pull-back of one.
    wrong = np.abs(slope(modes.printed_limit(tuning))) > 1e-3 * size
    assert wrong.tolist() == [True, True, True, False, False]


def test_the_printings_of_the_map_agree_without_pull_back_only():
    tuning = tunings()
    weight = jnp.linspace(0.4, 0.9, 5)
    gap = modes.step(weight, tuning) - modes.printed_step(weight, tuning)
    lost = 2 * tuning.learning_rate * tuning.pull_back * (weight - 1) * (tuning.anchor - weight**2)
    np.testing.assert_allclose(gap, lost, atol=8 * EPS)
    assert gap[0] == 0 and np.all(np.abs(gap[1:]) > 1e-6)


def test_mean_decay_at_every_size():
    x = np.array([0.0, 1e-12, 1e-6, 5e-6, 7e-6, 1e-3, 1.0, 50.0, 1e4])
    with mp.workdps(60):
        means: list[Any] = [mp.quad(lambda s, x=x: mp.exp(-mp.mpf(x) * s), [0, 1]) for x in x[:-2]]
    exact = [*map(float, means), (1 - np.exp(-50.0)) / 50, 1e-4]
    np.testing.assert_allclose(jax.jit(modes.mean_decay)(jnp.asarray(x)), exact, rtol=8 * EPS)
    assert jax.jit(jax.grad(modes.mean_decay))(0.0) == -0.5
