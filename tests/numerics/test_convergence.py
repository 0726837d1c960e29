"""Distances to known limits: covered where convergence is geometric, no number elsewhere."""

import itertools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from drawn import every_second, thorough

from theorysim.numerics.convergence import SAFETY, distance_to_limit

EPS = np.finfo(np.float64).eps

pytestmark = pytest.mark.usefixtures("x64")


compiled = jax.jit(distance_to_limit)


def found(path) -> float:
    return float(compiled(jnp.asarray(path, float)))


@pytest.mark.parametrize("rate", [0.04, 0.5, -0.5, 0.9, 0.98, 0.999])
@pytest.mark.parametrize("steps", [10, 30, 100, 1000, 30_000])
def test_geometric_paths_are_covered_and_no_worse_than_by_their_safety(rate, steps):
    path = 1 - rate ** np.arange(steps + 1)
    distance, truth = found(path), abs(rate) ** steps
    if steps * (1 - abs(rate)) < 1.001:
        assert np.isnan(distance)  # it has not come down by a factor of e
    else:
        rounding = 8 * EPS / (1 - abs(rate))
        assert truth <= distance
        both_sides = (1 + abs(rate)) / (1 - abs(rate)) if rate < 0 else 1
        assert distance <= 1.01 * (SAFETY * both_sides * truth + rounding)


@pytest.mark.parametrize("power", [1.0, 1.2, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("terms", [11, 101, 1001, 30_001])
def test_sums_of_slow_powers_have_no_number(power, terms):
    assert np.isnan(found(np.cumsum(np.arange(1, terms + 1.0) ** -power)))


@pytest.mark.parametrize("power", [6, 8])
@pytest.mark.parametrize("terms", [31, 101])
def test_sums_of_fast_powers_are_covered(power, terms):
    left = float(mpmath.zeta(power) - mpmath.nsum(lambda k: k**-power, [1, terms]))
    distance = found(np.cumsum(np.arange(1, terms + 1.0) ** -power))
    assert left <= distance <= 10 * left


@pytest.mark.parametrize("steps", [31, 1001, 30_001])
def test_descent_on_a_quartic_and_logarithms_have_no_number(steps):
    def step(w, _):
        return w - 0.3 * w**3, w

    assert np.isnan(found(jax.lax.scan(step, 1.0, length=steps)[1]))
    assert np.isnan(found(1 / np.log(2.0 + np.arange(steps))))


@pytest.mark.parametrize(("rate", "turn"), [(0.9, 0.7), (0.99, 0.05), (0.99, 1.5), (0.8, 1.0)])
@pytest.mark.parametrize("steps", [thorough(600), 1001, thorough(3000)])
def test_damped_oscillations_are_covered(rate, turn, steps):
    time = np.arange(steps)
    path = 1 - rate**time * np.cos(turn * time)
    assert abs(1 - path[-1]) <= found(path) < 1e3 * rate**steps + 1e-12


@pytest.mark.parametrize("rates", [(0.5, 0.9), (0.9, 0.95), (0.9, 0.99), (0.5, 0.99, 0.999)])
@pytest.mark.parametrize("steps", [30, 100, 1000, *map(thorough, (20, 60, 200, 600, 2000, 6000))])
def test_slower_modes_that_take_over_are_covered_or_have_no_number(rates, steps):
    left = sum(rate**steps for rate in rates)
    path = len(rates) - sum(rate ** np.arange(steps + 1) for rate in rates)
    distance = found(path)
    assert np.isnan(distance) or left <= distance
    if steps > 3 / (1 - max(rates)):
        assert distance <= 4 * left + 1e3 * EPS


@pytest.mark.parametrize("steps", every_second([12, 20, 100, 1000]))
def test_two_modes_that_cancel_where_the_path_ends_are_covered(steps):
    """Steps of opposite signs: near its turn a path looks as if it had arrived."""
    shares = np.linspace(0.05, 3, 60)[:, None]  # of the slower mode in the last step
    until_end = np.arange(steps + 1) - steps
    for fast, slower in itertools.product((2.0, 4.0, 9.0), (0.1, 0.5, 0.7, 0.95)):
        rates = np.exp(-fast / steps * np.array([1, slower]))
        one, other = (rate**until_end / (1 - rate) for rate in rates)
        paths = shares * other - one
        distance = np.asarray(compiled(paths))
        assert np.all(np.isnan(distance) | (np.abs(paths[:, -1]) <= distance))
        if fast * slower > 2:
            assert np.all(np.isfinite(distance[shares[:, 0] < 0.9]))


def test_paths_at_rest_are_at_their_limits():
    ulps = 4 * EPS
    assert found(np.ones(31)) <= ulps
    assert found(1 + EPS * np.array([0, 1.0, -1, 0, 1])) <= ulps
    assert found([0, 1.0, 1, 1, 1]) <= ulps
    assert found([3.0, 0.1, 0, 0, 0]) <= 3 * ulps
    assert found(np.zeros(5)) == 0


@pytest.mark.parametrize(
    "path",
    [
        np.arange(9.0),
        2.0 ** np.arange(9),
        np.random.default_rng(0).normal(size=101),
        [0.0, 1.0],
        [1.0, np.nan, 1.0, 1.0],
        [1.0, np.inf, 1.0, 1.0],
    ],
)
def test_what_does_not_converge_or_is_too_short_has_no_number(path):
    assert not np.isfinite(found(path))


def test_paths_of_a_stack_are_measured_alone():
    stack = np.stack([1 - 0.5 ** np.arange(31.0), np.arange(31.0), np.ones(31)])
    together = np.asarray(compiled(jnp.asarray(stack)))
    np.testing.assert_array_equal(together, [found(path) for path in stack])
