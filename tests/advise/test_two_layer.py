"""The two-layer theory beside runs of a two-layer linear network and draws of noise."""

import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.advise.problem import Examples
from theorysim.advise.two_layer import constant_loss, noise_cost, spectrum, two_layer

RNG = np.random.default_rng(0)
VALUES = np.array([1.0, 0.5, 0.2])
# The theory's two units are fitted to losses that descent gives in steps.
FITTED = 0.02
# Covariances of 400 examples are divided by 399 here, and by 400 there.
COUNTED = 2 / 400


def factors(values):
    """Balanced factors of a product with these singular values."""
    left, right = (np.linalg.qr(RNG.normal(size=(3, 3)))[0] for _ in range(2))
    root = np.sqrt(values)
    return left * root, (right * root).T


def test_noise_costs_what_draws_of_it_do():
    first, second = factors(VALUES)
    noise, costs = 0.5, []
    for _ in range(20000):
        drawn = [
            part + noise * np.sqrt(np.mean(part**2)) * RNG.normal(size=part.shape)
            for part in (first, second)
        ]
        costs.append(np.sum((drawn[0] @ drawn[1] - first @ second) ** 2))
    error = np.std(costs) / np.sqrt(len(costs))
    assert noise_cost(VALUES, noise) == pytest.approx(np.mean(costs), abs=4 * error)
    assert error < 0.02 * np.mean(costs)


def descent(values, weight, rate, steps):
    """Losses of gradient descent from w_1 = w_2 = weight in every mode."""
    first = np.full(len(values), weight)
    second, found = first.copy(), []
    for _ in range(steps + 1):
        found.append(first * second)
        gap = first * second - values
        first, second = first - 2 * rate * gap * second, second - 2 * rate * gap * first
    return np.array(found)


def test_the_turn_of_a_two_layer_network_is_found_from_its_losses():
    order, rate, noises = [20, 50, 100, 200, 400, 1000, 3000], 0.01, (0.01, 0.2)
    run = descent(VALUES, np.exp(-2.0), rate, order[-1])[order]
    unchanged = np.sum((run - VALUES) ** 2, axis=1) + 0.3  # what no linear map explains
    known = spectrum_of(VALUES)
    told = two_layer(order, unchanged, 0.3 + np.sum(VALUES**2), known, noises)
    assert told is not None and told.misfit < 0.03
    assert told.factor == pytest.approx(rate, rel=0.15) and told.tau == pytest.approx(2, abs=0.3)
    for losses, noise in zip(told.losses, noises):
        real = unchanged + noise_cost(run, noise)
        np.testing.assert_allclose(losses, real, rtol=FITTED)
        assert np.argmin(losses) == np.argmin(real)
    assert np.argmin(told.losses[0]) > np.argmin(told.losses[1])


def spectrum_of(values):
    """Measured on examples that have it."""
    inputs = np.linalg.qr(RNG.normal(size=(400, 3)) - 0)[0]
    inputs = (inputs - inputs.mean(0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(inputs.T))).T
    first, second = factors(values)
    targets = inputs @ (first @ second).T + 5.0
    found = spectrum(Examples(jnp.asarray(inputs @ RNG.normal(size=(3, 3))), targets))
    np.testing.assert_allclose(found.values, values, rtol=COUNTED)
    assert found.explained == pytest.approx(1, rel=1e-3)
    return found


def test_codes_are_no_numbers():
    """A target of the code's parity is no linear function of the code, but one of its row."""
    codes = np.tile(np.arange(8), 50)[:, None]
    targets = (codes % 2).astype(float)
    assert spectrum(Examples(jnp.asarray(codes), targets)).explained == pytest.approx(1)
    as_numbers = Examples(jnp.asarray(codes, float), targets)
    assert spectrum(as_numbers).explained < 0.1


def test_chance_is_not_explained():
    inputs, targets = RNG.normal(size=(200, 150)), RNG.normal(size=(200, 1))
    assert spectrum(Examples(jnp.asarray(inputs), targets)).explained < 0.3


def test_nothing_is_said_of_what_learns_nothing():
    known = spectrum(Examples(jnp.asarray(RNG.normal(size=(100, 3))), RNG.normal(size=(100, 1))))
    assert two_layer([1, 2, 3], np.array([2.0, 2.1, 2.2]), 1.0, known, (0.1,)) is None


def test_what_knows_no_input_gives_shares_or_means():
    targets = np.eye(2)[[0, 0, 0, 1]]
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert constant_loss(targets, "cross-entropy") == pytest.approx(entropy)
    assert constant_loss(np.array([[1.0], [3.0]]), "squared") == pytest.approx(1)
