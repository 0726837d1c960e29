"""What the fine-tuning lemmas share, against NumPy, a flow and exact arithmetic."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from scipy.integrate import solve_ivp

from theorysim.claims import Real
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _batch_sizes as a_13
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _one_step as one
from theorysim.theorems.overtraining import _runs as runs

pytestmark = pytest.mark.usefixtures("x64")

# A dozen products of 4 x 4 matrices and a few additions.
ROUNDING = 256 * np.finfo(np.float64).eps


def _instance(seed: int = 0, **sizes):
    space = one.two_state_space(depth=Real(3, 15))
    return space.sample(jax.random.key(seed), space.default_sizes(**sizes))


def _covariances(steps: int, d: int):
    return jnp.eye(d) + 0.1 * runs.directions(jax.random.key(1), d, steps)


def test_the_shares_reach_their_limits():
    x = _instance().replace(rate_share=jnp.asarray(1.0))
    assert abs(float(ft.small_rate(x))) <= ROUNDING
    assert float(ft.growth(x, 16)) == pytest.approx(
        1 + 4 / (float(ft.pull_back(x)) + 2), rel=ROUNDING
    )


def test_steps_to_the_letter_are_those_of_numpy():
    x = _instance(d=3)
    covariances, start = _covariances(2, 3), one.state(x, x.left, x.right)
    anchor = one.anchor(x)
    path = runs.run_printed(x, start, anchor, covariances)
    eta, lam = float(ft.learning_rate(x)), float(ft.pull_back(x))
    target = np.asarray(x.U) @ np.diag(ft.ft_spectrum(x)) @ np.asarray(x.V).T
    first, second = (np.asarray(w) for w in start)
    for k in range(2):
        error, pull = first @ second - target, lam * (first @ second - np.asarray(anchor))
        covariance = np.asarray(covariances[k])
        first, second = (
            first - 2 * eta * (error @ covariance + pull) @ second.T,
            second - 2 * eta * first.T @ (covariance @ error + pull),
        )
        assert np.allclose(path[0][k + 1], first, rtol=0, atol=ROUNDING * np.abs(first).max())
        assert np.allclose(path[1][k + 1], second, rtol=0, atol=ROUNDING * np.abs(second).max())


def test_the_first_factor_to_the_letter_is_the_descent_and_the_second_is_not():
    x = _instance(d=3)
    covariances, start = _covariances(1, 3), one.state(x, x.left, x.right)
    printed = runs.run_printed(x, start, one.anchor(x), covariances)
    descended = runs.fine_tune_on(x, start, one.anchor(x), covariances)
    size = float(ft.op_norm(start[0]))
    assert np.allclose(printed[0], descended[0], rtol=0, atol=ROUNDING * size)
    assert not np.allclose(printed[1], descended[1], rtol=0, atol=1e3 * ROUNDING * size)


def test_runs_turn_with_the_coordinates():
    x = _instance(d=4)
    straight, covariances = ft.rotated(x), _covariances(5, 4)
    turned = dot(x.V.T, covariances, x.V)
    run = jax.jit(lambda x, given: runs.fine_tune_on(x, ft.real_start(x), one.anchor(x), given))
    given, simple = run(x, covariances), run(straight, turned)
    size = ROUNDING * float(jnp.sqrt(ft.gamma(x)))
    assert np.allclose(dot(x.U.T, given[0]), simple[0], rtol=0, atol=5 * size)
    assert np.allclose(dot(given[1], x.V), simple[1], rtol=0, atol=5 * size)


@pytest.mark.parametrize("n", [1, thorough(2), 3])
def test_real_modes_are_those_of_the_flow(n):
    x = _instance(d=3).replace(
        depth=jnp.asarray(4.0),
        n=jnp.asarray(n),
        scale=jnp.asarray(0.5),
        pre=jnp.asarray([5.0, 3.0, 1.5]),
    )
    spectrum = ft.pre_spectrum(x)
    begin = jnp.full(3, jnp.exp(-x.depth) * jnp.sqrt(spectrum[0]))
    following = spectrum[n] if n < 3 else 0.0
    time = 3 * x.depth / (2 * (2 * spectrum[n - 1] + following))
    target = ft.assembled(x, spectrum)
    goal = np.asarray(target)

    def field(_, flat):
        first, second = flat.reshape(2, 3, 3)
        error = 2 * (first @ second - goal)
        return -np.stack([error @ second.T, first.T @ error]).ravel()

    start = np.stack(ft.factors(x, begin)).ravel()
    run = solve_ivp(field, (0, float(time)), start, "DOP853", rtol=1e-10, atol=1e-12)
    first, second = run.y[:, -1].reshape(2, 3, 3)
    # The flow's tolerance is 1e-10 relative to factors of size sqrt(2.5), some hundred steps.
    flow = 1e-8
    assert np.allclose(first, ft.real_start(x)[0], rtol=0, atol=flow)
    assert np.allclose(second, ft.real_start(x)[1], rtol=0, atol=flow)


@pytest.mark.parametrize("n", [1, 2])
def test_stages_are_the_same_in_all_units(n):
    """Before, a start of small features was called a stage when the next one was learned, too."""
    x = _instance(d=3).replace(
        depth=jnp.asarray(8.0), n=jnp.asarray(n), pre=jnp.asarray([4.0, 2.0, 1.0])
    )
    shares = [
        np.asarray(ft.real_modes(y) ** 2 / ft.pre_spectrum(y))
        for y in (x.replace(scale=jnp.asarray(scale)) for scale in (1e-8, 1.0, 100.0))
    ]
    assert (shares[0][:n] > 0.5).all() and (shares[0][n:] < 0.5).all()
    # An exponent of up to 4 depth turns its relative rounding, of a few operations, into that many.
    rounding = 8 * 4 * 8.0 * np.finfo(float).eps
    np.testing.assert_allclose(shares[0], shares[1], rtol=rounding)
    np.testing.assert_allclose(shares[2], shares[1], rtol=rounding)


def test_batch_sizes_by_hand():
    # d = 2, K = 10, delta = e^3 / 100: log(10 K delta) = 3, log(K / delta) = log(1000) - 3.
    delta = float(np.exp(3)) / 100
    assert float(a_13.printed_batch(2, 10, delta, 5.0, 0.1)) == pytest.approx(-2500, rel=1e-12)
    union = 2500 * (np.log(1000) - 1)
    assert float(a_13.union_batch(2, 10, delta, 5.0, 0.1)) == pytest.approx(union, rel=1e-12)
    assert float(a_13.least_batch(2, -2500.0)) == 2
    assert union <= float(a_13.least_batch(2, union)) <= 1.002 * union + 1


def _exact_growth(lam: int) -> tuple[Fraction, Fraction]:
    """Growth of the distance of two scalar states near (-2, 2) at Gamma = 1 and A.8's limit."""
    eta = Fraction(1, 4 * (lam + 2))
    apart = Fraction(1, 10**6)

    def step(first, second):
        slope = 2 * (1 + lam) * (first * second - 1)
        return first - eta * slope * second, second - eta * slope * first

    here, there = step(Fraction(-2), Fraction(2)), step(-2 + apart, 2 - apart)
    growth = max(abs(a - b) for a, b in zip(here, there)) / apart
    return growth, eta


@pytest.mark.parametrize("lam", [9, 100, 10_000])
def test_the_growth_of_one_step_in_exact_arithmetic(lam):
    """The factors that Lemmas A.16 and A.18 print fail; 18 (1 + lam) is attained for large lam."""
    growth, eta = _exact_growth(lam)
    assert growth > 1 + 32 * eta > 1 + 16 * eta
    bound = 1 + 18 * (1 + lam) * eta
    assert growth < bound
    # For states that touch, the distance to the bound is 2 (1 - 4 (1 + lam) eta) = 2 / (lam + 2).
    assert abs(bound - growth - Fraction(2, lam + 2)) < Fraction(1, 10**4)
