"""The small language model against its definitions, and the experiments that rest on it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE, STEPS_SINGLE, SUMS_SINGLE
from scipy.special import rel_entr, softmax

from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_perturbed as perturbed
from theorysim.theorems.overtraining import _language_readings as readings
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining import _language_tuned as tuned
from theorysim.theorems.overtraining._language_along import LAMBDAS, along

OF_500_DRAWS = 0.1
"""of a spread that is measured on 500 draws of the smallest matrix"""
NEXT_ORDER = 0.05
"""the fourth order, beside the third, at such small steps"""

DIFFERENCES = 1e-4
"""of differences between losses that have nine digits in common"""
OF_DOUBLES = 1e-5
"""of such differences, in units of the quadratic term at a 2^-16"""

SMALL = {"budgets": 3, "characters": 12, "embedding": 4, "width": 8}


@pytest.fixture
def x():
    return language.SPACE.sample(jax.random.key(0), SMALL)


compiled_along = jax.jit(along)


@jax.jit
def model_of(x, seed):
    return language.Model(x, jax.random.key(seed))


def test_the_excess_loss_is_a_divergence(x):
    """Against SciPy, and zero for the table's own conditional chances."""
    model = model_of(x, 1)
    table = language.english(x)
    told = softmax(np.array(jax.vmap(model)(jnp.arange(x.characters)), float), axis=1)
    first = np.asarray(table, float).sum(1, keepdims=True)
    given = np.asarray(table, float) / first
    expected = np.sum(first * rel_entr(given, told))
    assert float(language.excess(model, table)) == pytest.approx(expected, rel=STEPS_SINGLE)


def test_training_without_steps_changes_nothing_and_with_steps_learns(x):
    start = model_of(x, 1)
    table = language.english(x)

    @jax.jit
    def after(steps):
        return language.trained(start, table, steps, 1e-2, jax.random.key(2))

    assert all(map(np.array_equal, jax.tree.leaves(after(0)), jax.tree.leaves(start)))
    assert language.excess(after(300), table) < 0.5 * language.excess(start, table)


def test_batches_are_of_the_text(x):
    """Many steps on one pair only make it certain."""
    start = model_of(x, 1)
    table = jnp.zeros_like(language.english(x)).at[3, 5].set(1.0)
    train = jax.jit(language.trained)
    end = train(start, table, jnp.asarray(300), 1e-2, jax.random.key(2))
    assert jax.nn.softmax(end(jnp.asarray(3)))[5] > 0.99


def test_budgets_are_runs_of_their_own_with_the_same_start(x):
    start, models = jax.jit(language.pretrained)(x, jax.random.key(0), language.budgets(x))
    alone = jax.jit(language.trained)(
        start,
        language.english(x),
        jnp.asarray(128),
        language.PRETRAINING_RATE,
        jax.random.fold_in(jax.random.key(0), 1),
    )
    second = jax.tree.map(lambda leaf: leaf[1], models)
    for a, b in zip(jax.tree.leaves(second), jax.tree.leaves(alone), strict=True):
        np.testing.assert_allclose(a, b, atol=SUMS_SINGLE)


def test_noise_has_the_spread_of_a_fresh_matrix_and_leaves_biases(x):
    start = model_of(x, 1)
    keys = jax.random.split(jax.random.key(0), 500)
    noise = jax.jit(jax.vmap(perturbed.noise, (None, 0)))(start, keys)
    for drawn, fresh in zip(jax.tree.leaves(noise), jax.tree.leaves(start), strict=True):
        spread = float(np.std(drawn))
        assert spread == (
            0 if fresh.ndim == 1 else pytest.approx(float(np.std(fresh)), rel=OF_500_DRAWS)
        )


def test_a_model_that_is_not_tuned_stays_where_it_is(x):
    _, models = jax.jit(language.pretrained)(x, jax.random.key(0), language.budgets(x))
    old, new = language.english(x), language.mixture(x, 1.0)
    keys = jnp.stack([jax.random.key(1)] * 2)
    found = jax.jit(lambda keys: tuned.tuned(models, old, new, (0.0, 1e-3), keys))(keys)
    assert np.all(found.distance[:, 0] == 0)
    before = jax.jit(jax.vmap(language.excess, (0, None)))(models, old)
    np.testing.assert_allclose(found.pre[:, 0], before, rtol=SUMS_SINGLE)
    assert np.all(found.distance[:, 1] > 0)
    end = jax.vmap(lambda line: line[:, -1])(found.towards.loss)
    np.testing.assert_allclose(end, found.pre, rtol=STEPS_SINGLE)


def test_a_mixture_of_texts_is_between_them(x):
    ends = [language.mixture(x, share) for share in (0.0, 1.0)]
    np.testing.assert_allclose(
        language.mixture(x, 0.25), 0.75 * ends[0] + 0.25 * ends[1], rtol=1e-6
    )
    assert all(np.sum(end) == pytest.approx(1, rel=SUMS_SINGLE) for end in ends)
    assert np.max(np.abs(ends[0] - ends[1])) > 0.01


def in_double_precision(model):
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), model)


@pytest.mark.usefixtures("x64")
def test_the_taylor_polynomial_misses_the_loss_by_the_third_order(x):
    model, direction = (in_double_precision(model_of(x, k)) for k in range(2))
    table = jnp.asarray(language.english(x), float)
    small = jax.tree.map(lambda leaf: 2e-3 * leaf, direction)  # before any kink
    found = compiled_along(model, small, table, model)
    off = np.asarray(found.loss - found.taylor)
    np.testing.assert_allclose(off[-3:] / off[-4:-1], 8, rtol=NEXT_ORDER)
    base = language.excess(model, table)
    second = (found.taylor[-1] - base) - (found.taylor[-2] - base) / LAMBDAS[-2]
    quadratic = 2 * np.asarray(LAMBDAS) ** 2 * float(second)
    np.testing.assert_allclose(found.above[-2:], (off / quadratic)[-2:], rtol=DIFFERENCES)


def test_what_is_above_the_polynomial_is_told_in_single_precision(x):
    """At every share of a direction that crosses kinks, against the difference in double."""
    model, direction = (model_of(x, k) for k in range(2))
    direction = jax.tree.map(lambda leaf: 4 * leaf, direction)
    found = compiled_along(model, direction, language.english(x), model)
    with jax.enable_x64(True):
        double = [in_double_precision(each) for each in (model, direction)]
        table = jnp.asarray(np.asarray(language.english(x)), float)
        told = compiled_along(double[0], double[1], table, double[0])
        base = language.excess(double[0], table)
        end, half = (float(told.taylor[k] - base) for k in (-1, -2))
        shares = np.asarray(LAMBDAS)
        exact = np.asarray(told.loss - told.taylor) / (2 * shares**2 * (end - 2 * half))
    assert exact[-1] > 10 * abs(exact[0])
    np.testing.assert_allclose(found.above, exact, rtol=1e-3, atol=OF_DOUBLES)


@pytest.mark.usefixtures("x64")
def test_the_derivatives_can_be_those_of_another_model(x):
    model, other, direction = (in_double_precision(model_of(x, k)) for k in range(3))
    table = jnp.asarray(language.english(x), float)
    found, there = (
        compiled_along(model, direction, table, other),
        compiled_along(other, direction, table, other),
    )
    apart = language.excess(model, table) - language.excess(other, table)
    np.testing.assert_allclose(found.taylor - there.taylor, apart)
    units = [(each.loss - each.taylor)[-2:] / each.above[-2:] for each in (found, there)]
    np.testing.assert_allclose(*units, rtol=DIFFERENCES)


@pytest.mark.thorough  # compiles three studies, each for six seconds
def test_nulls_are_what_they_say(x):
    """Copies of the first budget and of the first rate, each on draws of its own."""
    key = jax.random.key(0)
    real = jax.jit(study.simulate)(x, key)
    none = jax.jit(study.without_budgets)(x, key)
    assert jax.tree.map(jnp.shape, none) == jax.tree.map(jnp.shape, real)
    last = jax.jit(study.simulate)(x, jax.random.split(key, x.budgets)[-1])
    np.testing.assert_allclose(none.base[-1], last.base[0], rtol=STEPS_SINGLE)
    np.testing.assert_allclose(none.ft[..., -1], last.ft[..., 0], rtol=STEPS_SINGLE)
    same = jax.jit(study.without_rates)(x, key)
    np.testing.assert_allclose(same.base, real.base, rtol=SUMS_SINGLE)
    assert np.all(np.ptp(np.asarray(same.ft), axis=1) > 0)
    assert np.all(np.ptp(np.asarray(same.ft), axis=1) < np.ptp(np.asarray(real.ft), axis=1))


def test_the_largest_number_of_budgets_is_counted_right():
    most = {name: size.low for name, size in language.SPACE.sizes.items()}
    most["budgets"] = language.SPACE.sizes["budgets"].high
    with jax.enable_x64(False):
        steps = np.asarray(language.budgets(language.SPACE.sample(jax.random.key(0), most)))
    assert int(steps[-1]) == 64 * 2 ** (most["budgets"] - 1)


def test_choices_are_those_of_the_other_half():
    """Each run has luck at a rate of its own, by which only those of the other half are led."""
    ft = np.ones((3, 3, 1)) - 0.5 * np.eye(3)[..., None]
    ft[:, 2] -= 0.1
    values = np.arange(3.0)[None, :, None] + np.zeros((3, 1, 1))
    chosen = np.asarray(readings.at_the_best_rate(jnp.asarray(values), jnp.asarray(ft)))[:, 0]
    assert list(chosen) == [2, 0, 0]


def test_a_power_is_read_off_as_its_exponent():
    at = jnp.asarray([1.0, 2.0, 8.0])
    np.testing.assert_allclose(readings.slope(3 * at**1.5, at), 1.5, rtol=FEW_SINGLE)


def test_losses_that_fall_to_the_end_are_the_contrary_of_rising():
    """Every half of the runs chooses the budget of the other: here all agree."""
    falling = jnp.asarray([[3.0, 2.0, 1.0]] * 4)
    bent = jnp.asarray([[3.0, 1.0, 2.0]] * 4)
    assert np.all(np.asarray(readings.rise(falling)) == -1)
    assert np.all(np.asarray(readings.rise(bent)) == 1)
    claim = readings.rises("rises", lambda r: r)
    mirror = readings.improves("improves", lambda r: r)
    for losses in (falling, bent):
        sides = [np.asarray(side(losses)) for side in (claim.lhs, claim.rhs)]
        assert np.array_equal(sides, [np.asarray(s(losses)) for s in (mirror.rhs, mirror.lhs)])
    first = readings.first_falls("falls", lambda r: r)
    assert np.all(np.asarray(first.lhs(bent)) == 1) and np.all(np.asarray(first.rhs(bent)) == 3)
