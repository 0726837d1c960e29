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
    of a run, traced, and of its state. `advance` should take long, beside a look at every lane.

    Args:
        runs: how many there are.
        lanes: how many are on their way at once.
    """

    def of_lanes(function: Callable, *arguments: Any) -> Any:
        return jax.vmap(function)(*arguments)

    def go_on(carry: tuple) -> tuple:
        number, state, begun, found = carry
        state = of_lanes(advance, number, state)
        ended = of_lanes(has_ended, number, state) & (number < runs)
        place = jnp.where(ended, number, runs)  # which is none, and dropped
        found = jax.tree.map(
            lambda leaf, new: leaf.at[place].set(new, mode="drop"), found, of_lanes(result, state)
        )
        number = jnp.where(ended, begun + jnp.cumsum(ended) - 1, number)
        fresh = of_lanes(start, number)
        state = jax.tree.map(lambda new, old: _where(ended, new, old), fresh, state)
        return number, state, begun + jnp.sum(ended), found

    number = jnp.arange(lanes)
    state = of_lanes(start, number)
    found = jax.tree.map(
        lambda leaf: jnp.zeros((runs, *leaf.shape[1:]), leaf.dtype), of_lanes(result, state)
    )
    begin = number, state, jnp.asarray(lanes), found
    *_, found = jax.lax.while_loop(lambda carry: jnp.any(carry[0] < runs), go_on, begin)
    return found


def _where(which: Bool[Array, " lanes"], new: Array, old: Array) -> Array:
    return jnp.where(which.reshape(-1, *[1] * (old.ndim - 1)), new, old)
