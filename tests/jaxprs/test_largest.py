"""The largest array that a step touches of what varies."""

import jax
import jax.numpy as jnp
import pytest

from theorysim.jaxprs.largest import LARGE, largest_array

LONG, SHORT = jnp.ones(1000, jnp.float32), jnp.ones(10, jnp.float32)


def looped(body, dynamic):
    """A loop of fixed length, or of one that is known when it runs."""
    return lambda fixed, x, n: jax.lax.fori_loop(
        0, n if dynamic else 4, lambda _, s: body(fixed, s), x
    )


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("varies", [False, True])
def test_in_loops(dynamic, varies):
    """What is made in each round of that which does not vary counts where it does."""
    loop = looped(lambda fixed, s: s + jnp.sum(fixed * 2), dynamic)
    program = jax.make_jaxpr(loop)(LONG, SHORT, 4)
    assert largest_array(program.jaxpr, [varies, True, False]) == (4000 if varies else 40)
    wide = jax.make_jaxpr(looped(lambda fixed, s: s + jnp.sum(fixed * s[0]), dynamic))
    assert largest_array(wide(LONG, SHORT, 4).jaxpr, [varies, True, False]) == 4000


@pytest.mark.parametrize("varies", [False, True])
def test_in_calls_and_branches_of_a_loop(varies):
    inner = jax.jit(lambda fixed, x: (jnp.sin(fixed), jnp.cos(x)))
    summed, kept = (lambda fixed, x: x + jnp.sum(fixed**2)), (lambda fixed, x: x)

    def chosen(fixed, x):
        return jax.lax.cond(x[0] > 0, summed, kept, fixed, x)

    for body in (lambda fixed, x: inner(fixed, x)[1], chosen):
        jaxpr = jax.make_jaxpr(looped(body, False))(LONG, SHORT, 4).jaxpr
        assert largest_array(jaxpr, [varies, True, False]) == (4000 if varies else 40)


def test_without_loops_little_is_read_again():
    """Unless it is a large array; where there is a loop, it decides."""

    def summed(count):
        return lambda x: jnp.sum(jnp.broadcast_to(x[0], (count,)))

    assert largest_array(jax.make_jaxpr(summed(LARGE // 4 - 1))(SHORT).jaxpr) == 0
    assert largest_array(jax.make_jaxpr(summed(LARGE // 4))(SHORT).jaxpr) == LARGE

    def looped(x):
        return jax.lax.fori_loop(0, 3, lambda _, s: s + x, x + summed(LARGE)(x))

    assert largest_array(jax.make_jaxpr(looped)(SHORT).jaxpr) == 40


def test_a_step_writes_a_row_of_what_its_loop_stacks():
    """Whether the loop stacks it, or puts it in its place in an array of its state."""

    def stacked(x):
        return jax.lax.scan(lambda s, _: (s + x, s), x, length=500)[1]

    def placed(x):
        def step(n, path):
            return path.at[n].set(path[n - 1] + x)

        return jax.lax.fori_loop(1, 500, step, jnp.zeros((500, 10), jnp.float32))

    for function in (stacked, placed):
        assert largest_array(jax.make_jaxpr(function)(SHORT).jaxpr) == 40


def test_what_a_step_reads_counts():
    """A matrix that it multiplies by is read as a whole; a row that it takes is all it reads."""

    def multiplied(matrix, x):
        return jax.lax.fori_loop(0, 9, lambda _, s: matrix @ s, x)

    def taken(matrix, x):
        return jax.lax.fori_loop(0, 9, lambda n, s: s + matrix[n], x)

    matrix = jnp.ones((10, 10), jnp.float32)
    for function, touched in ((multiplied, 400), (taken, 40)):
        jaxpr = jax.make_jaxpr(function)(matrix, SHORT).jaxpr
        assert largest_array(jaxpr, [True, True]) == touched
        assert largest_array(jaxpr, [False, True]) == 40


def test_innermost_loops_count_alone():
    """What is around them is done rarely, beside their steps."""

    def nested(x):
        def block(_, s):
            drawn = jnp.sin(jnp.resize(s, (300,)))
            return jax.lax.fori_loop(0, 30, lambda n, t: t + drawn[n], s)

        return jnp.tile(jax.lax.fori_loop(0, 5, block, x), 1000)

    assert largest_array(jax.make_jaxpr(nested)(SHORT).jaxpr) == 40


def test_each_input_of_a_loop_is_its_own():
    """The test of a `while` closes over other constants than its body."""

    def loop(limit, fixed, x):
        return jax.lax.while_loop(lambda s: s[0] < limit, lambda s: s + jnp.sum(jnp.sin(fixed)), x)

    jaxpr = jax.make_jaxpr(loop)(1.0, LONG, SHORT).jaxpr
    assert largest_array(jaxpr, [False, True, True]) == 4000
    assert largest_array(jaxpr, [True, False, True]) == 40
