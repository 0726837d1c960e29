"""Linearised training against many digits and against real descent; fine-tuning beside it."""

from functools import partial
from inspect import unwrap

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from drawn import thorough
from scipy.integrate import solve_ivp

from theorysim import fine_tune, linearize, train_linearized
from theorysim.systems import fine_tuning as ft
from theorysim.systems.linearized import (
    descent_gain,
    flow_gain,
    modes,
    predicted_change,
    predicted_distance,
)
from validation.oracles import linearized as oracle

EPS = np.finfo(np.float64).eps

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape))


def network(outputs=2):
    params = {"a": normal(3, 6), "b": normal(6, outputs)}
    return lambda p, x: jnp.tanh(x @ p["a"]) @ p["b"], params


def problem(samples, parameters):
    return normal(samples, parameters, seed=2), normal(samples, seed=3)


SHAPES = [(3, 5), (5, 3), (1, 1)]


@jax.jit
def closed_flow(jacobian, gap, strength, time):
    """Curvatures, the distance and the change of the outputs."""
    m = modes(jacobian @ jacobian.T, gap)
    gain = flow_gain(m.curvatures, strength, time)
    return m.curvatures, predicted_distance(m, gain), predicted_change(m, gain)


@jax.jit
def closed_descent(jacobian, gap, strength, steps):
    """The learning rate, just below the largest, and the change of the outputs."""
    m = modes(jacobian @ jacobian.T, gap)
    rate = 0.9 / (jnp.max(m.curvatures) + strength)
    return rate, predicted_change(m, descent_gain(m.curvatures, strength, rate, steps))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strength", [0.0, 1e-9, 0.3, 50.0])
@pytest.mark.parametrize("time", [0.0, 1e-7, 0.4, 30.0])
def test_flow_in_closed_form(shape, strength, time):
    jacobian, gap = problem(*shape)
    curvatures, distance, change = closed_flow(jacobian, gap, strength, time)
    truth = oracle.flow(np.asarray(jacobian), np.asarray(gap), strength, time)
    size = np.linalg.norm(truth)
    # The Gram squares the condition of J; its eigenvalues enter with their absolute error.
    slack = 64 * EPS * float(np.max(curvatures)) * max(time, 1.0)
    np.testing.assert_allclose(distance, size, rtol=slack, atol=1e-300)
    np.testing.assert_allclose(
        change, np.asarray(jacobian) @ truth, rtol=0, atol=slack * size + 1e-300
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("strength", [0.0, 0.3, 20.0])
@pytest.mark.parametrize("steps", [0, 1, 300])
def test_descent_in_closed_form(shape, strength, steps):
    jacobian, gap = problem(*shape)
    rate, change = closed_descent(jacobian, gap, strength, steps)
    truth = oracle.descent(np.asarray(jacobian), np.asarray(gap), strength, float(rate), steps)
    np.testing.assert_allclose(change, np.asarray(jacobian) @ truth, rtol=1e-12, atol=1e-13)


def test_the_limit_of_the_flow_is_ridge_regression():
    jacobian, gap = problem(3, 5)
    ridge = oracle.ridge(np.asarray(jacobian), np.asarray(gap), 0.4)
    found = closed_flow(jacobian, gap, 0.8, np.inf)[-1]
    np.testing.assert_allclose(found, ridge, rtol=1e-12)
    free = closed_flow(jacobian, gap, 0.0, np.inf)[-1]
    np.testing.assert_allclose(free, gap, rtol=1e-12)


@pytest.mark.parametrize(
    ("strength", "outputs"), [(0.7, 2), thorough(0.0, 1), thorough(0.7, 1), thorough(0.0, 2)]
)
def test_training_agrees_with_descent_of_the_linearised_model(strength, outputs):
    model, params = network(outputs)
    inputs, targets = normal(4, 3, seed=4), normal(4, outputs, seed=5)
    closed = train_linearized(
        model,
        params,
        inputs,
        targets,
        jnp.arange(101),
        strength=strength,
        learning_rate=0.01,
        test_inputs=normal(2, 3, seed=6),
    )
    run = fine_tune(
        linearize(model, params),
        params,
        inputs,
        targets,
        learning_rate=0.01,
        steps=100,
        strength=strength,
    )
    np.testing.assert_allclose(closed.residual, run.residual, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(closed.distance, run.distance, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.linear_gap, 0, atol=1e-13)
    _, pull_back = jax.vjp(lambda p: jax.vmap(lambda x: model(p, x))(inputs), params)
    moved = optax.tree.add(params, pull_back(closed.coefficients[-1])[0])
    assert optax.tree.norm(optax.tree.sub(moved, run.params)) < 1e-12
    elsewhere = jax.vmap(partial(linearize(model, params), moved))(normal(2, 3, seed=6))
    np.testing.assert_allclose(closed.test_outputs[-1], elsewhere, rtol=1e-11, atol=1e-12)


def test_gaps_of_a_quadratic_model_are_its_second_order():
    params, inputs, targets = jnp.array(0.3), jnp.ones((1, 1)), jnp.ones((1, 1))
    run = fine_tune(
        lambda p, x: p * x + 2 * p**2 * x,
        params,
        inputs,
        targets,
        learning_rate=0.01,
        steps=20,
        strength=0.5,
    )
    np.testing.assert_allclose(run.taylor_gap, 2 * run.distance**2, rtol=1e-9, atol=1e-15)


def valley(params):
    """Residuals of a curved valley, whose runs see both signs of the inner product."""
    return jnp.array([3 * (params[1] - 1 + 2 * params[0] ** 2), params[0]])


@pytest.mark.parametrize("scheme", ["old", "intermediate", "printed"])
def test_the_selective_scheme_pulls_where_it_says(scheme):
    loss = ft.squared_loss(valley, jnp.array([0.0, 0.6]))
    run = ft.regularised_descent(loss, jnp.zeros(2), 0.01, 2.0, 400, scheme)
    if scheme != "printed":  # there the pull undoes its own reason: on is never consistent
        assert 0 < jnp.mean(run.strength > 0) < 1
    before, after = run.path[:-1], run.path[1:]
    halves = jax.vmap(lambda p: p - 0.01 * jax.grad(loss)(p))(before)
    seen = {"old": before, "intermediate": halves, "printed": after}[scheme]
    sign = jax.vmap(partial(ft.towards_loss, loss, jnp.zeros(2)))(seen) >= 0
    agrees = sign == (run.strength > 0)
    assert jnp.all(agrees | (run.consistent != 1))
    assert jnp.mean(agrees) > 0


def test_descent_tends_to_the_flow_at_first_order():
    loss = ft.squared_loss(valley, jnp.array([0.0, 0.6]))
    slope = jax.jit(jax.grad(loss))
    field = lambda _, p: -np.asarray(slope(p)) - 1.5 * p  # noqa: E731
    flow = solve_ivp(field, (0, 1), np.zeros(2), rtol=1e-10, atol=1e-12).y[:, -1]
    coarse, fine = (
        np.linalg.norm(ft.regularised_descent(loss, jnp.zeros(2), 1 / k, 1.5, k).params - flow)
        for k in (400, 800)
    )
    assert np.log2(coarse / fine) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"targets": jnp.zeros(4)}, r"shape \(4,\) do not fit outputs of shape \(4, 2\)"),
        ({"strength": -1.0}, "negative"),
        ({"learning_rate": 5.0}, "learning rate 5"),
    ],
)
def test_errors_name_the_value_and_the_limit(change, message):
    model, params = network()
    common = {"targets": jnp.zeros((4, 2)), "strength": 0.1, "learning_rate": 0.01} | change
    targets = common.pop("targets")
    with pytest.raises(ValueError, match=message):
        train_linearized(model, params, normal(4, 3), targets, [1.0], **common)
    with pytest.raises(ValueError, match=message):
        fine_tune(model, params, normal(4, 3), targets, steps=500, **common)


def test_an_unknown_scheme_is_refused():
    model, params = network()
    as_users_call_it = unwrap(fine_tune)  # without the types that the tests check
    with pytest.raises(ValueError, match="always, old"):
        as_users_call_it(
            model, params, normal(4, 3), jnp.zeros((4, 2)), learning_rate=0.1, steps=1, scheme="new"
        )
