"""States near the ideal ones: differences without cancellation, and the radii of Lemma A.6."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from drawn import thorough

from theorysim.theorems.overtraining._finetuning import factors, ideal_start, pre_spectrum
from theorysim.theorems.overtraining._perturbation import (
    move_in_ball,
    perturbation_space,
    perturbed_loss_rise,
    target,
    variance,
)
from theorysim.theorems.overtraining.assumption_a_2 import corrected_radius, printed_radius

EPS = np.finfo(np.float64).eps


def instance(d: int, key: int = 0, **values):
    """A random instance with some values replaced."""
    space = perturbation_space()
    x = space.sample(jax.random.key(key), space.default_sizes(d=d))
    return x.replace(**{name: jnp.asarray(value) for name, value in values.items()})


def many_digits(x, start, move):
    """The rise of the perturbed loss in 50 digits, as the plain difference of two losses."""
    gamma2, goal = mpmath.mpf(float(variance(x))), mpmath.matrix(np.asarray(target(x)).tolist())

    start, move = ([mpmath.matrix(np.asarray(w).tolist()) for w in pair] for pair in (start, move))

    def loss(first, second):
        norms = mpmath.norm(first) ** 2 + mpmath.norm(second) ** 2
        return mpmath.norm(first * second - goal) ** 2 + x.d * gamma2 * norms

    with mpmath.workdps(50):
        return float(loss(*(s + m for s, m in zip(start, move))) - loss(*start))


@pytest.mark.parametrize("distance", [1e-1, 1e-6, 1e-12])
def test_the_rise_keeps_its_digits_however_near_the_states_are(distance):
    with jax.enable_x64(True):
        x = instance(3, n=2, noise=5.0)
        start, move = ideal_start(x), distance * jax.random.normal(jax.random.key(1), (2, 3, 3))
        found = float(perturbed_loss_rise(x, start, (move[0], move[1])))
        # Some dozen operations on terms that are at most ten times their sum.
        assert found == pytest.approx(many_digits(x, start, move), rel=256 * EPS)


@pytest.mark.parametrize("aligned", [-1.0, -0.3, 0.0, 1.0])
def test_moves_have_the_length_of_the_radius(aligned):
    with jax.enable_x64(True):
        centre, way = jax.random.normal(jax.random.key(2), (2, 4, 4))
        move = move_in_ball(centre, jnp.asarray(0.01), way, jnp.asarray(aligned))
        assert float(jnp.linalg.norm(move)) == pytest.approx(0.01, rel=32 * EPS)
        along = float(jnp.sum(move * centre)) / (0.01 * float(jnp.linalg.norm(centre)))
        if abs(aligned) == 1:
            assert along == pytest.approx(aligned, rel=32 * EPS)


rise = jax.jit(perturbed_loss_rise)


def worst_ratio(x, radius):
    """|rise| over (pre_d)^2 / 2 where both factors shrink or grow along themselves."""
    ideal = ideal_start(x)
    ratios = []
    for sign in (-1.0, 1.0):
        move = tuple(move_in_ball(w, radius(x), w, jnp.asarray(sign)) for w in ideal)
        ratios.append(abs(float(rise(x, ideal, (move[0], move[1])))))
    return max(ratios) / (float(pre_spectrum(x)[-1]) ** 2 / 2)


@pytest.mark.parametrize("d", [thorough(1), thorough(3), 8, thorough(32)])
@pytest.mark.parametrize("scale", [1e-6, thorough(1e-2), thorough(1.0), 1e3])
@pytest.mark.parametrize("noise", [1e-3, 1.0, 1e3])
def test_the_corrected_radius_bounds_the_worst_states(d, scale, noise):
    with jax.enable_x64(True):
        x = instance(d, n=d, scale=scale, noise=noise, pre=np.ones(d))
        assert worst_ratio(x, corrected_radius) < 1


def test_the_printed_radius_does_not():
    """d = 1, a feature of 0.01, gamma^2 = 1: worked out by hand as 2.44e-4 against 5e-5."""
    with jax.enable_x64(True):
        x = instance(1, n=1, scale=0.01, noise=100.0, pre=np.ones(1))
        feature, e = 0.01, 0.01 / (16 * 1.02)
        assert float(printed_radius(x)) == pytest.approx(e, rel=8 * EPS)
        weight = np.sqrt(feature) - e
        lost = 2 * (feature - weight**2) - (feature - weight**2) ** 2
        rise = float(perturbed_loss_rise(x, ideal_start(x), factors(x, jnp.asarray([-e]))))
        # The expected number is a difference of numbers that agree to e / sqrt(feature).
        assert rise == pytest.approx(-lost, rel=64 * EPS * np.sqrt(feature) / e)
        assert worst_ratio(x, printed_radius) > 4
