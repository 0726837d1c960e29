"""Random numbers that JAX draws slowly or not at all."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

LEAST_UNIFORM = 1e-37  # of a uniform number before its logarithm is taken; normal in float32


def chi_square(
    key: PRNGKeyArray, degrees: Any, shape: tuple[int, ...] = (), dtype: Any = float
) -> Float[Array, "..."]:
    """chi^2 variables of any number of degrees of freedom, 0 and traced ones included.

    NaN for degrees that are negative or not finite, at which no proposal would ever be accepted.

    Exact, by the method of Marsaglia and Tsang (2000) for the gamma law of shape degrees / 2,
    raised by 1 where that is below 1. Unlike `jax.random.chisquare`, which maps over its draws one
    by one on a CPU, it proposes for all of them together; at many degrees one proposal nearly
    always does.
    """
    half = jnp.asarray(degrees, dtype) / 2
    proper = (half > 0) & (half < jnp.inf)
    safe = jnp.where(proper, half, 1)
    centre = jnp.where(safe < 1, safe + 1, safe) - 1 / 3
    width = 1 / jnp.sqrt(9 * centre)

    def propose(carry: tuple) -> tuple:
        attempt, kept, done = carry
        normal, uniform = jax.random.split(jax.random.fold_in(key, attempt))
        z = jax.random.normal(normal, shape, dtype)
        cube = (1 + width * z) ** 3
        log_ratio = z**2 / 2 + centre * (1 - cube + jnp.log(jnp.where(cube > 0, cube, 1)))
        height = jax.random.uniform(uniform, shape, dtype, minval=LEAST_UNIFORM)
        accepted = (cube > 0) & (jnp.log(height) < log_ratio)
        return attempt + 1, jnp.where(done, kept, cube), done | accepted

    start = (1, jnp.zeros(shape, dtype), jnp.zeros(shape, bool))
    _, cube, _ = jax.lax.while_loop(lambda carry: ~jnp.all(carry[2]), propose, start)
    lift = jax.random.uniform(jax.random.fold_in(key, 0), shape, dtype, minval=LEAST_UNIFORM)
    lowered = jnp.where(safe < 1, lift ** (1 / safe), 1)
    return jnp.where(proper, 2 * centre * cube * lowered, jnp.where(half == 0, 0, jnp.nan))
