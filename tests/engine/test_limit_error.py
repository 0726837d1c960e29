"""Limits of converging paths: what their distances make of formulas of several entries."""

import jax.numpy as jnp
import pytest
from drawn import thorough

from tests.engine.statements import theorem
from theorysim.claims import Real, Space, Verdict, at_least, at_most, equal
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

HALVES = 2.0 ** -jnp.arange(12.0)
ONE = Space(a=Real(1, 2))


def statement(claim, simulate, **more):
    return theorem(claim, simulate=simulate, predict=lambda x: (), space=ONE, **more)


def entries(count: int, times: int = 12):
    """`count` paths that approach a, 1.001 a, ... from below, all alike."""
    weights = 1 + 1e-3 * jnp.arange(count)
    return lambda x, key: x.a * weights[:, None] * (1 - 2.0 ** -jnp.arange(times))


@pytest.mark.parametrize("seed", [0, *map(thorough, range(1, 4))])
@pytest.mark.parametrize("count", [*map(thorough, (1, 2, 3, 6, 16)), 64])
@pytest.mark.parametrize("combine", [jnp.sum, thorough(jnp.mean)])
def test_a_true_sum_of_limits_is_not_refuted(count, combine, seed):
    """All entries are off the same way: their distances add up."""
    weights = 1 + 1e-3 * jnp.arange(count)
    claim = equal("c", lambda r: combine(r.limit(r.sim)), lambda r: combine(r.x.a * weights))
    found = verify(statement(claim, entries(count)), seed=seed, instances=64)
    assert found.verdict is not Verdict.VIOLATED


def ends_alike(x, key):
    """Two paths with limits a/2048 apart from zero, up and down, that end on the same number."""
    end = 2.0**-11
    return jnp.stack([x.a * (end - HALVES), x.a * (HALVES - end)])


@pytest.mark.thorough
def test_different_paths_that_end_alike_do_not_cancel():
    """The limits are a/2048 and -a/2048, the last entries both 0."""
    ends = at_most("c", lambda r: r.limit(r.sim[0]), lambda r: r.limit(r.sim[1]))
    assert verify(statement(ends, ends_alike)).verdict is not Verdict.HOLDS
    gap = at_least("c", lambda r: r.limit(r.sim[0]) - r.limit(r.sim[1]), lambda r: r.x.a * 9e-4)
    assert verify(statement(gap, ends_alike)).verdict is not Verdict.VIOLATED


@pytest.mark.thorough
@pytest.mark.parametrize(
    "same", [thorough(lambda p: p), lambda p: p * 1.0, thorough(lambda p: jnp.array(p))]
)
def test_the_limit_of_an_equal_path_is_the_same_limit(same):
    claim = equal("c", lambda r: r.limit(r.sim), lambda r: r.limit(same(r.sim)))
    (found,) = verify(statement(claim, lambda x, key: x.a * (1 - HALVES))).readings[0].claims
    assert found.verdict is Verdict.HOLDS and found.error_parts["limit"] == 0


@pytest.mark.parametrize("count", [*map(thorough, (1, 16)), 3])
def test_a_planted_difference_beyond_the_distances_is_found(count):
    off = equal("c", lambda r: jnp.sum(r.limit(r.sim)), lambda r: 1.1 * jnp.sum(r.sim[:, -1]))
    assert verify(statement(off, entries(count)), instances=64).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("kind", [jnp.int32, jnp.complex128])
def test_a_path_that_is_not_real_is_refused(kind):
    claim = at_most("c", lambda r: jnp.abs(r.limit(r.sim.astype(kind))), lambda r: 9.0)
    with pytest.raises(UsageError, match="path of real numbers"):
        verify(statement(claim, lambda x, key: x.a * (1 - HALVES)))
