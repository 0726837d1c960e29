"""The length of a run, told before it is run: what its loops then count tells."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from theorysim.jaxprs.cost import operations
from theorysim.jaxprs.lengths import known_length


def halves(steps, x):
    return lax.fori_loop(0, steps, lambda _, y: y / 2, x)


def until_small(x):
    return lax.while_loop(lambda y: y > 1, lambda y: y / 2, x)


def segments(x):
    """Three loops in a scan, the later ones longer."""
    step = lambda y, row: (halves(row * x.astype(int), y), None)  # noqa: E731
    return lax.scan(step, x, jnp.arange(1, 4))[0]


def lanes(x):
    return jnp.sum(jax.vmap(halves, (0, None))(jnp.arange(3) + x.astype(int), x))


def prints(x):
    jax.debug.print("{}", x)
    return halves(x.astype(int), x)


def asked(x):
    like = jax.ShapeDtypeStruct((), np.int32)
    return jax.pure_callback(lambda x: np.int32(x), like, x, vmap_method="sequential")


def asked_for_long(x):
    end, _ = lax.scan(lambda y, _: (jnp.tanh(y), None), x, length=100_000)
    return (10 * end).astype(int)


def from_beyond(x):
    """An unsigned number that is beyond its limit already."""
    first, last = jnp.uint32(9) + 0 * x.astype(jnp.uint32), x.astype(jnp.uint32)
    step = lambda s: (s[0] + jnp.uint32(1), s[1] / 2)  # noqa: E731
    return lax.while_loop(lambda s: s[0] < last, step, (first, x))[1]


def no_lane(x):
    return jnp.sum(jax.vmap(halves, (0, None))(jnp.arange(0) + x.astype(int), x))


# Of each, how many rounds its counting loops take together at 7.
COUNTED = {
    "one loop": (lambda x: halves(x.astype(int), x), 7),
    "two": (lambda x: halves(x.astype(int), halves(3 * x.astype(int), x)), 28),
    "in a call": (jax.jit(jax.checkpoint(lambda x: halves(x.astype(int), x))), 7),
    "in a scan": (segments, 42),
    "side by side": (lanes, 9),
    "from three on": (lambda x: lax.fori_loop(3, x.astype(int), lambda _, y: y / 2, x), 4),
    "none where it ends before": (lambda x: halves(-x.astype(int), x), 0),
    "beyond its limit": (from_beyond, 0),
    "beside one that does not count": (lambda x: halves(x.astype(int), until_small(x)), 7),
}


def length(program):
    return known_length(jax.make_jaxpr(program)(1.0))


def rounds(program, x):
    """Operations that were told, over those of one round."""
    told = length(program)
    assert told is not None
    return float(told(x)) / (float(length(COUNTED["one loop"][0])(1.0)))


@pytest.mark.parametrize("name", COUNTED)
def test_the_rounds_of_counting_loops_are_known_before(name):
    program, expected = COUNTED[name]
    each = 3 if name == "side by side" else 1  # lanes of a round
    assert rounds(program, 7.0) == expected * each


UNKNOWN = {
    "no loop": jnp.sin,
    "a fixed length": lambda x: halves(5, x),
    "nothing is counted": until_small,
    "counted by another loop": lambda x: halves(until_small(x).astype(int), x),
    "of no lane": no_lane,
    "it prints": prints,
    "it asks Python": lambda x: halves(asked(x), x),
    "a limit as dear as the run": lambda x: halves(asked_for_long(x), x),
}


@pytest.mark.parametrize("program", UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_told_where_nothing_is_known_before(program):
    assert length(program) is None


def test_each_round_counts_what_its_body_costs():
    body = lambda y: jnp.tanh(y) / 2 + jnp.exp(-y)  # noqa: E731
    told = length(lambda x: lax.fori_loop(0, x.astype(int), lambda _, y: body(y), x))
    counter = 1.0
    assert float(told(5.0)) == 5 * (operations(jax.make_jaxpr(body)(1.0).jaxpr) + counter)


def test_of_many_rows_the_order_of_their_lengths_is_that_of_their_rounds():
    steps = jnp.asarray([5.0, 900.0, 2.0, 41.0])
    told = jax.vmap(length(lambda x: halves(x.astype(int), jnp.exp(-x))))(steps)
    np.testing.assert_array_equal(np.argsort(told), np.argsort(steps))
