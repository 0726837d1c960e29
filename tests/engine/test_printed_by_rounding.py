"""Printed probabilities that rounding alone makes: statements of known truth."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest
from drawn import one_in, thorough

from tests.engine import statements
from tests.engine.rounding import (
    beside_zero,
    of_unit_vector,
    uniform,
    without_enclosure,
)
from tests.engine.statements import about
from theorysim.claims import (
    Real,
    Verdict,
    with_probability,
)

judged = partial(statements.judged, instances=64)


@pytest.mark.parametrize(
    ("offset", "sign", "verdict"), [(0.9, -1, Verdict.HOLDS), (0.1, 1, Verdict.VIOLATED)]
)
def test_a_printed_probability_is_the_one_that_many_bits_give(offset, sign, verdict):
    """(1 - sigmoid(x)) e^x is 1, and 0 in double precision: 0.9 is 0.1, and 0.1 is 0.9."""

    def printed(r):
        return offset + sign * 0.8 * (1 - jax.nn.sigmoid(r.x.x)) * jnp.exp(r.x.x)

    half = with_probability("claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=printed)
    found = judged(about(Real(38, 40), half, uniform, keys=64))
    assert found.verdict is verdict
    assert found.rhs == pytest.approx(1 - offset, abs=1e-12)
    assert "the printed probability has 1908 bits" in found.note or verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("offset", "sign", "verdict"), [(0.9, -1, Verdict.HOLDS), thorough(0.1, 1, Verdict.VIOLATED)]
)
def test_so_is_one_of_constants(offset, sign, verdict):
    def printed(r):
        return offset + sign * 0.8 * (1 - jax.nn.sigmoid(38.0)) * jnp.exp(38.0)

    half = with_probability("claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=printed)
    assert judged(about(Real(1, 2), half, uniform, keys=64)).verdict is verdict


ONES = {
    "a root": lambda x: jnp.sqrt(x) ** 2 / x + without_enclosure(x),
    "a complex number": lambda x: jnp.abs(jnp.exp(1j * x)),
    "shares": lambda x: jnp.sum(jax.nn.softmax(x * jnp.arange(7.0) + without_enclosure(x))),
}


@pytest.mark.parametrize("name", one_in(3, ONES))
def test_what_is_certain_meets_a_printed_one(name):
    """1 + 2^-52 is printed by rounding; 1.001 is missed."""
    for factor, verdict in ((1.0, Verdict.INCONCLUSIVE), (1.001, Verdict.VIOLATED)):
        sure = with_probability(
            "claim",
            lambda r: r.sim,
            lambda r: 2 + 0 * r.sim,
            at_least=lambda r, factor=factor: factor * ONES[name](r.x.x),
        )
        assert judged(about(Real(1, 2), sure, uniform, keys=64)).verdict is verdict


@pytest.mark.parametrize(("sign", "verdict"), [(-1, Verdict.VACUOUS), (1, Verdict.VIOLATED)])
def test_what_is_no_probability_is_told_however_large(sign, verdict):
    printed = with_probability(
        "claim",
        lambda r: r.sim,
        lambda r: 0.5 + 0 * r.sim,
        at_least=lambda r: sign * jnp.exp(450 * r.x.x),
    )
    assert judged(about(Real(1, 1.5), printed, uniform, keys=64)).verdict is verdict


def test_a_printed_probability_that_is_exact_stays_as_it_is():
    plain = with_probability(
        "claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=lambda r: r.x.x / 5
    )
    found = judged(about(Real(0.5, 1), plain, uniform, keys=256))
    assert found.verdict is Verdict.HOLDS and "bits" not in found.note


def test_keys_of_another_generator():
    claim = with_probability(
        "claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=lambda r: 0.9
    )
    with jax.default_prng_impl("rbg"):
        found = judged(about(Real(1, 2), claim, uniform, keys=64))
    assert found.verdict is Verdict.VIOLATED


def test_printed_probabilities_that_enclosures_do_not_tell():
    def half(printed):
        return with_probability(
            "claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=printed
        )

    undefined = half(lambda r: 0.9 - jnp.sqrt(jnp.abs(beside_zero(r.x))))
    assert judged(of_unit_vector(undefined, keys=64)).verdict is Verdict.VIOLATED
    # By what Python computed, it may be anything: the event is certain, and meets whatever it is.
    wide = with_probability(
        "claim",
        lambda r: r.sim,
        lambda r: 2 + 0 * r.sim,
        at_least=lambda r: 0.1 + 0.8 * jnp.floor(jnp.asarray((1 / 49) * 49) + 0 * r.x.x),
    )
    found = judged(about(Real(1, 2), wide, uniform, keys=64))
    assert found.verdict is Verdict.INCONCLUSIVE and "gave no number" in found.note
