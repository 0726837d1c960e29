"""Runs of the reduced chain of as many steps as a theorem prints: its T is traced."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one import RankOne
from theorysim.systems.rank_one_walk import Rules, Walk, walk


class End(NamedTuple):
    """m_T, and the largest |m_t| up to each of some early times."""

    overlap: Float[Array, ""]
    peaks: Float[Array, " times"]


class Printed(NamedTuple):
    """T and the early times."""

    steps: Float[Array, ""]
    early: Float[Array, " times"]


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
    start, times = chain.begin(given, overlap), jnp.asarray(early, float)
    end = walk(
        given,
        Rules(activation, _goes_on, _peaks),
        start,
        dimension,
        rate,
        key,
        until=Printed(steps, times),
        noted=jnp.abs(start.overlap) + jnp.zeros_like(times),
    )
    return End(end.state.overlap, end.noted)


def _goes_on(printed: Printed, walk: Walk) -> Bool[Array, ""]:
    return walk.steps + 1 <= printed.steps


def _peaks(printed: Printed, walk: Walk, _: chain.Step) -> Float[Array, " times"]:
    higher = jnp.maximum(walk.noted, jnp.abs(walk.state.overlap))
    return jnp.where(walk.steps <= printed.early, higher, walk.noted)
