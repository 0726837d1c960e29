"""What is read off programs of JAX without running them."""

import jax
import jax.numpy as jnp
import pytest

from theorysim.jaxprs.structure import contains, counters, every_operation


def the_loop(function, *arguments):
    program = jax.make_jaxpr(function)(*arguments)
    (loop,) = (e for e in every_operation(program.jaxpr) if e.primitive.name == "while")
    return loop


def test_a_counting_loop_tells_its_counter_and_its_limit():
    def power(steps, x):
        return jax.lax.fori_loop(0, steps, lambda k, y: x * y, x)

    alone = the_loop(power, 3, 2.0)
    assert counters(alone) == (0, 1)
    assert counters(the_loop(jax.vmap(power), jnp.arange(3), jnp.ones(3))) == (0, 1)


@pytest.mark.parametrize(
    "step",
    [
        lambda k, limit: (k + 2, limit),
        lambda k, limit: (k + 1, limit + (k < 5)),
        lambda k, limit: (2 * k, limit),
    ],
)
def test_a_loop_that_counts_otherwise_has_none(step):
    def run(limit):
        return jax.lax.while_loop(lambda s: s[0] < s[1], lambda s: step(*s), (1, limit))

    assert counters(the_loop(run, 9)) is None


def test_a_loop_that_waits_for_a_number_has_none():
    def halved(x):
        return jax.lax.while_loop(lambda y: y > 1, lambda y: y / 2, x)

    assert counters(the_loop(halved, 9.0)) is None


def of_fixed_length(x):
    return jax.lax.fori_loop(0, 9, lambda i, y: y + x, x)


def of_free_length(x):
    return jax.lax.while_loop(lambda y: y < 9, lambda y: y + 1, x)


def in_a_branch(loop):
    return lambda x: jax.lax.cond(x > 0, loop, lambda y: y, x)


def in_a_scan(loop):
    return lambda x: jax.lax.scan(lambda y, _: (loop(y), None), x, length=3)[0]


@pytest.mark.parametrize("nest", [jax.jit, jax.checkpoint, in_a_branch, in_a_scan])
def test_loops_of_free_length_are_seen_wherever_they_are(nest):
    one = jnp.ones(())
    assert contains(jax.make_jaxpr(nest(of_free_length))(one).jaxpr, ("while",))
    assert not contains(jax.make_jaxpr(nest(of_fixed_length))(one).jaxpr, ("while",))
