"""What the largest and the smallest of undefined numbers are in compiled programs."""

import re
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE

from theorysim.compiled import jit

cells = partial(jit, computing_once=False)
"""as those of sweeps are compiled"""


@pytest.mark.parametrize("how", [jit, cells])
@pytest.mark.parametrize("rows", [1, 64, 1024, 20_000])
@pytest.mark.parametrize("reduction", [jnp.max, jnp.min, jnp.sum])
def test_reductions_keep_nan(rows, reduction, how):
    undefined = np.full((rows, 4, 3), np.nan)
    found = how(jax.vmap(lambda row: reduction(jnp.abs(row), axis=0)))(undefined)
    assert np.isnan(found).all()


def test_the_trap_is_still_there():
    """Where this fails, JAX keeps NaN by itself, and that option can go."""
    undefined = np.full((20_000, 4, 3), np.nan)
    found = jax.jit(jax.vmap(lambda row: jnp.max(jnp.abs(row), axis=0)))(undefined)
    assert not np.isnan(found).any()


def apart(x):
    return jnp.sum(jnp.sin(jax.lax.optimization_barrier(jnp.cos(x)) * 2))


def compiled_text(how):
    return how(apart).lower(jnp.ones(100)).compile().as_text()


@pytest.mark.parametrize("how", [jit, cells])
def test_what_is_kept_apart_is_not_fused(how):
    """The cosine and the sine are in computations of their own."""
    text = compiled_text(how)
    assert "opt-barrier(" in text
    parts = text.split("\n}\n")
    assert not any(" cosine(" in part and " sine(" in part and "fused" in part for part in parts)


def test_the_compiler_still_drops_barriers_by_itself():
    """Where this fails, JAX keeps barriers on a CPU, and that option can go."""
    assert "opt-barrier(" not in compiled_text(jax.jit)


def loop(kind, x):
    def step(_, x):
        return jax.lax.optimization_barrier(x * 1.5)

    def branch(x):
        return jax.lax.cond(x > 0, lambda x: step(0, x), lambda x: step(0, step(0, x)), x)

    return {
        "counted": lambda x: jax.lax.fori_loop(0, 7, step, x),
        "until": lambda x: jax.lax.while_loop(lambda x: x < 20, lambda x: step(0, x), x),
        "scan": lambda x: jax.lax.scan(lambda x, t: (step(0, x) + t, x), x, jnp.arange(3.0))[0],
        "nested": lambda x: jax.lax.fori_loop(
            0, 3, lambda _, x: jax.lax.fori_loop(0, 3, step, x), x
        ),
        "branch": branch,
        "branch in a loop": lambda x: jax.lax.fori_loop(0, 3, lambda _, x: branch(x), x),
    }[kind](x)


@pytest.mark.parametrize(
    "kind", ["counted", "until", "scan", "nested", "branch", "branch in a loop"]
)
@pytest.mark.parametrize("shape", [(), (3,), (3, 40, 50)])
def test_what_is_kept_apart_in_loops_and_branches_is_compiled(kind, shape):
    """Short loops on numbers, as kernels of their own, have no barriers."""
    inputs = np.linspace(-2, 3, int(np.prod(shape))).reshape(shape) + 2.5
    run = partial(loop, kind)
    for _ in shape:
        run = jax.vmap(run)
    found = jit(run)(jnp.asarray(inputs))
    np.testing.assert_allclose(found, jax.jit(run)(jnp.asarray(inputs)), rtol=FEW_SINGLE)


def wide(x):
    return jnp.sum(jnp.sin(x) * jnp.exp(x), axis=1)


@pytest.mark.parametrize(("how", "expected"), [(jit, False), (cells, False), (jax.jit, True)])
def test_kernels_are_not_cut_into_tasks(how, expected):
    """As JAX does by itself with wide ones; their parts are handed to other threads."""
    text = how(wide).lower(jnp.ones((2000, 2000))).compile().as_text()
    assert ("outer_dimension_partitions" in text) == expected


def chains(x):
    """Three sums that do not depend on each other, of numbers sorted four times."""

    def sorted_sum(factor):
        return jnp.sum(jax.lax.fori_loop(0, 4, lambda _, y: jnp.sort(y * factor), x, unroll=True))

    return [sorted_sum(factor) for factor in (2.0, 3.0, 4.0)]


@pytest.mark.parametrize(("how", "in_order"), [(jit, True), (cells, True), (jax.jit, False)])
def test_a_chain_of_kernels_ends_before_another_begins(how, in_order):
    """By itself JAX begins all of them, and hands their kernels to other threads."""
    text = how(chains).lower(jnp.ones(1000)).compile().as_text()
    sorts = re.findall(r"%(sort\S*) = .* sort\(%(\w+)", text[text.index("ENTRY") :])
    numbers = [int(name.partition(".")[2] or 0) for name, _ in sorts]
    assert len(numbers) == 12
    assert (numbers == sorted(numbers)) == in_order
