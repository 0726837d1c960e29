"""Many runs of different length, a few at a time: a run that has ended makes room for the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PyTree


def in_lanes(
    runs: int,
    lanes: int,
    *,
    start: Callable[[Int[Array, ""]], PyTree],
    advance: Callable[[Int[Array, ""], PyTree], PyTree],
    has_ended: Callable[[Int[Array, ""], PyTree], Bool[Array, ""]],
    result: Callable[[PyTree], PyTree],
) -> Any:
    """The results of all runs, which lead with their number.

    Side by side under vmap all of them would wait for the longest. The functions are of the number
    of a run, traced, and of its state, of arrays of numbers (of a random key the data). `advance`
    should take long, beside a look at every lane.

    Args:
        runs: how many there are.
        lanes: how many are on their way at once.
    """

    def go_on(carry: tuple) -> tuple:
        number, state, begun, found = carry
        state = jax.vmap(advance)(number, state)
        ended = jax.vmap(has_ended)(number, state) & (number < runs)
        place = jnp.where(ended, number, runs)  # which is none, and dropped
        found = jax.tree.map(
            lambda leaf, new: leaf.at[place].set(new, mode="drop"), found, jax.vmap(result)(state)
        )
        number = jnp.where(ended, begun + jnp.cumsum(ended) - 1, number)
        state = jax.tree.map(lambda new, old: _where(ended, new, old), fresh(number), state)
        return number, state, begun + jnp.sum(ended), found

    number = jnp.arange(lanes)
    advanced = jax.eval_shape(lambda: jax.vmap(advance)(number, jax.vmap(start)(number)))

    def fresh(number: Array) -> PyTree:
        """States as runs begin, of the types that they have later: 0 may become 0.5."""
        begun = jax.vmap(start)(number)
        return jax.tree.map(lambda leaf, like: leaf.astype(like.dtype), begun, advanced)

    state = fresh(number)
    found = jax.tree.map(
        lambda leaf: jnp.zeros((runs, *leaf.shape[1:]), leaf.dtype), jax.vmap(result)(state)
    )
    begin = number, state, jnp.asarray(lanes), found
    *_, found = jax.lax.while_loop(lambda carry: jnp.any(carry[0] < runs), go_on, begin)
    return found


def _where(which: Bool[Array, " lanes"], new: Array, old: Array) -> Array:
    return jnp.where(which.reshape(-1, *[1] * (old.ndim - 1)), new, old)
