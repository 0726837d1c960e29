"""What a descent has left of an error after k steps, and what it has gained, with all digits."""

from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy.special import xlog1py
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Num


class Contraction(NamedTuple):
    """Shares of an error; they add up to one."""

    left: Float[Array, "*modes"]
    gained: Float[Array, "*modes"]


def contraction(shrink: Float[Array, "*#modes"], steps: Num[ArrayLike, "*#modes"]) -> Contraction:
    """(1 - shrink)^steps, and one minus it without loss of digits where shrink is small.

    Shapes of one rank broadcast. `steps` are whole numbers, also as floats and infinite; a mode of
    shrink zero never moves.
    """
    count = jnp.asarray(steps)
    # |1 - shrink| = 1 + max(-shrink, shrink - 2)
    growth = xlog1py(count.astype(shrink.dtype), jnp.maximum(-shrink, shrink - 2))
    log_size = jnp.where(shrink == 0, 0, growth)  # infinity times zero is zero here
    size = jnp.exp(log_size)
    negative = (shrink > 1) & (count % 2 == 1)
    return Contraction(
        jnp.where(negative, -size, size), jnp.where(negative, 1 + size, -jnp.expm1(log_size))
    )
