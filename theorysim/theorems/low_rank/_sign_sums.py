"""The exact law of a sum of k random signs near 0, for k up to tens of millions."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

TERMS = 4096
# Of the central binomial coefficient times sqrt(pi n) / 4^n, in 1/n: to 1e-9 from n = 8 on.
CENTRAL = np.array([1, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144])


def chance_below(pairs: Any, odd: Any, level: Any) -> Float[Array, ""]:
    """P(|b_1 + ... + b_k| < level) for k = 2 pairs + odd signs; level is at most 2 `TERMS`."""
    centre = jnp.polyval(jnp.asarray(CENTRAL[::-1]), 1 / pairs) / jnp.sqrt(jnp.pi * pairs)
    first = jnp.where(odd == 1, centre * (2 * pairs + 1) / (2 * pairs + 2), centre)
    steps = jnp.arange(1.0, TERMS)
    # From a sum to the next larger one.
    ratios = jnp.maximum(pairs + 1 - steps, 0) / (pairs + odd + steps)
    chances = first * jnp.concatenate([jnp.ones(1), jnp.cumprod(ratios)])
    sums = 2 * jnp.arange(float(TERMS)) + odd
    twice = jnp.where(sums == 0, 1, 2)  # a sum and its negative
    return jnp.sum(jnp.where(sums < level, twice * chances, 0))
