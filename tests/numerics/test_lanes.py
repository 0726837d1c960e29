"""Runs of different length, a few at a time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.numerics.lanes import in_lanes

LENGTHS = np.array([3, 40, 1, 7, 7, 0, 12, 5, 30, 2])


def halvings(lanes):
    """Each run halves its number so many times."""
    lengths = jnp.asarray(LENGTHS)

    def advance(number, state):
        value, taken = state
        return value / 2, taken + 1

    return in_lanes(
        len(LENGTHS),
        lanes,
        start=lambda number: (1.0 + number.astype(float), 0),
        advance=advance,
        has_ended=lambda number, state: state[1] >= lengths[number],
        result=lambda state: {"value": state[0], "taken": state[1]},
    )


@pytest.mark.parametrize("lanes", [1, 3, 10])
def test_every_run_ends_where_it_ends_alone(lanes):
    found = jax.jit(halvings, static_argnums=0)(lanes)
    taken = np.maximum(LENGTHS, 1)  # the end is seen after a step
    np.testing.assert_array_equal(found["taken"], taken)
    np.testing.assert_array_equal(found["value"], (1.0 + np.arange(10)) * 0.5**taken)


@pytest.mark.parametrize("lanes", [1, 2])
def test_a_state_that_begins_as_a_whole_number_is_not_cut(lanes):
    found = in_lanes(
        2,
        lanes,
        start=lambda number: (jnp.asarray(0), number),
        advance=lambda number, state: (state[0] + 0.75, state[1]),
        has_ended=lambda number, state: jnp.asarray(True),
        result=lambda state: state,
    )
    np.testing.assert_array_equal(found[0], [0.75, 0.75])
    assert found[1].tolist() == [0, 1]


def test_a_state_may_hold_the_data_of_a_key():
    def advance(number, state):
        key, own = jax.random.split(jax.random.wrap_key_data(state[0]))
        return jax.random.key_data(key), state[1] + jax.random.uniform(own)

    found = in_lanes(
        5,
        2,
        start=lambda number: (jax.random.key_data(jax.random.key(number)), jnp.zeros(())),
        advance=advance,
        has_ended=lambda number, state: state[1] > 2,
        result=lambda state: state[1],
    )
    assert jnp.all((found > 2) & (found < 3)) and len(set(found.tolist())) == 5


def test_a_run_that_has_ended_makes_room():
    """Two lanes take half of all steps, and at most half of the longest run beside.

    Groups of two, one after the other, would take the longer one of each.
    """
    rounds = []

    def advance(number, state):
        jax.debug.callback(lambda _: rounds.append(1), number, ordered=False)
        return state + 1

    in_lanes(
        len(LENGTHS),
        2,
        start=lambda number: jnp.asarray(0),
        advance=advance,
        has_ended=lambda number, state: state >= jnp.asarray(LENGTHS)[number],
        result=lambda state: state,
    )
    jax.effects_barrier()
    taken = np.maximum(LENGTHS, 1)
    in_groups = taken.reshape(-1, 2).max(axis=1).sum()
    assert len(rounds) / 2 <= (taken.sum() + taken.max()) / 2 < in_groups
