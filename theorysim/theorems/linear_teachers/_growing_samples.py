"""What the experiments share: the first of one sequence of samples, for growing numbers of them.

The rows behind the n-th are zero, so that all numbers of samples have one program.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from theorysim import claims
from theorysim.systems.linear_regression import row_space

# How far a measured risk may be from the predicted one: less is not told apart on a plot.
TWENTIETH = 0.05


def unit(key: PRNGKeyArray, dimension: int) -> Float[Array, "d"]:
    """A random direction."""
    vector = jax.random.normal(key, (dimension,))
    return vector / jnp.linalg.norm(vector)


def counts(x: claims.Instance, shares: tuple[float, ...]) -> tuple[int, ...]:
    """Numbers of samples that are such shares of d, at least one."""
    return tuple(max(round(share * x.d), 1) for share in shares)


def padded(every: Float[Array, "most d"], several: tuple[int, ...]) -> Float[Array, "n most d"]:
    """The first rows for each number of them, scaled so that means over all are means over them."""
    many = jnp.asarray(several, every.dtype)[:, None, None]
    return every * _first(every, several)[..., None] * jnp.sqrt(len(every) / many)


def spans(every: Float[Array, "most d"], several: tuple[int, ...]) -> Float[Array, "n d most"]:
    """Orthonormal bases of the spans of the same rows, with zeros behind: of one QR."""
    return row_space(every) * _first(every, several)[:, None]


def _first(every: Float[Array, "most d"], several: tuple[int, ...]) -> Int[Array, "n most"]:
    return jnp.arange(len(every)) < jnp.asarray(several)[:, None]
