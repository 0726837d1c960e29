"""Kernel ridge regression against normal equations in many digits, and the ranking of layers."""

import re
from functools import partial
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from flax import linen, nnx

from theorysim import empirical_ntk, rank_layers, train_linearized
from theorysim.numerics.models import from_equinox, from_linen, from_nnx
from theorysim.systems import kernel_ridge as ridge
from validation.oracles import linearized as oracle

KEY = jax.random.key(2)

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape))


@pytest.mark.parametrize("shape", [thorough((4, 6)), (6, 3)])
@pytest.mark.parametrize("sigma", [1e-3, 0.5, 5.0])
def test_predictions_are_those_of_the_primal_problem(shape, sigma):
    jacobian, targets = normal(*shape), normal(shape[0], seed=1)
    gram = jacobian @ jacobian.T
    outputs = oracle.ridge(np.asarray(jacobian), np.asarray(targets), sigma)
    left = np.asarray(targets) - outputs
    np.testing.assert_allclose(ridge.residual(gram, targets, sigma), left, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ridge.risk(gram, targets, sigma), left @ left, rtol=1e-9)
    np.testing.assert_allclose(
        ridge.risk(gram, targets, sigma, "mean"), left @ left / shape[0], rtol=1e-9
    )
    bounds = ridge.risk_bounds(gram, targets, sigma)
    assert bounds.lower <= left @ left <= bounds.upper


def test_averaging_the_loss_multiplies_sigma():
    jacobian, targets, n = normal(4, 6), normal(4, seed=1), 4
    sigma = n * 0.3
    w = jnp.linalg.solve(jacobian.T @ jacobian / n + 0.3 * jnp.eye(6), jacobian.T @ targets / n)
    np.testing.assert_allclose(
        ridge.residual(jacobian @ jacobian.T, targets, sigma), targets - jacobian @ w, rtol=1e-11
    )


def test_relative_size_in_both_norms():
    gram, added = (m @ m.T for m in (normal(4, 7), normal(4, 2, seed=3)))
    values = oracle.generalised_eigenvalues(np.asarray(gram), np.asarray(added))
    np.testing.assert_allclose(ridge.relative_size(gram, added), abs(values).max(), rtol=1e-12)
    np.testing.assert_allclose(
        ridge.relative_size(gram, added, "frobenius"), np.linalg.norm(values), rtol=1e-12
    )
    singular = normal(4, 2) @ normal(4, 2).T
    assert jnp.isnan(jax.jit(ridge.relative_size)(singular, added))
    with pytest.raises(ValueError, match="Gram matrix is singular"):
        ridge.relative_size(singular, added)


def test_condition_number_and_risk_ratio():
    gram = jnp.diag(jnp.array([1.0, 4.0]))
    np.testing.assert_allclose(ridge.condition_number(gram, 2.0), 2.0)
    ratio = ridge.risk_ratio(gram, jnp.diag(jnp.array([0.0, 6.0])), jnp.array([0.0, 1.0]), 2.0)
    np.testing.assert_allclose(ratio, (6 / 12) ** 2)


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan")])
def test_sigma_must_be_positive(sigma):
    with pytest.raises(ValueError, match="sigma"):
        ridge.check_sigma(sigma)


def test_a_singular_gram_is_named():
    gram = normal(4, 2) @ normal(4, 2).T
    with pytest.raises(ValueError, match="singular"):
        ridge.check_invertible(gram)


# As wide as the inputs: no two precisions meet.
Dense = partial(linen.Dense, param_dtype=jnp.float64)
Linear = partial(nnx.Linear, param_dtype=jnp.float64)


class Linen(linen.Module):
    @linen.compact
    def __call__(self, x):
        return Dense(1)(jnp.tanh(Dense(16)(x)))


class Nnx(nnx.Module):
    def __init__(self, rngs):
        self.first, self.last = Linear(3, 16, rngs=rngs), Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(jnp.tanh(self.first(x)))


def equinox_model():
    return from_equinox(eqx.nn.MLP(3, 1, 16, 1, activation=jnp.tanh, key=KEY))


def linen_model():
    return from_linen(Linen(), Linen().init(KEY, jnp.zeros(3)))


def nnx_model():
    return from_nnx(Nnx(nnx.Rngs(0)))


@pytest.mark.thorough
@pytest.mark.parametrize("make", [equinox_model, linen_model, nnx_model])
def test_models_of_users_go_all_the_way(make):
    model, params = make()
    inputs, targets = normal(6, 3), jnp.sign(normal(6, 1, seed=1))
    gram = empirical_ntk(model, params, inputs)
    training = train_linearized(model, params, inputs, targets, [0.0, 1.0, jnp.inf], strength=0.2)
    ranking = rank_layers(model, params, inputs, targets, sigma=0.1, steps=100)

    gap = jnp.ravel(targets - jax.vmap(lambda x: model(params, x))(inputs))
    np.testing.assert_allclose(training.loss[-1], ridge.risk(gram, gap, 0.1), rtol=1e-5)
    (score,) = ranking.scores
    assert ranking.base != (score.layer,) and score.eta > 0
    assert 0 < score.predicted < 1 and 0 < score.measured < 1
    assert score.layer in str(ranking)


def test_the_example_of_the_documentation_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "papers" / "linearization.md").read_text()
    (code,) = re.findall("```python\n(.*?)```", page, flags=re.DOTALL)
    names = {}
    exec(code, names)
    assert names["gram"].shape == (20, 20)
    assert names["run"].loss[-1] < names["run"].loss[0] / 2
    assert "layers/0" in capsys.readouterr().out


def test_ranking_refuses_unknown_layers_and_singular_bases():
    model, params = equinox_model()
    inputs, targets = normal(6, 3), normal(6, 1)
    with pytest.raises(ValueError, match="layers/0"):
        rank_layers(model, params, inputs, targets, sigma=0.1, base=["head"])
    with pytest.raises(ValueError, match="singular"):
        rank_layers(model, params, jnp.tile(inputs[:3], (2, 1)), targets, sigma=0.1)
    with pytest.raises(ValueError, match="sigma"):
        rank_layers(model, params, inputs, targets, sigma=0.0)


def test_orders_of_the_ranking():
    model, params = from_equinox(eqx.nn.MLP(3, 1, 16, 3, activation=jnp.tanh, key=KEY))
    inputs, targets = normal(6, 3), normal(6, 1)
    for by, sign in (("eta", -1), ("condition_number", 1), ("predicted", 1)):
        found = rank_layers(model, params, inputs, targets, sigma=0.1, by=by).scores
        values = [sign * getattr(score, by) for score in found]
        assert values == sorted(values) and len(values) == 3
        assert all(np.isnan(score.measured) for score in found)
