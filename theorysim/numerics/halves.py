"""Choices that are made on other runs than those that are judged by them."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float


def of_the_other_half(samples: Float[Array, "run *rest"]) -> Float[Array, "run *rest"]:
    """For every run the mean over the other half of the runs: the first half, or the last.

    A choice by it, such as the best learning rate, is independent of the run that it is made for,
    and the same for the whole half. (With the mean of *all* other runs every run would have a
    choice of its own, each against its own luck: differences then spread less than they should.)
    """
    runs = samples.shape[0]
    early, late = jnp.split(samples, [runs // 2])
    means = jnp.stack([jnp.mean(late, axis=0), jnp.mean(early, axis=0)])
    return means[(jnp.arange(runs) >= runs // 2).astype(int)]
