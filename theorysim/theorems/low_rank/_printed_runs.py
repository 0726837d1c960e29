"""Runs of the reduced chain of as many steps as a theorem prints: its T is traced."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one import RankOne


class End(NamedTuple):
    """m_T, and the largest |m_t| up to each of some early times."""

    overlap: Float[Array, ""]
    peaks: Float[Array, " times"]


def finish(
    given: RankOne,
    activation: Callable,
    overlap: Any,
    dimension: Any,
    rate: Any,
    steps: Any,
    key: PRNGKeyArray,
    *,
    early: Any = (),
) -> End:
    """A run of T = `steps` steps from an overlap; `given` is a reduced problem."""
    times = jnp.asarray(early, float)

    def move(carry: tuple[chain.State, Array], item: tuple) -> tuple[tuple, None]:
        (state, peaks), (sample, t) = carry, item
        moved = chain.step(given, activation, (rate, None), state, sample)[0]
        state = jax.tree.map(lambda new, old: jnp.where(t <= steps, new, old), moved, state)
        higher = jnp.maximum(peaks, jnp.abs(state.overlap))
        return (state, jnp.where(t <= times, higher, peaks)), None

    def block(j: Array, carry: tuple) -> tuple:
        samples = chain.draw(given, dimension, jax.random.fold_in(key, j), chain.BLOCK)
        now = j * chain.BLOCK + jnp.arange(1, chain.BLOCK + 1)
        return jax.lax.scan(move, carry, (samples, now))[0]

    start = chain.begin(given, overlap)
    blocks = jnp.ceil(steps / chain.BLOCK).astype(int)
    reached = jnp.abs(start.overlap) + jnp.zeros_like(times)
    state, peaks = jax.lax.fori_loop(0, blocks, block, (start, reached))
    return End(state.overlap, peaks)
