"""Random numbers that JAX draws slowly or not at all."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim.numerics.sharing import sharing_keys

LEAST_UNIFORM = 1e-37  # of a uniform number before its logarithm is taken; normal in float32


def normal(key: PRNGKeyArray, shape: tuple[int, ...], dtype: Any = float) -> Float[Array, "..."]:
    """The numbers of `jax.random.normal`, bit for bit, in a third to three quarters of its time.

    A CPU draws along the last axis several numbers at once, as far as it reaches: all stand along
    one here (27 to 12 ns a number for rows of 7, 15 to 11 for rows of 50, in float64). Whoever
    reads them reads what was drawn, where XLA would draw anew for every reader.
    """
    numbers = jax.random.normal(key, (math.prod(shape),), dtype)
    return jax.lax.optimization_barrier(numbers).reshape(shape)


def chi_square(
    key: PRNGKeyArray, degrees: Any, shape: tuple[int, ...] = (), dtype: Any = float
) -> Float[Array, "..."]:
    """chi^2 variables of any number of degrees of freedom, 0 and traced ones included.

    NaN for degrees that are negative or not finite, at which no proposal would ever be accepted.

    Exact, by the method of Marsaglia and Tsang (2000) for the gamma law of shape degrees / 2,
    raised by 1 where that is below 1. Unlike `jax.random.chisquare`, which maps over its draws one
    by one on a CPU, it proposes for all of them together; at many degrees one proposal nearly
    always does. Under vmap those of one key share its proposals.
    """
    drawn = sharing_keys(partial(_chi_square, shape, dtype))
    return drawn(key, jnp.broadcast_to(jnp.asarray(degrees, dtype), shape))


def _chi_square(
    shape: tuple[int, ...],
    dtype: Any,
    keys: Array,
    degrees: Float[Array, "keys sharing ..."],
) -> Float[Array, "keys sharing ..."]:
    """The numbers of several keys, each for several arrays of degrees."""
    half = degrees / 2
    proper = (half > 0) & (half < jnp.inf)
    safe = jnp.where(proper, half, 1)
    centre = jnp.where(safe < 1, safe + 1, safe) - 1 / 3
    width = 1 / jnp.sqrt(9 * centre)

    def uniform(each: Array) -> Array:
        return jax.random.uniform(each, shape, dtype, minval=LEAST_UNIFORM)

    def proposed(key: Array, attempt: Array) -> tuple[Array, Array]:
        for_normal, for_height = jax.random.split(jax.random.fold_in(key, attempt))
        return normal(for_normal, shape, dtype), uniform(for_height)

    def propose(carry: tuple) -> tuple:
        attempt, kept, done = carry
        drawn = jax.vmap(proposed, (0, None))(keys, attempt)
        z, height = (numbers[:, None] for numbers in drawn)
        cube = (1 + width * z) ** 3
        log_ratio = z**2 / 2 + centre * (1 - cube + jnp.log(jnp.where(cube > 0, cube, 1)))
        accepted = (cube > 0) & (jnp.log(height) < log_ratio)
        return attempt + 1, jnp.where(done, kept, cube), done | accepted

    start = (1, jnp.zeros_like(half), jnp.zeros(half.shape, bool))
    _, cube, _ = jax.lax.while_loop(lambda carry: ~jnp.all(carry[2]), propose, start)
    lift = jax.vmap(lambda key: uniform(jax.random.fold_in(key, 0)))(keys)[:, None]
    lowered = jnp.where(safe < 1, lift ** (1 / safe), 1)
    return jnp.where(proper, 2 * centre * cube * lowered, jnp.where(half == 0, 0, jnp.nan))
