"""What the largest and the smallest of undefined numbers are in compiled programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.compiled import jit


@pytest.mark.parametrize("rows", [1, 64, 1024, 20_000])
@pytest.mark.parametrize("reduction", [jnp.max, jnp.min, jnp.sum])
def test_reductions_keep_nan(rows, reduction):
    undefined = np.full((rows, 4, 3), np.nan)
    found = jit(jax.vmap(lambda row: reduction(jnp.abs(row), axis=0)))(undefined)
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


def test_what_is_kept_apart_is_not_fused():
    """The cosine and the sine are in computations of their own."""
    text = compiled_text(jit)
    assert "opt-barrier(" in text
    parts = text.split("\n}\n")
    assert not any(" cosine(" in part and " sine(" in part and "fused" in part for part in parts)


def test_the_compiler_still_drops_barriers_by_itself():
    """Where this fails, JAX keeps barriers on a CPU, and that option can go."""
    assert "opt-barrier(" not in compiled_text(jax.jit)
