"""The features of Claim 2, which the perturbation c u^T makes orthonormal."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def features(signs: Float[Array, " k"], flip: float = 1.0) -> Float[Array, "k d"]:
    """Unit rows in d = k(k+1)/2 + 1 dimensions with <w_i, w_j> = -flip c_i c_j, c = signs/sqrt(k).

    Row i has 1/sqrt(k) on coordinate i and, on the coordinate of every pair {i, j} with i < j,
    c_i; row j has -flip c_j there. The last coordinate is left to u.
    """
    k = signs.shape[0]
    first, second = np.triu_indices(k, 1)
    pairs = np.arange(len(first))
    shared = jnp.zeros((k, len(first)))
    shared = shared.at[first, pairs].set(signs[first]).at[second, pairs].set(-flip * signs[second])
    rows = jnp.concatenate([jnp.eye(k), shared, jnp.zeros((k, 1))], axis=1)
    return rows / jnp.sqrt(k)


def direction(k: int) -> Float[Array, " d"]:
    """u, the last coordinate vector."""
    return jnp.zeros(k * (k + 1) // 2 + 1).at[-1].set(1.0)
