"""Averages of few keys hide much: what leans the other way is taken again before it holds."""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.engine.statements import about, judged
from theorysim.claims import Real, Verdict, at_most, equal
from theorysim.engine.confirm.judged import Judged

FIELD = Real(1, 2)
SEEDS = [1, *map(thorough, (2, 3))]


def mean_at_most(bound, simulate, **more):
    """With 64 keys: a normal number errs by an eighth, and by six of these to be violated."""
    return about(FIELD, at_most("m", lambda r: r.mean(r.sim), bound), simulate, keys=64, **more)


def normals(count, mean=0.0):
    return lambda x, key: mean + jax.random.normal(key, (count,))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_false_of_some_instances_is_violated(seed):
    """By .3 for each x below 1.3: by 27 standard errors of 8192 keys."""

    def mostly_low(x, key):
        return jnp.where(x.x < 1.3, 0.3, -10) + jax.random.normal(key)

    found = judged(mean_at_most(lambda r: 0.0, mostly_low), seed=seed)
    assert found.verdict is Verdict.VIOLATED
    assert found.lhs == pytest.approx(0.3, abs=0.15)
    assert found.slack < -found.error
    assert "8 sets of 1024 fresh keys" in found.note
    assert found.worst_instance["values"]["x"] < 1.3


@pytest.mark.parametrize("seed", SEEDS)
def test_what_fresh_keys_leave_open_does_not_hold(seed):
    """The fourth bound is wrong by .1, three standard errors of 1024 keys."""
    bound = lambda r: jnp.array([1, 1, 1, -0.1])  # noqa: E731
    found = judged(mean_at_most(bound, normals(4)), seed=seed)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "lean the other way, also with 8 sets" in found.note


def test_a_side_that_errs_the_same_way_everywhere_is_no_equality():
    claim = equal("m", lambda r: r.mean(r.sim), lambda r: 1.02)
    coarse = about(FIELD, claim, lambda x, key: 1 + 0.1 * jax.random.normal(key), keys=64)
    assert judged(coarse).verdict is not Verdict.HOLDS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "simulate",
    [thorough(normals(9)), lambda x, key: jax.random.normal(key) + normals(9)(x, key) / 10],
    ids=["apart", "together"],
)
def test_bounds_that_are_attained_hold(simulate, seed):
    """Four means of nine are their bound; the others stay far below."""
    bound = lambda r: jnp.where(jnp.arange(9) < 4, 0.0, 2.0)  # noqa: E731
    assert judged(mean_at_most(bound, simulate), seed=seed).verdict is Verdict.HOLDS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "kink",
    [lambda means: jnp.max(means), thorough(lambda means: jnp.abs(means[0]))],
    ids=["max", "abs"],
)
def test_a_bias_that_more_keys_make_less_of_is_none_of_the_statement(kink, seed):
    """The jackknife does not see that of the largest of equal means, nor that of |0|."""
    claim = at_most(
        "m",
        lambda r: jnp.append(r.mean(r.sim), kink(r.mean(r.sim))),
        lambda r: jnp.where(jnp.isin(jnp.arange(9), jnp.array([0, 1, 8])), 0.0, 100.0),
    )
    attained = about(FIELD, claim, normals(8), keys=64)
    assert judged(attained, seed=seed).verdict is Verdict.HOLDS


def test_a_row_comes_with_its_own_instance_and_key():
    evidence: Any = SimpleNamespace(measurement=SimpleNamespace(rows=np.asarray))
    other: Any = None
    instances: Any = {"a": np.array([10, 20, 30])}
    several = Judged(other, other, other, other, evidence, instances, np.array([[1, 2], [3, 4]]))
    x, key, measured = several.at(1)
    assert (x["a"], key.tolist(), np.asarray(measured).tolist()) == (20, [3, 4], [1])
