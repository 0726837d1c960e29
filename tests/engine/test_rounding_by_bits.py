"""Witnesses and missed probabilities where more bits tell how both sides were rounded."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from tests.engine.statements import about, judged
from theorysim.claims import Claim, Real, Verdict, at_most, exists, with_probability
from theorysim.claims.evidence import Measurement
from theorysim.engine.confirm import other_roundings
from theorysim.engine.confirm.many_bits import DROPPED, with_rounding_by_bits
from theorysim.engine.confirm.suspect import Case

PLACES = np.array([0.0, 1.0, 20.0, 40.0])
KEY = np.zeros((1, 2), np.uint32)


@pytest.fixture
def alone(monkeypatch):
    """No other look may be taken."""

    def refuse(*_):
        raise AssertionError("another look was taken")

    monkeypatch.setattr(other_roundings, "with_other_roundings", refuse)


def rounding(claim: Claim, x: float, lhs, rhs, **more) -> np.ndarray:
    """What more bits say of a measurement of one instance."""
    theorem = about(Real(0, 100), claim, lambda x, key: jnp.zeros(()), **more)
    sides = (np.atleast_1d(np.asarray(side, float))[None] for side in (lhs, rhs))
    lhs, rhs = np.broadcast_arrays(*sides)
    none = np.zeros(lhs.shape)
    measurement = Measurement(
        lhs=lhs,
        rhs=rhs,
        applies=none == 0,
        probability=np.zeros(1),
        rounding=np.zeros(1),
        integrator=np.zeros(1),
        limit=none,
        sampling=none,
        skewness=none,
        extremes=np.zeros((1, 1)),
    )
    with jax.enable_x64(True):
        instance = jax.tree.map(lambda leaf: np.asarray(leaf)[None], theorem.space.instance(x=x))
        case = Case(theorem, theorem.all_readings()[0], claim)
        return with_rounding_by_bits(case, measurement, instance, KEY).rounding[0]


def test_it_is_the_distance_from_the_truth():
    """1 - sigmoid(x) loses all digits at x = 40: by a number that mpmath knows."""
    claim = exists("claim", lambda r: 1 - jax.nn.sigmoid(r.x.x * PLACES), lambda r: 0.25)
    seen = 1 - 1 / (1 + np.exp(-PLACES))
    with mpmath.workdps(60):
        truth = [1 / (1 + mpmath.exp(mpmath.mpf(place))) for place in PLACES]
        errors = np.array([float(abs(mpmath.mpf(s) - t)) for s, t in zip(seen, truth)])
    assert errors[3] > 0.9 * np.exp(-40)
    allowed = DROPPED * (np.array(list(map(float, truth))) + 0.25)
    found = rounding(claim, 1.0, seen, 0.25)
    np.testing.assert_array_less(errors, found)
    np.testing.assert_allclose(found, errors + allowed, rtol=1e-12)


UNKNOWN = {
    "no enclosure": lambda r: jax.lax.lgamma(r.x.x),
    "a ball around a pole": lambda r: 1 / (jnp.sin(r.x.x) ** 2 + jnp.cos(r.x.x) ** 2 - 1),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_where_no_enclosure_tells_it_is_infinite(name):
    assert np.isinf(rounding(exists("claim", UNKNOWN[name], lambda r: 0.0), 2.0, 1.0, 0.0))


def test_points_and_instances_that_may_not_count_have_no_rounding():
    def of(**more):
        claim = exists("claim", lambda r: r.x.x * PLACES, lambda r: 0.0, **more.pop("claim", {}))
        return rounding(claim, 2.0, 2 * PLACES, 0.0, **more)

    assert np.all(np.isfinite(of()))
    some = of(claim={"where": lambda r: PLACES - 1})
    np.testing.assert_array_equal(np.isinf(some), PLACES < 1)
    assert np.all(np.isinf(of(hypotheses={"x > 3": lambda x: x.x - 3})))


def test_a_witness_is_confirmed_without_another_look(alone):
    claim = exists("claim", lambda r: jnp.exp(-r.x.x) * 2, lambda r: 1 - jax.nn.sigmoid(r.x.x))
    found = judged(about(Real(38, 60), claim))
    assert found.verdict is Verdict.HOLDS and found.confirmation == "with 636 bits"


def test_a_missed_probability_is_confirmed_without_another_look(alone):
    def found(room):
        claim = with_probability(
            "claim",
            lambda r: room + jnp.exp(-r.sim) / 2,
            lambda r: 1 - jax.nn.sigmoid(r.sim),
            at_least=lambda r: 0.9,
        )
        draw = lambda x, key: 40 + x.x * jax.random.normal(key)  # noqa: E731
        return judged(about(Real(0.5, 1), claim, draw, keys=64, instances=4))

    assert found(0.01).verdict is Verdict.VIOLATED
    assert found(0.01).confirmation == "with 636 bits"
    with pytest.raises(AssertionError, match="another look"):
        found(0.0)


def test_what_enclosures_do_not_relate_is_still_a_violation_of_points():
    """Of a claim at points the relation decides, not the rounding."""
    claim = at_most("claim", lambda r: 1 - jax.nn.sigmoid(r.x.x), lambda r: jnp.exp(-r.x.x) / 2)
    assert "with 212 bits" in judged(about(Real(1, 2), claim)).confirmation
