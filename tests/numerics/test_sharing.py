"""Functions of a key under vmap: what shares a key shares its draws, and nothing else changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.jaxprs.structure import every_operation, size
from theorysim.jaxprs.waiting import waits
from theorysim.numerics.sharing import sharing_keys

KEYS, SCALES = jax.random.split(jax.random.key(0), 3), jnp.arange(1.0, 5.0)


def stacked(keys, scales):
    """Scaled draws until their sum is above 2; how many of them each took."""
    drawn = jax.vmap(lambda key: jax.random.uniform(key, (64,)))(keys)[:, None]
    sums = jnp.cumsum(scales[..., None] * drawn, axis=-1)
    return {"drawn": drawn[..., 0] * scales, "taken": jnp.argmax(sums > 2, axis=-1)}


one = sharing_keys(stacked)

NESTED = {
    "keys within": (jax.vmap(jax.vmap(one, (0, None)), (None, 0)), (1, 0)),
    "keys outside": (jax.vmap(jax.vmap(one, (None, 0)), (0, None)), (0, 1)),
}


def alone():
    """All of them, called one by one."""
    found = [[one(key, scale) for scale in SCALES] for key in KEYS]
    return {name: np.array([[f[name] for f in row] for row in found]) for name in found[0][0]}


@pytest.mark.parametrize("many", NESTED)
@pytest.mark.parametrize("jit", [False, True])
def test_nested_vmaps_give_what_each_call_gives(many, jit):
    function, order = NESTED[many]
    found = (jax.jit(function) if jit else function)(KEYS, SCALES)
    for name, expected in alone().items():
        np.testing.assert_array_equal(np.asarray(found[name]).transpose(order), expected)


def test_keys_and_arguments_that_vary_together_are_paired():
    found = jax.vmap(one)(KEYS, SCALES[:3])
    for name, expected in alone().items():
        np.testing.assert_array_equal(found[name], np.diag(expected))


def test_a_scan_within_vmap_is_as_one_by_one():
    def walk(scale, key):
        def step(total, number):
            total = total + one(jax.random.fold_in(key, number), scale)["drawn"]
            return total, total

        return jax.lax.scan(step, 0.0, jnp.arange(5))[1]

    together = jax.vmap(walk, (0, None))(SCALES, KEYS[0])
    np.testing.assert_array_equal(together, [walk(scale, KEYS[0]) for scale in SCALES])


@pytest.mark.parametrize("many", NESTED)
def test_each_key_draws_once(many):
    program = jax.make_jaxpr(NESTED[many][0])(KEYS, SCALES).jaxpr
    bits = [e for e in every_operation(program) if e.primitive.name == "random_bits"]
    assert [size(e.outvars[0]) for e in bits] == [3 * 64]


def test_over_nothing_nothing_is_made():
    found = jax.vmap(one, (None, 0))(KEYS[0], SCALES[:0])
    assert found["drawn"].shape == (0,) and found["taken"].dtype == jnp.int32
    assert jax.vmap(one, (0, None))(KEYS[:0], SCALES[0])["taken"].shape == (0,)


def test_derivatives_are_taken_under_vmap_too():
    """JAX asks for that of what one part of a pair is batched in, and the other is not."""

    def first(scale):
        return one(KEYS[0], scale)["drawn"]

    slopes = jax.vmap(lambda scale: jax.jvp(first, (scale,), (1.0,))[1])(SCALES)
    np.testing.assert_array_equal(slopes, np.full(4, one(KEYS[0], 1.0)["drawn"]))
    np.testing.assert_array_equal(jax.jacfwd(jax.vmap(first))(SCALES), np.diag(slopes))


def test_nothing_waits():
    def until(keys, scales):
        return jax.lax.while_loop(lambda s: jnp.any(s < 9), lambda s: s + scales, scales)

    assert not waits(jax.make_jaxpr(sharing_keys(until))(KEYS[0], 1.0).jaxpr)
    assert waits(jax.make_jaxpr(until)(KEYS[0], 1.0).jaxpr)
