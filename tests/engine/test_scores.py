"""What the points of a search are scored by, and how many of them side by side."""

import jax
import jax.numpy as jnp
import pytest

from theorysim.engine.falsify.objective import contains


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
