"""Independent copies of a run, each on a key of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

Result = TypeVar("Result")


def copies(
    run: Callable[[PRNGKeyArray], Result], key: PRNGKeyArray, count: int, axis: int
) -> Result:
    """Independent runs behind one another along an axis of their arrays, each with its own key."""
    found = jax.lax.map(run, jax.random.split(key, count))
    return jax.tree.map(lambda leaf: jnp.concatenate(leaf, axis), found)
