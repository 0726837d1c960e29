"""Programs parted in what an input changes and what it does not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.jaxprs.largest import largest_array
from theorysim.jaxprs.parting import parted
from theorysim.jaxprs.structure import every_operation
from theorysim.numerics.sharing import sharing_keys


@jax.custom_jvp
def softplus(x):
    return jnp.log1p(jnp.exp(x))


softplus.defjvps(lambda tangent, value, x: tangent * jax.nn.sigmoid(x))


@jax.jit
def inner(a, b):
    """Called twice, so that its variables mean two things."""
    return a @ a + b, jnp.sum(a)


def nested(fixed, moved):
    gram, total = inner(fixed, 1.0)
    shifted, other = inner(fixed + moved, softplus(moved))
    path = jax.lax.scan(lambda s, row: (s * moved + row, s), moved, gram[0])[1]
    chosen = jax.lax.cond(moved > 0, lambda m: m * total, lambda m: m - total, moved)
    stays = jax.lax.while_loop(lambda n: n < 9, lambda n: n + 2, 0)
    return {"all": (shifted, other, path, chosen), "fixed": (gram, stays, 7), "moved": moved}


def reversed_operands(fixed, moved):
    return moved - fixed, fixed - moved, moved


FIXED = jnp.arange(9.0).reshape(3, 3) / 7


@pytest.mark.parametrize("function", [nested, reversed_operands])
@pytest.mark.parametrize("jit", [False, True])
def test_both_parts_make_the_whole(function, jit):
    program, results = jax.make_jaxpr(function, return_shape=True)(FIXED, 1.5)

    def by_parts(fixed, moved):
        return jax.tree.unflatten(
            jax.tree.structure(results), parted(program, [fixed, None]).finish(moved)
        )

    for moved in (1.5, -0.25):
        found = (jax.jit(by_parts) if jit else by_parts)(FIXED, moved)
        expected = (jax.jit(function) if jit else function)(FIXED, moved)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_the_rest_does_nothing_that_does_not_vary():
    """Neither the decomposition nor what only it needs; the walk takes what varies."""

    def function(fixed, moved):
        eigenvalues, vectors = jnp.linalg.eigh(inner(fixed, 0.0)[0])
        return jax.lax.fori_loop(0, 5, lambda i, s: s * moved + vectors[0], eigenvalues)

    program = jax.make_jaxpr(function)(FIXED, 1.0)
    whole = {e.primitive.name for e in every_operation(program.jaxpr)}
    rest = parted(program, [FIXED, None])
    left = {e.primitive.name for e in every_operation(jax.make_jaxpr(rest.finish)(1.0).jaxpr)}
    assert "eigh" in whole - left and "dot_general" in whole - left
    assert "scan" in left
    assert rest.largest == 3 * FIXED.itemsize < largest_array(program.jaxpr)


def test_what_shares_keys_is_called_whole():
    seen = []

    def stacked(keys, scales):
        seen.append(scales.shape)
        return jax.vmap(lambda key: jax.random.uniform(key, (1000,)))(keys)[:, None, 0] * scales

    one = sharing_keys(stacked)
    program = jax.make_jaxpr(lambda key: one(key, 2.0))(jax.random.key(0))
    rest = parted(program, [None])
    assert rest.largest < 1000
    keys = jax.random.split(jax.random.key(1), 6)
    found = jax.lax.map(rest.finish, keys, batch_size=3)[0]
    assert seen[-1] == (3, 1)  # each map's keys together
    np.testing.assert_array_equal(found, [one(key, 2.0) for key in keys])


def test_derivatives_that_a_function_says_are_kept():
    """The square root has none at 0; that of a loop cannot be taken backwards."""

    @jax.custom_jvp
    def root(x):
        return jnp.sqrt(x)

    root.defjvps(lambda tangent, value, x: tangent * 7)

    @jax.custom_vjp
    def looped(x):
        return jax.lax.while_loop(lambda s: s < 9, lambda s: 2 * s, x)

    looped.defvjp(lambda x: (looped(x), None), lambda _, tangent: (tangent * 5,))

    def function(fixed, moved):
        return root(fixed * moved) + looped(moved + 1)

    rest = parted(jax.make_jaxpr(function)(2.0, 0.0), [2.0, None])
    assert jax.grad(lambda moved: rest.finish(moved)[0])(0.0) == 2 * 7 + 5


def test_a_call_may_hold_arrays():
    held = np.arange(5.0)
    inner = jax.jit(lambda x: x * held)
    rest = parted(jax.make_jaxpr(lambda x, y: inner(x) + inner(y))(1.0, 2.0), [3.0, None])
    np.testing.assert_array_equal(rest.finish(2.0)[0], 5 * held)
