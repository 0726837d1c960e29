"""Witnesses and missed probabilities are judged anew with the sides that many bits give."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from drawn import every_second

from tests.engine import statements
from tests.engine.statements import about, absorbed, no_edge
from theorysim.claims import (
    Choice,
    Claim,
    Real,
    Size,
    Space,
    Theorem,
    Verdict,
    at_most,
    exists,
    strict,
    with_probability,
)
from theorysim.claims.evidence import Measurement
from theorysim.engine.confirm import other_roundings
from theorysim.engine.confirm.many_bits import DROPPED
from theorysim.engine.confirm.measured_again import WITNESS, measured_with_bits
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.verify.verify import verify
from theorysim.jaxprs.work import work

judged = partial(statements.judged, instances=64)

PLACES = np.array([0.0, 1.0, 20.0, 40.0])
KEY = np.zeros((1, 2), np.uint32)


@pytest.fixture
def alone(monkeypatch):
    """No other look may be taken."""

    def refuse(*_):
        raise AssertionError("another look was taken")

    monkeypatch.setattr(other_roundings, "with_other_roundings", refuse)


def measured(claim: Claim, x: float, lhs, rhs, **more) -> Measurement | None:
    """What many bits make of a measurement of one instance."""
    theorem = about(Real(0, 100), claim, lambda x, key: jnp.zeros(()), **more)
    sides = (np.atleast_1d(np.asarray(side, float))[None] for side in (lhs, rhs))
    lhs, rhs = np.broadcast_arrays(*sides)
    none = np.zeros(lhs.shape)
    measurement = Measurement(
        lhs=lhs,
        rhs=rhs,
        applies=none == 0,
        edge=no_edge(1),
        probability=np.zeros(1),
        rounding=np.zeros(1),
        integrator=np.zeros(1),
        limit=none,
        sampling=none,
        skewness=none,
        bias=none,
        extremes=np.zeros((1, 1)),
        by_key=np.zeros(1, bool),
    )
    with jax.enable_x64(True):
        instance = jax.tree.map(lambda leaf: np.asarray(leaf)[None], theorem.space.instance(x=x))
        case = Case(theorem, theorem.all_readings()[0], claim)
        return measured_with_bits(case, measurement, instance, KEY)


def test_sides_are_the_true_ones():
    """1 - sigmoid(x) loses all digits at x = 40; mpmath knows them."""
    claim = exists("claim", lambda r: 1 - jax.nn.sigmoid(r.x.x * PLACES), lambda r: 0.25)
    seen = 1 - 1 / (1 + np.exp(-PLACES))
    with mpmath.workdps(60):
        truth = [float(1 / (1 + mpmath.exp(mpmath.mpf(place)))) for place in PLACES]
    assert abs(seen[3] - truth[3]) > 0.9 * np.exp(-40)
    found = measured(claim, 1.0, seen, 0.25)
    assert found is not None
    np.testing.assert_array_equal(found.lhs[0], truth)
    np.testing.assert_array_equal(found.rhs[0], 0.25)
    dropped = DROPPED * (np.array(truth) + 0.25)
    unit = np.finfo(float).eps * np.array(truth)  # the truth, too, is rounded
    assert np.all((dropped <= found.rounding[0]) & (found.rounding[0] <= dropped + unit))


def test_wide_enclosures_tell_nothing_and_missing_ones_neither():
    pole = exists("pole", lambda r: 1 / (jnp.sin(r.x.x) ** 2 + jnp.cos(r.x.x) ** 2 - 1), _zero)
    found = measured(pole, 2.0, 1.0, 0.0)
    assert found is not None and np.all(np.isinf(found.rounding))
    assert measured(exists("gamma", lambda r: jax.lax.lgamma(r.x.x), _zero), 2.0, 1.0, 0.0) is None


def _zero(r):
    return 0.0


def test_wide_enclosures_tell_a_difference_and_no_tie():
    """The sine of 1 is no short decimal: known to some units, which the difference magnifies."""
    sine = float(np.sin(1.0))
    side, value = (lambda r: 1e6 * (sine * r.x.x) - 841470.0), 1e6 * sine - 841470.0

    def rounding(other):
        return measured(exists("claim", side, lambda r: other), 1.0, value, other).rounding[0, 0]

    assert 100 * DROPPED * value < rounding(0.0) < 1e-9
    assert np.isinf(rounding(value)) and np.isinf(rounding(value + rounding(0.0)))


def test_points_and_instances_that_do_not_count():
    def of(**more):
        claim = exists("claim", lambda r: r.x.x * PLACES, _zero, **more.pop("claim", {}))
        return measured(claim, 2.0, 2 * PLACES, 0.0, **more).applies[0]

    assert np.all(of())
    np.testing.assert_array_equal(of(claim={"where": lambda r: PLACES - 1}), PLACES >= 1)
    np.testing.assert_array_equal(of(claim={"where": strict(lambda r: PLACES - 1)}), PLACES > 1)
    assert not np.any(of(hypotheses={"x > 3": lambda x: x.x - 3}))


FALSE = {
    "digits that are lost": (
        Real(1, 2),
        lambda r: 1 + ((r.x.x * 1e8 + 1 / 3) - r.x.x * 1e8),
        lambda r: 1 + 1 / 3 + 1e-10,
    ),
    "absorption": (
        Real(38, 38.5),
        lambda r: 1 + 1e8 * jnp.exp(-r.x.x) / 2,
        lambda r: 1 + 1e8 * (1 - jax.nn.sigmoid(r.x.x)),
    ),
    "single precision": (
        Real(1, 2),
        lambda r: r.x.x.astype(jnp.float32).astype(float),
        lambda r: r.x.x + 1e-9,
    ),
}


@pytest.mark.parametrize("name", every_second(FALSE, first=1))
def test_what_rounding_alone_makes_is_no_witness(name):
    """A slack of 1e-8 that is none: its error is as large, and no tie."""
    field, lhs, rhs = FALSE[name]
    assert judged(about(field, exists("claim", lhs, rhs))).verdict is Verdict.INCONCLUSIVE


def test_another_instance_may_be_the_witness(alone):
    """Of two kinds of instances one seems to have the property, by rounding, and one has it."""

    def seems(r):
        return 1e8 * (jnp.exp(-r.x.x) / 2 - (1 - jax.nn.sigmoid(r.x.x)))

    margin = lambda r: jnp.where(r.x.x > 38.1, 1e-9, seems(r))  # noqa: E731
    claim = exists("claim", margin, _zero)
    found = judged(about(Choice(38.0, 38.25), claim))
    assert found.verdict is Verdict.HOLDS and found.confirmation == "with 636 bits"


SMALL = {
    "212 bits": (Real(1e-10, 1e-9, log=True), Real(1e-19, 1e-17, log=True)),
    "636 bits": (Real(1e-60, 1e-50, log=True), Real(1e-119, 1e-99, log=True)),
}


@pytest.mark.parametrize("name", every_second(SMALL))
@pytest.mark.parametrize(
    "claim",
    [
        exists("claim", lambda r: r.x.c, lambda r: 2 * r.x.a**2),
        with_probability(
            "claim", lambda r: r.x.c + 0 * r.sim, lambda r: r.x.a**2, at_least=lambda r: 0.9
        ),
    ],
)
def test_instances_that_meet_no_hypothesis_decide_nothing(name, claim):
    """1 + a^2 >= 1 + c where c is less than a^2, which double precision does not tell."""
    a, c = SMALL[name]
    statement = Theorem(
        space=Space(a=a, c=c),
        simulate=lambda x, key: jax.random.uniform(key),
        hypotheses={"c <= a^2": lambda x: (1 + x.a**2) - (1 + x.c)},
        claims=(claim,),
        mutants=(),
        keys=64,
        id="tests/hypotheses",
        title="a statement of known truth",
    )
    assert verify(statement, instances=64).verdict is Verdict.INCONCLUSIVE


def test_a_point_that_leaves_the_claim_by_rounding_is_asked_for():
    """At the second one the property fails, and its condition is met by less than rounding."""
    claim = exists(
        "claim",
        lambda r: jnp.stack([r.x.x, -r.x.x]),
        _zero,
        where=lambda r: jnp.stack([1.0, (1 - jax.nn.sigmoid(r.x.x)) - jnp.exp(-r.x.x) / 2]),
    )
    assert judged(about(Real(40, 50), claim)).verdict is Verdict.INCONCLUSIVE


ABSORBED = strict(lambda r: 1 - ((r.x.b + r.x.k) - r.x.b))


@pytest.mark.parametrize(
    "claim",
    [
        exists("claim", lambda r: r.x.k, lambda r: 0.5, where=ABSORBED),
        at_most("claim", lambda r: r.x.k, lambda r: 0.5, where=ABSORBED),
    ],
)
def test_a_strict_condition_of_exactly_zero_is_not_met(claim):
    statement = Theorem(
        space=Space(k=Choice(1.0), b=Choice(2.0**60)),
        simulate=lambda x, key: x.k,
        claims=(claim,),
        mutants=(),
        id="tests/strict",
        title="a statement of known truth",
    )
    assert verify(statement, instances=4).verdict is Verdict.INCONCLUSIVE


def test_empty_sides_and_matrices_are_no_obstacle():
    """Of claims beside the one that is looked at, and of n - 1 numbers where n is 1."""
    none = at_most("none", lambda r: jnp.diff(r.sim), lambda r: 0.0)
    values = lambda r: jnp.linalg.eigvalsh(r.x.x * jnp.ones((r.x.n - 1, r.x.n - 1)))  # noqa: E731

    gamma = lambda r: jax.lax.lgamma(r.x.x + 3)  # noqa: E731
    statement = Theorem(
        space=Space(n=Size(1, low=1, high=8), x=Real(1, 2)),
        simulate=lambda x, key: jnp.full(x.n, x.x),
        claims=(
            exists("a gamma", gamma, lambda r: 0.5),
            at_most("every gamma", gamma, lambda r: 0.5),
            exists("spectrum", lambda r: jnp.sum(values(r)) + r.x.x, lambda r: 0.5),
            none,
        ),
        mutants=(),
        id="tests/empty",
        title="a statement of known truth",
    )
    found = [claim.verdict for claim in verify(statement, instances=64).readings[0].claims[:3]]
    assert found == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.HOLDS]


def test_many_updates_are_much_work():
    """Of n updates each marks its place among all: n^2 numbers are held."""
    program = jax.make_jaxpr(lambda x, at: x.at[at].add(1.0))(jnp.zeros(10), jnp.zeros(5000, int))
    assert work(program) > WITNESS.most_work


def test_a_witness_is_confirmed_without_another_look(alone):
    claim = exists("claim", lambda r: jnp.exp(-r.x.x) * 2, lambda r: 1 - jax.nn.sigmoid(r.x.x))
    found = judged(about(Real(38, 60), claim))
    assert found.verdict is Verdict.HOLDS and found.confirmation == "with 636 bits"


def test_a_missed_probability_is_confirmed_without_another_look(alone):
    def found(room):
        draw = lambda x, key: 40 + x.x * jax.random.normal(key)  # noqa: E731
        return judged(about(Real(0.5, 1), absorbed(room), draw, keys=64), instances=4)

    missed, by_rounding = found(0.01), found(0.0)
    assert missed.verdict is Verdict.VIOLATED and missed.confirmation == "with 636 bits"
    assert by_rounding.verdict is Verdict.INCONCLUSIVE and "many bits" in by_rounding.note


def test_what_enclosures_do_not_relate_is_still_a_violation_of_points():
    """Of a claim at points the relation decides, not the rounding."""
    claim = at_most("claim", lambda r: 1 - jax.nn.sigmoid(r.x.x), lambda r: jnp.exp(-r.x.x) / 2)
    assert "with 212 bits" in judged(about(Real(1, 2), claim)).confirmation
