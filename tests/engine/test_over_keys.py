"""Runs of many keys, a few at a time: the same numbers, and nothing is done again."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.statements import noisy_mean, theorem
from theorysim.chunks import Chunked
from theorysim.claims import Verdict, at_most
from theorysim.engine.measure import batch, errors
from theorysim.engine.measure import over_keys as module
from theorysim.engine.measure.declared import PERTURBED_KEYS
from theorysim.engine.measure.errors import PERTURBATIONS, measure
from theorysim.engine.measure.over_keys import over_keys
from theorysim.engine.verify.verify import verify
from theorysim.jaxprs.structure import every_operation

KEYS = jax.random.split(jax.random.key(0), 12)
LENGTH, DESCENT = 50, 5
# The order of sums may be another: two of so many terms in each step.
SUMS = 2 * DESCENT * LENGTH * float(np.finfo(float).eps)


def simulate(key, scale=1.5):
    """A descent of random weights on what does not depend on the key."""
    matrix = jnp.cos(jnp.arange(LENGTH**2, dtype=float)).reshape(LENGTH, LENGTH)
    root = jnp.linalg.cholesky(matrix @ matrix.T + jnp.eye(LENGTH))
    start = scale * jax.random.normal(key, (LENGTH,))
    end = jax.lax.fori_loop(0, DESCENT, lambda _, w: w - 1e-3 * (w @ root) @ root, start)
    return {"end": end, "root": root[0], "none": 3}


@pytest.fixture(params=[1, 8, 100, 1 << 20])
def small(request, monkeypatch):
    """A cache that takes from one key at a time to all of them."""
    monkeypatch.setattr(module, "CACHE", request.param * LENGTH * 8)
    return request.param


def one(statement):
    """An instance of a statement, and a key."""
    key = jax.random.key(0)
    return statement.space.sample(key, statement.space.default_sizes()), key


def same(found, expected):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=SUMS), found, expected)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("count", [2, 11, 12])
def test_the_runs_are_those_of_vmap(small, count):
    keys = KEYS[:count]
    same(jax.jit(lambda k: over_keys(simulate, k))(keys), jax.vmap(simulate)(keys))


@pytest.mark.usefixtures("x64")
def test_a_vmap_about_it_changes_nothing(small):
    def many(scale, over):
        return over(lambda key: simulate(key, scale))

    scales = jnp.array([1.0, 2.0, 3.0])
    found = jax.vmap(lambda s: over_keys(lambda key: simulate(key, s), KEYS, 3))(scales)
    same(found, jax.vmap(lambda s: jax.vmap(lambda key: simulate(key, s))(KEYS))(scales))


def operations(cache, monkeypatch, beside=1, keys=KEYS):
    monkeypatch.setattr(module, "CACHE", cache)
    program = jax.make_jaxpr(lambda keys: over_keys(simulate, keys, beside))(keys)
    return program.jaxpr


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "runs, beside, rounds",
    [(12, 1, DESCENT), (5, 1, 3), (7, 1, 2), (1, 1, 12), (8, 2, 3), (12, 2, 2)],
)
def test_so_many_as_fit_go_side_by_side(runs, beside, rounds, monkeypatch):
    """In rounds of one length: others would be another program."""
    jaxpr = operations(runs * LENGTH * 8, monkeypatch, beside)
    loops = [e.params["length"] for e in jaxpr.eqns if e.primitive.name == "scan"]
    assert loops == [rounds]


@pytest.mark.usefixtures("x64")
def test_a_prime_number_of_keys_is_run_in_few_rounds(monkeypatch):
    jaxpr = operations(4 * LENGTH * 8, monkeypatch, keys=KEYS[:11])
    assert [e.params["length"] for e in jaxpr.eqns if e.primitive.name == "scan"] == [3]


@pytest.mark.usefixtures("x64")
def test_what_no_key_changes_is_done_once(monkeypatch):
    jaxpr = operations(1, monkeypatch)
    (loop,) = (e for e in jaxpr.eqns if e.primitive.name == "scan")
    names = [e.primitive.name for e in every_operation(loop.params["jaxpr"].jaxpr)]
    assert "cholesky" not in names and "scan" in names
    assert [e.primitive.name for e in jaxpr.eqns].count("cholesky") == 1


def test_empty_results_and_keys_among_them():
    """JAX's own map in batches divides by the size of what it gives back."""

    def function(key):
        start = jax.random.normal(key, (200_000,))
        end = jax.lax.fori_loop(0, 2, lambda _, w: w / 2, start)
        return jax.random.normal(key, (0, 3)), jnp.max(end), key

    empty, largest, own = jax.jit(lambda keys: over_keys(function, keys))(KEYS[:4])
    assert empty.shape == (4, 0, 3)
    assert jnp.all(own == KEYS[:4])
    np.testing.assert_array_equal(largest, jax.jit(jax.vmap(function))(KEYS[:4])[1])


def test_a_measurement_runs_all_keys_and_a_few_of_them_perturbed(monkeypatch):
    """The few run beside as many copies of them as are perturbed, and integrated coarsely."""
    seen = []

    def noted(function, keys, beside=1):
        seen.append((len(keys), beside))
        return over_keys(function, keys, beside)

    monkeypatch.setattr(errors, "over_keys", noted)
    statement = noisy_mean(keys=64)
    for integrates in (False, True):
        run = partial(measure, statement.all_readings(), 64, integrates, frozenset())
        jax.eval_shape(run, *one(statement))
    few = [(PERTURBED_KEYS, 1 + PERTURBATIONS), (PERTURBED_KEYS, 2 + PERTURBATIONS)]
    assert seen == [few[0], (64, 1), few[1], (64, 1)]


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_that_fill_the_cache_go_one_by_one(rows, monkeypatch):
    """As many as it holds for each thread, where a step of a row touches a thousand numbers."""

    def simulate(x, key):
        start = x.a + jnp.zeros(1000)
        return {"a": jnp.mean(jax.lax.fori_loop(0, 9, lambda _, w: w * x.b, start))}

    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 600.0), simulate=simulate)
    copies = 1 + PERTURBATIONS
    monkeypatch.setattr(module, "CACHE", rows * copies * 1000 * 8)
    lengths = []

    def chunked(program, most, what, threads=1):
        lengths.append((most, threads))
        return Chunked(program, most, what, threads)

    monkeypatch.setattr(batch, "Chunked", chunked)
    assert verify(statement, instances=40).verdict is Verdict.HOLDS
    assert lengths[0] == (rows * lengths[0][1], lengths[0][1])
