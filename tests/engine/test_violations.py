"""What comes out violated is violated: rounding, single precision and overflow refute nothing."""

import re
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import pytest
from drawn import every_second, one_in, thorough

from tests.engine import statements
from tests.engine.statements import about, absorbed, sides
from theorysim import claims
from theorysim.claims import (
    Choice,
    Real,
    Space,
    Theorem,
    Verdict,
    at_least,
    at_most,
    equal,
    exists,
    with_probability,
)
from theorysim.engine.confirm import other_roundings
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.verify.verify import verify

judged = partial(statements.judged, instances=64)

TINY = Real(1e-20, 1, log=True)
ABSORBING = {
    "logistic": (Real(0, 60), at_least, lambda x: 1 - jax.nn.sigmoid(x), lambda x: jnp.exp(-x) / 2),
    "tanh": (Real(0, 40), at_least, lambda x: 1 - jnp.tanh(x) ** 2, lambda x: jnp.exp(-2 * x)),
    "exp": (TINY, at_least, lambda t: 1 - jnp.exp(-t), lambda t: t / 2),
    "log": (TINY, at_least, lambda x: jnp.log(1 + x), lambda x: x / 2),
    "power": (TINY, at_least, lambda a: 1 - (1 - a) ** 10, lambda a: a),
    "softplus": (
        Real(0, 60),
        at_least,
        lambda x: jax.nn.softplus(x) - x,
        lambda x: jnp.exp(-x) / 2,
    ),
    "erf": (
        Real(0, 8),
        at_least,
        lambda x: 1 - jax.scipy.special.erf(x),
        lambda x: jax.scipy.special.erfc(x) / 2,
    ),
    "cosine": (
        Real(1e-9, 1e-3, log=True),
        equal,
        lambda x: (1 - jnp.cos(x)) / x**2,
        lambda x: jnp.sinc(x / 2 / jnp.pi) ** 2 / 2,
    ),
}


@pytest.mark.parametrize("name", one_in(4, ABSORBING))
def test_absorption_refutes_nothing(name):
    field, kind, lhs, rhs = ABSORBING[name]
    found = judged(about(field, sides(kind, lhs, rhs)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "vanish with 212 bits: rounding" in found.note


@pytest.mark.parametrize("name", one_in(4, ABSORBING, first=1))
def test_absorption_refutes_nothing_in_monte_carlo_arithmetic(name, without_bits):
    field, kind, lhs, rhs = ABSORBING[name]
    found = judged(about(field, sides(kind, lhs, rhs)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "vanish in Monte Carlo arithmetic: rounding" in found.note


PLANTED = [name for name in ABSORBING if name != "cosine"]


@pytest.mark.parametrize("name", every_second(PLANTED, first=1))
def test_planted_errors_beside_absorption_are_found(name):
    """Three times the right side is too much, also where the left one is absorbed."""
    field, kind, lhs, rhs = ABSORBING[name]
    times = 20 if name == "power" else 3
    found = judged(about(field, sides(kind, lhs, lambda x: times * rhs(x))))
    assert found.verdict is Verdict.VIOLATED
    assert found.confirmation == "with 212 bits"
    assert found.note.endswith("confirmed with 212 bits")
    assert found.worst_instance is not None and found.slack < 0


@pytest.mark.parametrize("factor", [1.5, 0.5])
def test_what_absorption_hides_does_not_hold(factor):
    """From x = 38 on 1 - logistic(x) is 0, which is below every bound, also half of its value."""
    half = sides(at_most, lambda x: 1 - jax.nn.sigmoid(x), lambda x: factor * jnp.exp(-x))
    found = judged(about(Real(38, 60), half))
    if factor > 1:
        assert found.verdict is Verdict.HOLDS
    else:
        assert found.verdict is Verdict.INCONCLUSIVE
        assert found.note.endswith("violated with 212 bits")


def test_a_violation_hidden_among_absorbed_ones_is_found():
    """Where x is small 1 - exp(-x) falls below .9999 x by rounding, at x = 1 by much."""
    false = sides(at_least, lambda x: 1 - jnp.exp(-x), lambda x: jnp.where(x < 0.1, x / 2, x))
    found = judged(about(TINY, false), instances=128)
    assert found.verdict is Verdict.VIOLATED
    assert found.worst_instance is not None and found.worst_instance["values"]["x"] > 0.1
    assert found.slack == pytest.approx(found.lhs - found.rhs)


def test_what_is_too_much_work_is_violated_by_its_size_only(without_bits, monkeypatch):
    monkeypatch.setattr(other_roundings, "FEW_OPERATIONS", 0)
    monkeypatch.setattr(other_roundings, "MOST_OPERATIONS", 0)

    def path(factor):
        def simulate(x, key):
            return jax.lax.scan(lambda s, t: (s + x.x, None), 0.0, jnp.arange(100.0))[0]

        return about(
            Real(1, 2), at_most("sum", lambda r: r.sim, lambda r: factor * 100 * r.x.x), simulate
        )

    found = judged(path(0.9))
    assert found.verdict is Verdict.VIOLATED and found.confirmation.startswith("by its size")
    assert judged(path(1 - 1e-9)).verdict is Verdict.INCONCLUSIVE


def test_a_violation_that_is_cheap_to_confirm_stands_for_worse_ones_that_are_not(monkeypatch):
    """The sum misses most where it has most terms, too many for many bits; it has few, too."""
    monkeypatch.setattr(other_roundings, "FEW_OPERATIONS", 0)
    monkeypatch.setattr(other_roundings, "MOST_OPERATIONS", 0)

    def simulate(x, key):
        return jax.lax.fori_loop(0, x.terms.astype(int), lambda i, total: total + x.x, 0.0)

    false = at_most("sum", lambda r: r.sim, lambda r: 0.9 * r.x.terms * r.x.x)
    space = Space(x=Real(1, 2), terms=Choice(*(1 << k for k in range(20))))
    found = judged(Theorem(space=space, simulate=simulate, claims=(false,)), instances=64)
    assert found.verdict is Verdict.VIOLATED and found.confirmation == "with 212 bits"


@pytest.mark.parametrize("name", one_in(4, ABSORBING, first=2))
def test_what_absorption_makes_is_never_too_large_for_rounding(name, without_bits, monkeypatch):
    monkeypatch.setattr(other_roundings, "FEW_OPERATIONS", 0)
    monkeypatch.setattr(other_roundings, "MOST_OPERATIONS", 0)
    field, kind, lhs, rhs = ABSORBING[name]
    assert judged(about(field, sides(kind, lhs, rhs))).verdict is Verdict.INCONCLUSIVE


def test_a_violation_between_rounding_and_size_is_confirmed_in_monte_carlo_arithmetic(without_bits):
    found = judged(
        about(Real(1, 2), sides(equal, lambda x: jnp.exp(x), lambda x: jnp.exp(x) + 1e-11))
    )
    assert found.verdict is Verdict.VIOLATED
    assert found.confirmation == "in Monte Carlo arithmetic"


def test_what_cannot_be_looked_at_again_is_not_called_violated(without_bits, monkeypatch):
    monkeypatch.setattr(other_roundings, "MOST_OPERATIONS", 0)
    found = judged(
        about(Real(1, 2), sides(equal, lambda x: jnp.exp(x), lambda x: jnp.exp(x) + 1e-11))
    )
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "are not confirmed" in found.note and "too large" in found.note


def single(x, key):
    """The sum of a thousand equal terms, in single precision."""
    terms = jnp.full(1000, x.x, jnp.float32)
    return jax.lax.scan(lambda s, t: (s + t, None), jnp.float32(0), terms)[0].astype(float)


@pytest.mark.parametrize("bits", every_second([True, False]))
def test_single_precision_is_named(bits, request):
    if not bits:
        request.getfixturevalue("without_bits")
    true = equal("true", lambda r: r.sim, lambda r: 1000 * r.x.x)
    wrong = equal("wrong", lambda r: r.sim, lambda r: 1010 * r.x.x)
    both = replace(about(Real(1, 2), true, single), claims=(true, wrong))
    first, second = verify(both, instances=64).readings[0].claims
    assert first.verdict is Verdict.INCONCLUSIVE and "float32" in first.note
    assert second.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("name", ["logistic", thorough("log")])
def test_the_falsifier_asks_for_the_same(name):
    field, kind, lhs, rhs = ABSORBING[name]
    (found,) = falsify(about(field, sides(kind, lhs, rhs)), budget=2000).attacks
    assert not found.refuted and "vanish" in found.note


@pytest.mark.thorough
@pytest.mark.parametrize(
    "margin", [lambda x: 1 - x.c - jnp.cos(x.a), lambda x: 1 + x.a**2 - (1 + x.c)]
)
def test_an_instance_that_meets_hypotheses_by_rounding_only_refutes_nothing(margin):
    """Where a^2 and c are absorbed by 1, hypotheses that ask for c <= a^2 do not ask anything."""
    statement = Theorem(
        space=Space(a=Real(1e-10, 1, log=True), c=Real(1e-20, 1, log=True)),
        simulate=lambda x, key: x.a**2,
        claims=(at_most("c", lambda r: r.x.c, lambda r: r.sim),),
        hypotheses={"c <= a^2": margin},
    )
    report = verify(statement)
    assert report.verdict is not Verdict.VIOLATED
    assert "hypotheses" in report.readings[0].claims[0].note
    assert not falsify(statement, budget=2000).attacks[0].refuted


def test_an_instance_that_meets_hypotheses_with_many_bits_refutes():
    statement = Theorem(
        space=Space(a=Real(1e-3, 1, log=True), c=Real(1e-6, 1, log=True)),
        simulate=lambda x, key: x.a**2,
        claims=(at_most("c", lambda r: r.x.c, lambda r: r.sim / 2),),
        hypotheses={"c <= a^2": lambda x: (1 + x.a**2) - (1 + x.c)},
    )
    assert verify(statement).verdict is Verdict.VIOLATED
    assert falsify(statement, budget=2000).attacks[0].refuted


def test_a_probability_is_not_refuted_by_absorption():
    """1 - sigmoid(y) >= e^-y / 2 is true of every y; from y = 37 on a double holds none of it."""
    statement = about(
        Real(0.5, 1),
        with_probability(
            "claim",
            lambda r: jnp.exp(-r.sim) / 2,
            lambda r: 1 - jax.nn.sigmoid(r.sim),
            at_least=lambda r: 0.9,
        ),
        simulate=lambda x, key: 40 + x.x * jax.random.normal(key),
        keys=64,
        instances=4,
    )
    assert verify(statement).verdict is Verdict.INCONCLUSIVE


def test_rounding_is_no_witness():
    """Nowhere is e^-x / 2 above 1 - sigmoid(x); it seems so where 1 absorbs all of e^-x."""
    false = exists("false", lambda r: jnp.exp(-r.x.x) / 2, lambda r: 1 - jax.nn.sigmoid(r.x.x))
    true = exists("true", lambda r: jnp.exp(-r.x.x) * 2, lambda r: 1 - jax.nn.sigmoid(r.x.x))
    both = replace(about(Real(0, 60), false), claims=(false, true))
    found = [claim.verdict for claim in verify(both, instances=64).readings[0].claims]
    assert found == [Verdict.INCONCLUSIVE, Verdict.HOLDS]


def test_the_instance_that_is_told_misses_its_probability():
    """2 % too few are many failures beside 0.998, and 3 % too few are none beside 0.5."""
    claim = with_probability(
        "claim",
        lambda r: r.sim,
        lambda r: jnp.where(r.x.x > 0.9, 0.98, 0.47) * jnp.ones(r.sim.shape),
        at_least=lambda r: r.x.x,
    )
    statement = about(Choice(0.5, 0.998), claim, lambda x, key: jax.random.uniform(key), keys=512)
    told = judged(statement)
    assert told.verdict is Verdict.VIOLATED
    assert told.rhs == 0.998 and -told.slack > 0
    alone = statements.judged(statement, instance=told.worst_instance)
    assert alone.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(("operations", "costly"), [(1, False), thorough(40, True)])
def test_one_instance_that_stands_decides_a_missed_probability(
    monkeypatch, without_bits, operations, costly
):
    """What misses by far is run with other roundings at one instance, a costly one not even there.

    What rounding alone misses is run at all of them.
    """
    tried, run = [], other_roundings.with_other_roundings

    def counted(case, measurement, instances, keys):
        tried.append(len(keys))
        return run(case, measurement, instances, keys)

    monkeypatch.setattr(other_roundings, "with_other_roundings", counted)

    def simulate(x, key):
        y = 40 + x.x * jax.random.normal(key)
        for _ in range(operations):
            y = y + 0.0 * jnp.sin(y)
        return y

    def missed(room):
        statement = about(Real(0.5, 1), absorbed(room), simulate, keys=64, instances=4)
        return verify(statement).verdict

    assert missed(0.01) is Verdict.VIOLATED and tried == ([] if costly else [1])
    tried.clear()
    assert missed(0.0) is Verdict.INCONCLUSIVE and tried == [1, 4]


def test_cases_by_number_are_no_rounding():
    """One combination of three cases in 125, at one value of the fourth in ten."""

    def found(r):
        return (r.x.a == 3) & (r.x.b == 5) & (r.x.c == 2) & (r.x.e > 0.9)

    cases = {name: claims.Choice(1, 2, 3, 4, 5) for name in "abc"}
    theorem = claims.Theorem(
        space=claims.Space(**cases, e=claims.Real(0, 1)),
        simulate=lambda x, key: jnp.zeros(()),
        claims=(claims.at_most("never", lambda r: jnp.where(found(r), 1.0, 0.0), lambda r: 0.5),),
        source=claims.Finding("false at a share of 8e-4"),
    )
    (claim,) = verify(theorem).readings[0].claims
    assert claim.verdict is Verdict.VIOLATED
    bad, total = (int(n) for n in re.findall(r"(\d+) of (\d+)", claim.note)[0])
    assert bad / total == pytest.approx(8e-4, rel=0.5)
    assert falsify(theorem, budget=20_000).attacks[0].refuted


@pytest.mark.thorough
def test_an_average_that_has_heavy_tails_by_itself_is_not_confirmed():
    def mean(r):
        return r.mean(r.sim)

    theorem = claims.Theorem(
        space=claims.Space(m=claims.Real(1, 2)),
        keys=64,
        simulate=lambda x, key: jnp.exp(2 * jax.random.normal(key)),
        claims=(claims.equal("mean", mean, lambda r: jnp.exp(2.0)),),
        source=claims.Finding("true"),
    )
    assert not falsify(theorem, budget=4_000).attacks[0].refuted
