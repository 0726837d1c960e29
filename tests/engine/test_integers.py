"""Integers that leave the range of their type refute nothing, and no bound holds by them."""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest
from drawn import one_in, thorough
from jaxtyping import Array

from tests.engine.statements import about, judged, sides
from theorysim.claims import Integer, Real, Verdict, at_least, at_most
from theorysim.engine.confirm import other_roundings
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.falsify.falsify import falsify


@pytest.mark.parametrize("bits", [True, False])
def test_integers_that_overflow_refute_nothing(bits, request):
    if not bits:
        request.getfixturevalue("without_bits")
    true = about(Integer(1, 100), sides(at_least, lambda n: n**10, lambda n: 1.0))
    found = judged(true)
    assert found.verdict is Verdict.INCONCLUSIVE
    if bits:
        assert "integers do not overflow" in found.note
    false = about(Integer(1, 50), sides(at_most, lambda n: n**10, lambda n: 1e15))
    assert judged(false).verdict is Verdict.VIOLATED


def test_the_falsifier_is_not_refuted_by_overflow():
    statement = about(Integer(1, 100), sides(at_least, lambda n: n**10, lambda n: 1.0))
    (found,) = falsify(statement, budget=500).attacks
    assert not found.refuted


@pytest.mark.parametrize(("bound", "high"), [(1e19, 100), thorough(1e18, 100)])
def test_a_bound_that_holds_by_overflow_only_is_not_said_to_hold(bound, high):
    """100^10 = 1e20 is beyond 64 bits, and comes out below both bounds."""
    found = judged(about(Integer(1, high), sides(at_most, lambda n: n**10, lambda n: bound)))
    assert found.verdict is not Verdict.HOLDS
    assert "integers leave the range" in found.note or found.verdict is Verdict.VIOLATED


class Whole(NamedTuple):
    """A whole number in the place of a field."""

    x: Array


WRAPPED = {
    "doubled": lambda x, key: jax.lax.fori_loop(0, 70, lambda i, s: s + s, x.x) * 1.0,
    "shifted": lambda x, key: jnp.left_shift(jnp.int64(1), 64 + 0 * x.x) * 1.0,
    "rounded and multiplied": lambda x, key: (256.0 * x.x).astype(int) ** 8 * 1.0,
    "made of a float": lambda x, key: jnp.floor(1e10 + x.x).astype(jnp.int32) * 1.0,
    "a factorial": lambda x, key: jnp.prod(jnp.arange(1, 22)) * 1.0 + 0 * x.x,
    "summed in 32 bits": lambda x, key: (
        jnp.sum(jnp.arange(100_000, dtype=jnp.int32), dtype=jnp.int32) * 1.0 + 0 * x.x
    ),
}


@pytest.mark.parametrize("field", [Integer(1, 50), thorough(Real(1, 50))])
@pytest.mark.parametrize("name", one_in(3, WRAPPED))
def test_no_bound_holds_by_overflow_however_integers_grow(name, field):
    """All are above 4e9, and come out below."""
    bounded = at_most("bound", lambda r: r.sim, lambda r: 4e9 + 0 * r.sim)
    simulate = WRAPPED[name]
    found = judged(about(field, bounded, lambda x, key: simulate(Whole(x.x.astype(int)), key)))
    assert found.verdict is Verdict.INCONCLUSIVE and "integers leave the range" in found.note


def test_integers_that_grow_in_range_hold():
    """Counts and powers of two, in loops and of sums."""

    def simulate(x, key):
        doubled = jax.lax.fori_loop(0, 30, lambda i, s: s + s, x.x)
        return doubled * 1.0 - jnp.sum(jnp.arange(100, dtype=jnp.int32))

    bounded = at_most("bound", lambda r: r.sim, lambda r: 50 * 2.0**30)
    assert judged(about(Integer(1, 49), bounded, simulate)).verdict is Verdict.HOLDS


def test_integers_that_stay_in_range_are_no_obstacle():
    true = about(Integer(1, 50), sides(at_most, lambda n: n**10, lambda n: 1.0e17))
    assert judged(true).verdict is Verdict.HOLDS


@jax.jit
def myriads(k):
    return k * 10**4


def fibonacci(k):
    """k times the hundredth Fibonacci number, which is 5.7e20."""
    before, last = k, k
    for _ in range(100):
        before, last = last, before + last
    return last


@pytest.mark.parametrize(
    "times",
    [
        lambda k: k * 10**12,
        thorough(lambda k: k * 10**4 * 10**4 * 10**4),
        lambda k: myriads(myriads(myriads(k))),
        thorough(lambda k: k << 40),
        thorough(fibonacci),
    ],
)
def test_no_bound_holds_by_constants_that_make_integers_large(times):
    """10^7 times 2^40 is beyond 2^63."""
    bounded = at_most("bound", lambda r: 1.0 * times(r.x.x), lambda r: 2.0**63)
    found = judged(about(Integer(10**7, 10**8), bounded))
    assert found.verdict is Verdict.INCONCLUSIVE and "integers leave the range" in found.note


def test_all_claims_of_a_reading_say_how_many_threads_there_are(monkeypatch, x64):
    """Linear algebra of a claim beside it: with a thread too many, both wait for ever."""

    def threads(*claims):
        statement = about(Integer(1, 60), claims[0], lambda x, key: x.x**10)
        (reading,) = dataclasses.replace(statement, claims=claims).all_readings()
        case = Case(statement, reading, claims[0])
        lanes = other_roundings._in_parts(case, (), 8, origins=False)
        return other_roundings.threads_of_sides(case, ()), lanes._threads

    monkeypatch.setattr(other_roundings, "threads_for", lambda calls: 1 if calls else 7)
    bound = at_most("n", lambda r: 1.0 * r.sim, lambda r: 1e19 + 0.0 * r.x.x)
    least = at_least("e", lambda r: jnp.linalg.eigvalsh(r.sim * jnp.eye(4))[0], lambda r: 0.0)
    assert threads(bound) == (7, 7) and threads(bound, least) == (1, 1)
