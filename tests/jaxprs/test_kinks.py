"""Kinks are found where a program differentiates them, and met where a run comes upon them."""

import jax
import jax.numpy as jnp
import optax
import pytest

from theorysim.jaxprs.kinks import kinks, kinks_met, line_of
from theorysim.numerics.descent import descend


def descent(loss, start):
    """The program of three steps of gradient descent with rate 0.1, and its kinks."""
    program = jax.make_jaxpr(lambda w: descend(loss, w, optax.sgd(0.1), 3))(start)
    return program, kinks(program.jaxpr)


@pytest.mark.parametrize(
    ("loss", "start", "names", "met"),
    [
        (lambda w: jnp.sum(jnp.abs(w)), [0.25, 1.0], ["|x|"], [False]),
        (lambda w: jnp.sum(jnp.abs(w)), [0.0, 1.0], ["|x|"], [True]),
        (lambda w: jnp.sum(jnp.maximum(w, 0.5)), [0.5, 1.0], ["max"], [True]),
        (lambda w: jnp.sum(jnp.minimum(w, 0.5)), [0.25, 1.0], ["min"], [False]),
        (lambda w: jnp.sum(jax.nn.relu(w)), [0.0, 1.0], ["relu"], [True]),
        (lambda w: jnp.sum(jax.nn.relu(w)), [-1.0, 1.0], ["relu"], [False]),
        (lambda w: jnp.max(w), [1.0, 1.0], ["the largest entry"], [True]),
        (lambda w: jnp.max(w), [1.0, 9.0], ["the largest entry"], [False]),
        (lambda w: jnp.sum(jnp.clip(w, 0.0, 0.0)), [0.0, 1.0], ["max", "min"], [True, True]),
        (lambda w: jnp.sum(w**2), [0.0, 1.0], [], []),
        (
            lambda w: jnp.max(w) * jax.lax.stop_gradient(jnp.max(w)),
            [1.0, 1.0],
            ["the largest entry"],
            [True],
        ),
        (lambda w: jnp.sum(w) * jax.lax.stop_gradient(jnp.max(w)), [1.0, 1.0], [], []),
    ],
)
def test_kinks_of_a_descended_loss(loss, start, names, met):
    program, found = descent(loss, jnp.asarray(start))
    assert [kink.name for kink in found] == names
    assert kinks_met(program, [jnp.asarray(start)], found).tolist() == met
    assert all(line_of(kink, __file__).startswith(f"{__file__}:") for kink in found)


def test_a_kink_that_is_met_on_the_way_counts():
    """The first step goes from 0.1 to 0 exactly."""
    start = jnp.asarray([0.1])
    program, found = descent(lambda w: jnp.sum(jnp.abs(w)), start)
    assert kinks_met(program, [start], found).tolist() == [True]


def test_what_is_only_evaluated_is_no_kink():
    program = jax.make_jaxpr(lambda w: jnp.max(w) + jnp.sum(jnp.abs(w)))(jnp.ones(2))
    assert kinks(program.jaxpr) == []


def test_autodiff_gives_no_subgradient_where_kinks_coincide():
    """The constant 1 has the slope 0; this is what the check warns of."""
    assert jax.grad(lambda w: jnp.clip(w, 1.0, 1.0))(1.0) == 0.25
