"""The smallest g at which Eq. 3 holds.

Theorem 4.2 of Shachaf et al. (2021): the bound is a cubic in g with one positive root.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float


def needed_size(
    risk: Float[Array, "*#n"], top: Float[Array, "*#n"], bottom: Float[Array, "*#n"]
) -> Float[Array, "*n"]:
    """The positive root in g of top g^3 + bottom g = risk, for top > 0 and bottom >= 0."""
    ratio, linear = risk / top, bottom / top
    safe = jnp.where(linear > 0, linear, 1)
    angle = jnp.arcsinh(1.5 * ratio / safe * jnp.sqrt(3 / safe)) / 3
    cubic = 2 * jnp.sqrt(safe / 3) * jnp.sinh(angle)
    return jnp.where(linear > 0, cubic, jnp.cbrt(ratio))
