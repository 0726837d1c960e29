"""The moment generating function of random signs, by which tilted ones are weighed."""

import jax.numpy as jnp
from jaxtyping import Array


def log_cosh(v: Array) -> Array:
    """log E[e^(v b)] for a sign b that is 1 or -1 with a chance of 1/2; finite at large v."""
    return jnp.logaddexp(v, -v) - jnp.log(2)
