"""Covariances (1/m) sum x x^T of batches of m standard normal inputs, drawn directly.

A batch enters the loss of a linear network through its covariance only, so a batch of 10^11 inputs
costs as much as one of 10. `stream` makes one covariance per step of a descent; two runs with the
same key see the same batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from theorysim.numerics.products import dot

Scalar: TypeAlias = float | Float[Array, ""] | Int[Array, ""]
Covariance: TypeAlias = Float[Array, "d d"]


def of_inputs(inputs: Float[Array, "batch d"]) -> Covariance:
    """(1/m) sum x x^T over the rows."""
    return dot(inputs.T, inputs) / len(inputs)


def sample(key: PRNGKeyArray, width: int, batch: int) -> Covariance:
    """The covariance of a batch that is drawn: for any batch, also one smaller than the width."""
    return of_inputs(jax.random.normal(key, (batch, width)))


def wishart(key: PRNGKeyArray, width: int, batch: Scalar) -> Covariance:
    """The same law in O(width^2), by Bartlett's decomposition; `batch` >= width may be traced.

    NaN for smaller batches, whose covariance is singular: take `sample`.
    """
    squares_key, below_key = jax.random.split(key)
    below = jnp.tril(jax.random.normal(below_key, (width, width)), -1)
    freedom = batch - jnp.arange(width, dtype=below.dtype)
    squares = jax.random.chisquare(squares_key, jnp.maximum(freedom, 1), dtype=below.dtype)
    root = below + jnp.diag(jnp.sqrt(squares))
    return jnp.where(freedom[-1] > 0, dot(root, root.T) / batch, jnp.nan)


def asymptotic(key: PRNGKeyArray, width: int, log10_batch: Scalar) -> Covariance:
    """I + m^(-1/2) E: the law of large batches, up to O(1/m), for m = 10^log10_batch of any size.

    E is symmetric Gaussian with variance one off the diagonal and two on it.
    """
    entries = jax.random.normal(key, (width, width))
    deviation = jnp.power(jnp.asarray(10, entries.dtype), -0.5 * log10_batch)
    noise = deviation * (entries + entries.T) / 2**0.5
    return jnp.eye(width, dtype=entries.dtype) + noise


def stream(
    key: PRNGKeyArray, draw: Callable[[PRNGKeyArray], Covariance]
) -> Callable[[Int[Array, ""] | int], Covariance]:
    """The covariance of step k, as a function of k: `stream(key, lambda k: wishart(k, d, m))`."""
    return lambda step: draw(jax.random.fold_in(key, step))
