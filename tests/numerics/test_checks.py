"""Checks of known values: they raise, and let traced ones pass."""

import jax
import jax.numpy as jnp
import optax
import pytest

from theorysim.numerics.checks import are_finite, check_learning_rate, check_outcome, is_known
from theorysim.numerics.descent import check_descent, descend_to

pytestmark = pytest.mark.usefixtures("x64")


def half(matrix):
    return jnp.max(matrix) / 2


def test_known_values_are_those_that_nothing_traces():
    assert is_known(1.0, jnp.ones(2), {"a": None})
    seen = []
    jax.jit(lambda x: seen.append(is_known(1.0, [x])))(1.0)
    jax.vmap(lambda x: seen.append(is_known(x)) or x)(jnp.ones(2))
    assert seen == [False, False]


def test_integers_are_finite_and_nan_is_not():
    assert are_finite((jnp.arange(3), jnp.ones(2)))
    assert not are_finite((jnp.arange(3), jnp.asarray([1.0, jnp.nan])))


@pytest.mark.parametrize("rate", [0.5, 0.9, jnp.asarray(jnp.inf)])
def test_a_rate_past_its_limit_is_named(rate):
    with pytest.raises(ValueError, match=r"exceeds 2/lambda_max = 0\.41: choose a smaller one"):
        check_learning_rate(rate, half, jnp.asarray([0.2, 0.82]))
    check_learning_rate(0.4, half, jnp.asarray([0.2, 0.82]))


def test_constants_of_a_traced_function_are_checked_and_its_arguments_are_not():
    def run(x, rate):
        check_learning_rate(rate, half, jnp.asarray([0.2, 0.82]))
        return x

    data = jnp.asarray([0.2, 0.82])
    assert jax.jit(run)(1.0, 9.0) == 1
    with pytest.raises(ValueError, match="exceeds"):
        jax.jit(lambda x: check_learning_rate(9.0, half, data) or x)(1.0)


def test_an_outcome_is_checked_only_where_it_is_not_finite():
    data = jnp.asarray([0.82])
    check_outcome(jnp.ones(2), 9.0, half, data)
    with pytest.raises(ValueError, match="learning rate 9 exceeds"):
        check_outcome(jnp.asarray([jnp.inf]), 9.0, half, data)


def quartic(w):
    return jnp.sum(jnp.square(jnp.square(w) - jnp.asarray([1.0, 4.0])))


@pytest.mark.parametrize("batches", [None, lambda k: jnp.ones(2)])
def test_divergence_is_named_with_the_limit_where_the_loss_was_lowest(batches):
    loss = quartic if batches is None else (lambda w, b: quartic(b * w))
    start = jnp.asarray([1.0, 2.0])  # the minimum, where the largest curvature is 8 * 4
    begin = start + 1e-6

    def run(rate):
        return descend_to(loss, begin, optax.sgd(rate), 200, batches=batches)

    check_descent(run(0.05), loss, begin, 0.05, 200, batches=batches)
    with pytest.raises(ValueError, match=r"diverges at learning rate 0\.5; .* = 0\.0625: choose"):
        check_descent(run(0.5), loss, begin, 0.5, 200, batches=batches)


def test_records_that_are_no_numbers_are_no_divergence():
    check_descent(jnp.asarray([jnp.nan]), quartic, jnp.ones(2), 0.01, 5)
