"""The small language model against its definitions, and the experiments that rest on it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import rel_entr, softmax

from theorysim.engine import registry
from theorysim.engine.reproduce.reproduce import reproduce
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_perturbed as perturbed
from theorysim.theorems.overtraining import _language_tuned as tuned

SMALL = {"budgets": 3, "characters": 12, "embedding": 4, "width": 8}


@pytest.fixture
def x():
    return language.SPACE.sample(jax.random.key(0), SMALL)


def test_the_excess_loss_is_a_divergence(x):
    """Against SciPy, and zero for the table's own conditional chances."""
    model = language.Model(x, jax.random.key(1))
    table = language.english(x)
    told = softmax(np.array(jax.vmap(model)(jnp.arange(x.characters)), float), axis=1)
    first = np.asarray(table, float).sum(1, keepdims=True)
    given = np.asarray(table, float) / first
    expected = np.sum(first * rel_entr(given, told))
    assert float(language.excess(model, table)) == pytest.approx(expected, rel=1e-4)


def test_training_without_steps_changes_nothing_and_with_steps_learns(x):
    start = language.Model(x, jax.random.key(1))
    table = language.english(x)

    def after(steps):
        return language.trained(start, table, jnp.asarray(steps), 1e-2, jax.random.key(2))

    assert all(map(np.array_equal, jax.tree.leaves(after(0)), jax.tree.leaves(start)))
    assert language.excess(after(300), table) < 0.5 * language.excess(start, table)


def test_batches_are_of_the_text(x):
    """Many steps on one pair only make it certain."""
    start = language.Model(x, jax.random.key(1))
    table = jnp.zeros_like(language.english(x)).at[3, 5].set(1.0)
    end = language.trained(start, table, jnp.asarray(300), 1e-2, jax.random.key(2))
    assert jax.nn.softmax(end(jnp.asarray(3)))[5] > 0.99


def test_budgets_are_runs_of_their_own_with_the_same_start(x):
    start, models = jax.jit(language.pretrained)(x, jax.random.key(0))
    alone = language.trained(
        start,
        language.english(x),
        jnp.asarray(128),
        language.PRETRAINING_RATE,
        jax.random.fold_in(jax.random.key(0), 1),
    )
    second = jax.tree.map(lambda leaf: leaf[1], models)
    for a, b in zip(jax.tree.leaves(second), jax.tree.leaves(alone), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_noise_has_the_spread_of_a_fresh_matrix_and_leaves_biases(x):
    start = language.Model(x, jax.random.key(1))
    noise = jax.vmap(lambda k: perturbed._noise(start, k))(jax.random.split(jax.random.key(0), 500))
    for drawn, fresh in zip(jax.tree.leaves(noise), jax.tree.leaves(start), strict=True):
        spread = float(np.std(drawn))
        assert spread == (0 if fresh.ndim == 1 else pytest.approx(float(np.std(fresh)), rel=0.1))


def test_a_model_that_is_not_tuned_stays_where_it_is(x):
    rates = (0.0, *tuned.RATES[1:])
    _, models = language.pretrained(x, jax.random.key(0))
    found = tuned._tuned(x, jax.random.key(0), models, rates=rates)
    assert np.all(found.distance[0] == 0)
    np.testing.assert_array_equal(found.pre[0], found.base)
    assert np.all(found.distance[1:] > 0)


IDS = [entry.id for entry in registry.catalogue() if entry.is_experiment]


@pytest.mark.parametrize("id", IDS)
def test_every_experiment_runs_and_has_a_picture_of_it(id, tmp_path):
    from theorysim.report.experiment_plot import figure
    from theorysim.scenes.catalogue import picture_of

    found = reproduce(id, settings=SMALL, runs=5)
    (data,) = found.data.values()
    assert data.sizes["budget"] == SMALL["budgets"]
    picture = picture_of(id)
    assert picture is not None
    drawn = figure(picture, data)
    assert len(drawn.axes) == len(picture.views)
    for axis in drawn.axes:
        assert axis.lines and all(np.isfinite(line.get_ydata()).all() for line in axis.lines)


@pytest.mark.parametrize("id", IDS)
def test_every_claim_has_a_null(id):
    theorem = registry.theorem(id)
    primary = theorem.primary()
    for claim in primary.claims:
        assert any(mutant.touches(primary, claim) for mutant in theorem.mutants)
