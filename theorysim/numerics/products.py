"""Matrix products at full precision."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def dot(*factors: Float[Array, "..."]) -> Float[Array, "..."]:
    """The matrix product of several factors, from the left; shapes as for `jnp.matmul`.

    At the highest precision: accelerators round the factors of float32 products otherwise.
    """
    result, *rest = factors
    for factor in rest:
        result = jnp.matmul(result, factor, precision=jax.lax.Precision.HIGHEST)
    return result
