"""Which programs wait for their longest run: what JAX itself makes of them side by side tells."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from theorysim.jaxprs.structure import every_operation
from theorysim.jaxprs.waiting import LOOPS_AT_ONCE, side_by_side, waits


def descends(steps):
    """Newton's method, so many steps."""
    return lambda x: lax.fori_loop(0, steps(x), lambda _, y: (y + x / y) / 2, x)


def until_small(x):
    return lax.while_loop(lambda y: y > 1, lambda y: y / 2, x)


def counts_beside(x):
    """Ten steps, whatever else is carried."""
    return lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * x), (0, x))[1]


def reaches_the_counter_late(x):
    """The counter takes from a neighbour what that took from the input, two steps before."""
    step = lambda s: (s[0] + 1 + s[1], s[2], x)  # noqa: E731
    return lax.while_loop(lambda s: s[0] < 10, step, (0.0, 0.0, 0.0))[0]


def scanned(loop):
    return lambda x: lax.scan(lambda y, _: (loop(y), y), x, length=3)


def reads_a_row(x):
    rows = jnp.arange(3)
    return lax.scan(lambda y, row: (y + descends(lambda _: row)(x), None), x, rows)[0]


def chosen(loop):
    return lambda x: lax.cond(jnp.sum(rows()) > 2, loop, lambda y: y, x)


def rows():
    return jnp.arange(3.0)


def limit_of_a_branch(x):
    steps = lax.cond(x > 2, lambda: 3, lambda: 5)
    return lax.fori_loop(0, steps, lambda _, y: y * 2, 1.0)


PROGRAMS = {
    "no loop": jnp.sin,
    "fixed length": descends(lambda x: 5),
    "length of the input": descends(lambda x: x.astype(int)),
    "length of a constant": descends(lambda x: jnp.argmax(rows())),
    "until small": until_small,
    "counts beside": counts_beside,
    "late": reaches_the_counter_late,
    "fixed, in a scan": scanned(counts_beside),
    "until small, in a scan": scanned(until_small),
    "length of a row": reads_a_row,
    "fixed, in a choice": chosen(counts_beside),
    "until small, in a choice": chosen(until_small),
    "limit of a branch": limit_of_a_branch,
    "called": jax.jit(jax.checkpoint(until_small)),
    "called, fixed": jax.jit(jax.checkpoint(counts_beside)),
    "lanes": lambda x: jax.vmap(until_small)(x * jnp.arange(1.0, 3.0)),
    "lanes of constants": lambda x: x + jax.vmap(until_small)(jnp.arange(1.0, 3.0)),
}


def batched_tests(program):
    """Whether some loop of a batch of seven has a condition for each of them."""
    together = jax.make_jaxpr(jax.vmap(program))(jnp.ones(7)).jaxpr
    loops = [e for e in every_operation(together) if e.primitive.name == "while"]
    tests = [loop.params["cond_jaxpr"].out_avals[0] for loop in loops]
    return any(test.shape[:1] == (7,) for test in tests)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_waits_where_its_batch_has_a_condition_for_each_run(program):
    assert waits(jax.make_jaxpr(program)(1.0).jaxpr) == batched_tests(program)


WITHIN = {
    "rejection": lambda x: jax.random.gamma(jax.random.key(0), x),
    "continued fraction": lambda x: jax.scipy.special.betainc(x, 2.0, 0.5),
    "series": lambda x: jax.scipy.special.gammainc(x, 2.0),
    "its complement": lambda x: jax.scipy.special.gammaincc(x, 2.0),
    "its derivative": jax.grad(lambda x: jax.scipy.special.gammainc(x, 2.0)),
}


@pytest.mark.parametrize("program", WITHIN.values(), ids=WITHIN)
def test_functions_that_loop_within_wait(program):
    """Their loops are seen in what XLA is given only."""
    assert not batched_tests(program)
    assert "stablehlo.while" in jax.jit(program).lower(1.0).as_text()
    assert waits(jax.make_jaxpr(program)(1.0).jaxpr)


def test_both_kinds_occur():
    assert {batched_tests(program) for program in PROGRAMS.values()} == {True, False}


def test_only_runs_of_different_length_are_few_on_a_cpu(monkeypatch):
    assert side_by_side(False, 400) == 400
    assert side_by_side(True, 5) == 5
    assert side_by_side(True, 400) == LOOPS_AT_ONCE
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert side_by_side(True, 400) == 400
