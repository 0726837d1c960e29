"""Statements that say something no engine can check are refused, with what to change."""

import jax.numpy as jnp
import pytest

from tests.engine.statements import theorem
from theorysim.claims import at_most, equal, with_probability
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError


def test_a_printed_probability_is_one_number():
    several = with_probability(
        "a", lambda r: r.sim["a"], lambda r: 3.0, at_least=lambda r: jnp.ones(2)
    )
    with pytest.raises(UsageError, match="one number"):
        verify(theorem(several, keys=64))


def test_a_comparison_is_no_margin():
    """True and false are both at least zero."""
    claim = equal("a", lambda r: r.sim["a"], lambda r: r.theory["a"])
    with pytest.raises(UsageError, match="true or false"):
        verify(theorem(claim, hypotheses={"a > 5": lambda x: x.a > 5}))
    asked = equal("a", claim.lhs, claim.rhs, where=lambda r: r.x.a > 5)
    with pytest.raises(UsageError, match="true or false"):
        verify(theorem(asked))


@pytest.mark.parametrize("side", [lambda r: None, lambda r: "text", lambda r: jnp.ones((3, 7))])
def test_sides_that_do_not_go_together_are_named(side):
    with pytest.raises(UsageError, match="claim 'odd': its sides are"):
        verify(theorem(equal("odd", lambda r: jnp.ones((2, 4)), side)))


def test_claims_are_named_one_or_several():
    statement = theorem(
        at_most("a", lambda r: r.sim["a"], lambda r: 3.0),
        at_most("b", lambda r: r.x.b, lambda r: 3.0),
    )
    assert [c.name for c in verify(statement, claims="b").readings[0].claims] == ["b"]
    with pytest.raises(UsageError, match="no claim is named"):
        verify(statement, claims=[])
