"""Programs of both precisions in one process: constants of NumPy's keep all their digits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.statements import about, judged
from theorysim.claims import Real, Verdict, equal
from theorysim.engine.falsify.falsify import falsify
from theorysim.precision import in_precision

TENTHS = np.full(5, 0.1)


def sum_of_tenths():
    claim = equal("sum", lambda r: r.sim, lambda r: r.x.x / 2)
    return about(Real(1, 2), claim, lambda x, key: jnp.sum(x.x * jnp.asarray(TENTHS)))


def run_in_single_precision(statement):
    """As somebody does who looks at a simulation; the trace lives as long as the result."""
    run = jax.jit(statement.simulate)
    with jax.enable_x64(False):
        x = statement.space.sample(jax.random.key(0), {})
        assert run(x, jax.random.key(0)).dtype == jnp.float32
    return run


def test_jax_mixes_precisions_still():
    """The reason of it all: once this fails, the remedy may go."""
    kept = run_in_single_precision(sum_of_tenths())
    with jax.enable_x64(True):
        assert jax.jit(lambda: jnp.asarray(TENTHS))().dtype == jnp.float32
    del kept


def test_what_ran_in_single_precision_is_verified_in_double():
    statement = sum_of_tenths()
    kept = run_in_single_precision(statement)
    found = judged(statement)
    assert found.verdict is Verdict.HOLDS and found.error < 1e-14
    assert not falsify(statement, budget=300).attacks[0].refuted
    del kept


def test_what_was_verified_runs_in_single_precision():
    statement = sum_of_tenths()
    judged(statement)
    with in_precision(double=False):
        x = statement.space.sample(jax.random.key(0), {})
        assert jax.jit(statement.simulate)(x, jax.random.key(0)).dtype == jnp.float32


@pytest.mark.parametrize("double", [False, True])
def test_programs_of_one_precision_are_kept(double):
    traced = []

    @jax.jit
    def program(x):
        traced.append(x)
        return x + 1

    for _ in range(3):
        with in_precision(double=double):
            program(1.0)
    assert len(traced) == 1
    with in_precision(double=not double):
        program(1.0)
    with in_precision(double=double):
        program(1.0)
    assert len(traced) == 3


def test_precisions_within_one_another_keep_their_digits(recwarn):
    """The outer one goes on after the inner one, with constants of its own."""
    tenths = np.full(5, 0.1)

    def total():
        return jax.jit(lambda: jnp.sum(jnp.asarray(tenths)))()

    with in_precision(double=True):
        first = total()
        with in_precision(double=False):
            assert total().dtype == jnp.float32
        again = total()
    assert first.dtype == again.dtype == jnp.float64 and first == again
    assert not recwarn.list


def test_a_thread_that_meddles_is_told_of_and_leaves_nothing_behind():
    """It traces in single precision, with the same constant, while another verifies."""
    tenths, meddled = np.full(5, 0.1), []

    def meddle():
        with jax.enable_x64(False):
            program = jax.jit(lambda x: jnp.sum(x * jnp.asarray(tenths)))
            return program(1.0), program

    def simulate(x, key):
        if not meddled:
            with ThreadPoolExecutor(1) as pool:
                meddled.append(pool.submit(meddle).result())
        return jnp.sum(x.x * jnp.asarray(tenths))

    statement = about(Real(1, 2), equal("sum", lambda r: r.sim, lambda r: r.x.x / 2), simulate)
    with pytest.warns(RuntimeWarning, match="another thread traced"):
        assert judged(statement).verdict is not Verdict.HOLDS
    found = judged(replace(statement, id="tests/again"))
    assert found.verdict is Verdict.HOLDS and found.error < 1e-14
