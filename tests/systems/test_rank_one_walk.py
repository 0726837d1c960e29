"""Walks of the reduced chain: thinned, to a level, and as long as they go on."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.systems import rank_one, rank_one_chain, rank_one_walk

pytestmark = pytest.mark.usefixtures("x64")


def a_chain():
    """The arguments of 200 steps."""
    signs = jnp.array([1.0, -1.0, 1.0])
    setting = rank_one.from_signs(jnp.eye(3), jnp.ones(3), signs, signs, 1.0)._replace(
        features=None
    )
    begin, key = rank_one_chain.begin(setting, 0.3), jax.random.key(0)
    return setting, jax.nn.relu, begin, 20, 0.02, key


@cache
@partial(jax.jit, static_argnames="every")
def thinned(every):
    *problem, key = a_chain()
    return rank_one_chain.run(*problem, 200, key, every=every).overlap


@jax.jit
def passage(level):
    return rank_one_walk.first_passage(*a_chain(), level=level, limit=200)


@pytest.mark.parametrize("every", [*map(thorough, (2, 25, 50, 200)), 100])
def test_a_thinned_chain_is_the_chain(every):
    one_rounding_a_step = 200 * np.finfo(np.float32).eps
    every_step = np.asarray(thinned(1))
    np.testing.assert_allclose(thinned(every), every_step[::every], rtol=one_rounding_a_step)


@pytest.mark.parametrize("level", [0.2, 0.4, 0.6, 0.999])
def test_first_passage_is_the_first_step_at_the_level(level):
    reached = np.flatnonzero(np.asarray(thinned(1)) >= level)
    assert float(passage(level)) == (reached[0] if len(reached) else np.inf)


def test_passages_side_by_side_are_those_one_by_one():
    """Of several keys, each for problems of several learning rates, which differ in length."""
    *problem, _, _ = a_chain()
    rates, keys = jnp.array([0.005, 0.02, 0.05]), jax.random.split(jax.random.key(3), 8)

    def steps(rate, key):
        return rank_one_walk.first_passage(*problem, rate, key, level=0.6, limit=2000)

    together = jax.jit(jax.vmap(jax.vmap(steps, (None, 0)), (0, None)))(rates, keys)
    alone = jax.jit(steps)
    np.testing.assert_array_equal(together, [[alone(r, k) for k in keys] for r in rates])
    assert len(set(np.asarray(together).ravel())) > 10


def test_a_walk_notes_its_steps_as_long_as_it_goes_on():
    every_step, until = np.asarray(thinned(1)), 30
    rules = rank_one_walk.Rules(
        jax.nn.relu,
        lambda until, walk: walk.steps < until,
        lambda _, walk, made: jnp.maximum(walk.noted, walk.state.overlap),
    )
    problem, _, start, dimension, rate, key = a_chain()
    end = jax.jit(partial(rank_one_walk.walk, problem, rules))(
        start, dimension, rate, key, until=until, noted=start.overlap
    )
    one_rounding_a_step = until * np.finfo(float).eps
    assert int(end.steps) == until
    expected = every_step[until], every_step[: until + 1].max()
    np.testing.assert_allclose((end.state.overlap, end.noted), expected, rtol=one_rounding_a_step)


@pytest.mark.thorough
def test_a_start_may_be_a_whole_number():
    problem, activation, _, dimension, rate, key = a_chain()

    def steps(zero):
        start = rank_one_chain.begin(problem, zero)
        return jax.jit(
            partial(rank_one_walk.first_passage, problem, activation, level=0.2, limit=400)
        )(start, dimension, rate, key)

    assert float(steps(0)) == float(steps(0.0)) < 400
