"""The reduced chain of rank-one fine-tuning for as many steps as each run takes by itself.

Under vmap, chains of one key draw their inputs together, and on a CPU those of few keys are on
their way at once: chains differ in length.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from theorysim.numerics.lanes import in_lanes
from theorysim.numerics.sharing import sharing_keys
from theorysim.systems.rank_one import RankOne
from theorysim.systems.rank_one_chain import BLOCK, Sample, State, Step, draw, step

# Chains on their way at once on a CPU, of so many keys at least; an accelerator has room for all.
CHAINS, LEAST_KEYS = 80, 16


class Walk(NamedTuple):
    """How far a chain has come, and what was noted of its states."""

    steps: Int[Array, ""]
    state: State
    noted: Any


class Chain(NamedTuple):
    """What a chain needs beside its key; the problem is a reduced one, or without features."""

    problem: RankOne
    start: Walk
    dimension: Any
    learning_rate: Any
    until: Any


class Rules(NamedTuple):
    """The activation; whether a walk goes on; and what is noted once a step is made.

    The last two are given what the caller calls `until`, which may be traced, and a walk. None of
    them may close over what vmap batches. A walk ends where its rule says so, and not before.
    """

    activation: Callable
    goes_on: Callable[[Any, Walk], Bool[Array, ""]]
    note: Callable[[Any, Walk, Step], Any]


def walk(
    problem: RankOne,
    rules: Rules,
    start: State,
    dimension: Any,
    learning_rate: Any,
    key: PRNGKeyArray,
    *,
    until: Any,
    noted: Any = (),
) -> Walk:
    """The chain of `rank_one_chain.run` as long as it goes on.

    Args:
        problem: a reduced one (`reduce_features`), or one without features.
        until: a tree of arrays, for the rules.
        noted: of the start.
    """
    begin = Walk(jnp.asarray(0), start, noted)
    walks = sharing_keys(partial(_walks, rules))
    return walks(key, Chain(problem, begin, dimension, learning_rate, until))


def first_passage(
    problem: RankOne,
    activation: Callable,
    start: State,
    dimension: Any,
    learning_rate: Any,
    key: PRNGKeyArray,
    *,
    level: Any,
    limit: int,
) -> Float[Array, ""]:
    """Steps until the overlap first reaches `level`; infinite where `limit` steps do not."""

    def is_below(level: Array, walk: Walk) -> Bool[Array, ""]:
        return (walk.state.overlap < level) & (walk.steps < limit)

    rules = Rules(activation, is_below, lambda _, walk, step: ())
    end = walk(problem, rules, start, dimension, learning_rate, key, until=level)
    overlap = end.state.overlap
    return jnp.where(overlap >= level, end.steps.astype(overlap.dtype), jnp.inf)


def _walks(rules: Rules, keys: Array, chains: Chain) -> Walk:
    """The ends of walks, several of each key; arrays lead with both."""

    def of(number: Array) -> Chain:
        return jax.tree.map(lambda leaf: leaf[number], chains)

    def start(number: Array) -> tuple[Array, Walk]:
        return jnp.asarray(0), of(number).start

    def advance(number: Array, now: tuple[Array, Walk]) -> tuple[Array, Walk]:
        block, walks = now
        key = jax.random.fold_in(keys[number], block)
        return block + 1, jax.vmap(partial(_block, rules, key))(of(number), walks)

    def has_ended(number: Array, now: tuple[Array, Walk]) -> Bool[Array, ""]:
        return ~jnp.any(jax.vmap(rules.goes_on)(of(number).until, now[1]))

    total, sharing = chains.start.steps.shape
    few = min(total, max(LEAST_KEYS, CHAINS // sharing))
    lanes = few if jax.default_backend() == "cpu" else total
    return in_lanes(
        total,
        lanes,
        start=start,
        advance=advance,
        has_ended=has_ended,
        result=lambda now: now[1],
    )


def _block(rules: Rules, key: PRNGKeyArray, chain: Chain, walk: Walk) -> Walk:
    """A block of steps, or fewer where the walk does not go on."""

    def move(walk: Walk, sample: Sample) -> tuple[Walk, None]:
        goes_on, rates = rules.goes_on(chain.until, walk), (chain.learning_rate, None)
        state, made = step(chain.problem, rules.activation, rates, walk.state, sample)
        moved = Walk(walk.steps + 1, state, walk.noted)
        moved = moved._replace(noted=rules.note(chain.until, moved, made))
        return jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), moved, walk), None

    return jax.lax.scan(move, walk, draw(chain.problem, chain.dimension, key, BLOCK))[0]
