"""Where other roundings are costly to compile, size confirms no chaos, no tie, no lucky witness."""

import jax
import jax.numpy as jnp
import pytest
from drawn import one_in

from theorysim.claims import (
    Choice,
    Integer,
    Real,
    Space,
    Theorem,
    Verdict,
    equal,
    exists,
    with_probability,
)
from theorysim.engine.verify.verify import verify


def judged(simulate, claim, space, **more):
    statement = Theorem(
        space=space,
        simulate=simulate,
        claims=(claim,),
        mutants=(),
        id="tests/costly",
        title="a statement of known truth",
        **more,
    )
    return verify(statement).readings[0].claims[0]


def two_forms(start, steps=200):
    """4 s (1 - s), written in two ways, over and over: one number but for rounding."""
    first = jax.lax.fori_loop(0, steps, lambda i, s: 4 * s * (1 - s), start)
    return first, jax.lax.fori_loop(0, steps, lambda i, s: 4 * s - 4 * s * s, start)


def drawn(x, key):
    return two_forms(jax.random.uniform(key, (3,)))


def apart_by_key(r):
    return jnp.max(jnp.abs(r.sim[0] - r.sim[1]), axis=-1)


def apart(r):
    return jnp.max(jnp.abs(r.sim[0] - r.sim[1]))


def test_chaos_from_exact_fields_refutes_nothing(costly):
    claim = equal("forms", lambda r: r.sim[0], lambda r: r.sim[1])
    space = Space(start=Choice(3, 5, 7))
    found = judged(lambda x, key: two_forms(x.start / 11.0), claim, space)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_chaos_from_draws_refutes_nothing(costly):
    claim = equal("forms", lambda r: r.sim[0], lambda r: r.sim[1])
    found = judged(drawn, claim, Space(c=Real(1, 2)))
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
def test_chaos_misses_no_probability(costly, without_bits):
    claim = with_probability("forms", apart_by_key, lambda r: r.x.c * 1e-3, at_least=lambda r: 0.5)
    found = judged(drawn, claim, Space(c=Real(1, 2)), keys=64, instances=4)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_chaos_is_no_witness(costly):
    """Though of many instances some seem to stand by the luck of a few directions."""
    claim = exists("forms", apart, lambda r: r.x.c * 0.3)
    found = judged(lambda x, key: two_forms(x.start), claim, Space(c=Real(1, 2), start=Real(0, 1)))
    assert found.verdict is Verdict.INCONCLUSIVE


def test_what_stands_at_any_rounding_is_confirmed(costly, without_bits):
    """A probability that is missed, and a witness, whose sides the rounding does not touch."""
    missed = with_probability(
        "draws", lambda r: r.sim, lambda r: r.x.c / 10, at_least=lambda r: 0.9
    )
    space = Space(c=Real(1, 2))
    found = judged(lambda x, key: jax.random.uniform(key), missed, space, keys=64)
    assert found.verdict is Verdict.VIOLATED
    assert found.confirmation == ("by its size" if costly else "in Monte Carlo arithmetic")
    witness = exists("small", lambda r: r.x.c, lambda r: jnp.asarray(1.5))
    found = judged(lambda x, key: x.c, witness, space)
    assert found.verdict is Verdict.HOLDS and "the one told is confirmed" in found.note


def test_a_tie_that_rounding_moves_misses_no_probability(costly):
    """Sixty coins of 0.1: thirty of them are not more than thirty times 0.1."""

    def simulate(x, key):
        coins = jnp.where(jax.random.bernoulli(key, 0.5, (60,)), x.step, 0.0)
        total = jax.lax.fori_loop(0, 60, lambda i, s: s + coins[i], jnp.zeros(()))
        return jnp.where(total <= 30 * x.step, 0.0, 1.0)

    claim = with_probability(
        "half", lambda r: r.sim, lambda r: jnp.asarray(0.5), at_least=lambda r: 0.545
    )
    found = judged(simulate, claim, Space(step=Choice(0.1, 0.3)), keys=1024, instances=4)
    assert found.verdict is not Verdict.VIOLATED


TIES = {
    "sign": lambda y, c: jnp.sign(y - c),
    "equal": lambda y, c: jnp.where(y == c, 0.0, 1.0),
    "less": lambda y, c: jnp.where(y - c < 0, 1.0, 0.0),
    "argmax": lambda y, c: jnp.argmax(jnp.stack([c, y])) * 1.0,
    "root": lambda y, c: jnp.abs(y - c) ** 0.1,
}


@pytest.mark.parametrize("name", one_in(4, TIES))
@pytest.mark.parametrize("field", [Real(1, 2), Integer(1, 1000)], ids=["real", "integer"])
def test_ties_of_numbers_that_move_together_refute_nothing(name, field, costly):
    """c / 49 * 49 is c: none of these is true but by rounding."""
    jump = TIES[name]
    claim = equal("tie", lambda r: r.sim, lambda r: jnp.zeros(()))
    found = judged(lambda x, key: jump(x.c / 49.0 * 49.0, x.c * 1.0), claim, Space(c=field))
    assert found.verdict is not Verdict.VIOLATED


def test_chaos_from_integers_refutes_nothing(costly):
    claim = equal("forms", lambda r: r.sim[0], lambda r: r.sim[1])
    space = Space(k=Integer(1, 1000))
    assert judged(lambda x, key: two_forms(x.k / 1001.0), claim, space).verdict is (
        Verdict.INCONCLUSIVE
    )
