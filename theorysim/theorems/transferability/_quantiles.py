"""What Liu et al. (2019) bound with probability 1 - delta: a quantile over runs.

A mean square would follow the few networks whose own Gram matrix, far from that of infinite width,
makes the learning rate unstable.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims


def quantile(sizes: Callable) -> Callable[[claims.Run], Float[Array, ""]]:
    """The 1 - delta quantile of |sizes| over runs."""
    return lambda r: jnp.quantile(jnp.abs(sizes(r)), 1 - r.x.failure)
