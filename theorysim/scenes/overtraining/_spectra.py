"""The spectra that the scenes of this paper share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

FEATURES = 10
LARGEST = 4.0


def pre_spectrum(decay: Any, count: int = FEATURES) -> Float[Array, " d"]:
    """Features of pre-training: the n-th is LARGEST decay^(n-1)."""
    return LARGEST * decay ** jnp.arange(count)


def ft_spectrum(pre: Float[Array, " d"], ratio: Any) -> Float[Array, " d"]:
    """Features of fine-tuning: as many times those of pre-training as 1 at first, `ratio` at last.

    ft_n / pre_n grows with the square of n - 1, so that misalignment sits in the later features.
    """
    share = jnp.linspace(0, 1, pre.shape[0]) ** 2
    return pre * (1 + (ratio - 1) * share)


def learning_rate(pre: Float[Array, " d"], ft: Float[Array, " d"], lam: Any) -> Float[Array, ""]:
    """eta = 1 / (8 (lam + 2) Gamma), half of what Assumption A.8 admits."""
    return 1 / (8 * (lam + 2) * jnp.maximum(jnp.max(pre), jnp.max(ft)))
