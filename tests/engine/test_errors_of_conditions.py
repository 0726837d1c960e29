"""What a claim speaks of, where that is computed from limits, averages or integrations.

Each condition below is missed at every instance, by less than it errs, and seems to be met.
"""

import jax
import jax.numpy as jnp
import pytest
from drawn import every_second, thorough

from tests.engine.rounding import uniform, zero
from tests.engine.statements import about, judged
from theorysim.claims import (
    Real,
    Verdict,
    at_most,
    equal,
    exists,
    on_average,
    strict,
    with_probability,
)
from theorysim.numerics.flow import integrate


def limit(r):
    """A limit that is 1."""
    return r.limit(1 - 0.5 ** jnp.arange(40.0) * r.x.x)


def half(r):
    """An average that is 1/2."""
    return r.mean(r.sim)


def number(r):
    return r.x.x


def drawn(r):
    return r.sim


CONDITIONS = {
    "limit": strict(lambda r: 1 - limit(r)),
    "average": lambda r: half(r) - 0.5 - 1e-6,
}
CLAIMS = {
    "at most": lambda where: at_most("claim", lambda r: 1.0, zero, where=where),
    "exists": lambda where: exists("claim", number, zero, where=where),
    "average": lambda where: on_average("claim", drawn, lambda r: 0 * r.sim, where=where),
    "probability": lambda where: with_probability(
        "claim", drawn, lambda r: 0 * r.sim, at_least=lambda r: 0.9, where=where
    ),
}


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("at most", "limit"),
        ("at most", "average"),
        ("probability", "average"),
        *(thorough(*case) for case in [("exists", "average"), ("average", "limit")]),
        *(thorough(*case) for case in [("exists", "limit"), ("average", "average")]),
        thorough("probability", "limit"),
    ],
)
def test_a_condition_that_is_met_within_its_error_is_not_met(kind, condition):
    claim = CLAIMS[kind](CONDITIONS[condition])
    found = judged(about(Real(1, 2), claim, uniform, keys=64, instances=16))
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("shift", "expected"), [(0.4, Verdict.VIOLATED), (-0.4, Verdict.VACUOUS)])
def test_a_condition_beyond_its_error_is_met_or_missed(shift, expected):
    """The average is .5, and known to some hundredths."""
    claim = at_most("claim", lambda r: 1.0, zero, where=lambda r: half(r) - 0.5 + shift)
    statement = about(Real(1, 2), claim, uniform, keys=256, instances=8)
    assert judged(statement).verdict is expected


def grown(x, key):
    """By how much the square of an orbit's radius grows, which is by nothing."""

    def turned(state, time):
        return jnp.stack([state[1], -state[0]])

    start = jnp.stack([x.x, 0 * x.x])
    path = integrate(turned, start, jnp.array([0.0, 5.0]), tolerance_scale=x.tolerance_scale)
    return jnp.sum(path[-1] ** 2) - x.x**2


def erring(x, key):
    """Nothing, but for what an integration of this tolerance errs by."""
    return 1e-9 * x.tolerance_scale * x.x


def test_what_an_integration_errs_by_meets_no_condition():
    claim = at_most("claim", number, zero, where=strict(lambda r: r.sim))
    found = judged(about(Real(1, 2), claim, grown, integrates=True, instances=8))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "within the error of its condition" in found.note


def test_an_event_that_runs_of_other_instances_met_is_no_event_that_never_happens():
    """.005 less its chance of .01 is negative, and positive where no run of an instance met it."""
    seldom = lambda r: 0.005 - r.mean(jnp.where(r.sim < 0.01, 1.0, 0.0))  # noqa: E731
    claim = at_most("claim", lambda r: 1.0, zero, where=seldom)
    found = judged(about(Real(1, 2), claim, uniform, keys=64, instances=16))
    assert found.verdict is Verdict.INCONCLUSIVE


CLEAR = {
    "infinite": (1, (3,), lambda r: jnp.log(r.x.x * jnp.arange(3.0)) + 9),
    "of paths": (8, (8, 3), lambda r: (r.x.x + 0 * r.sim)[:, None] * jnp.arange(3.0)),
    "undefined at one time": (
        8,
        (8, 3),
        lambda r: 5 + r.sim[:, None] + jnp.array([0.0, 1.0, jnp.nan]),
    ),
    "an average of few": (16, (), lambda r: 100 + r.mean(r.sim)),
}


@pytest.mark.parametrize("name", every_second(CLEAR))
def test_a_condition_that_is_clear_puts_nothing_in_doubt(name):
    keys, shape, condition = CLEAR[name]
    ones = jnp.ones(shape)
    claim = at_most("claim", lambda r: r.x.x * ones, lambda r: 3 * ones, where=condition)
    statement = about(Real(1, 2), claim, erring, integrates=True, keys=keys, instances=8)
    assert judged(statement).verdict is Verdict.HOLDS


def test_what_is_said_wherever_a_condition_lies_is_left_open_all_the_same():
    """Of a point in doubt nothing is said, also where the claim is true of it."""
    claim = at_most("claim", zero, number, where=CONDITIONS["average"])
    found = judged(about(Real(1, 2), claim, uniform, keys=64, instances=8))
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
def test_a_condition_that_changes_within_the_space_stops_nothing_that_is_true_anyway():
    """It is met from 1.5 on, and in doubt about there."""
    where = lambda r: half(r) * r.x.x - 0.75  # noqa: E731
    for claim, expected in [
        (at_most("claim", zero, number, where=where), Verdict.HOLDS),
        (on_average("claim", lambda r: 0 * r.sim, drawn, where=where), Verdict.HOLDS),
        (at_most("claim", number, lambda r: 1.5, where=where), Verdict.VIOLATED),
        (at_most("claim", lambda r: 1.5, number, where=where), Verdict.INCONCLUSIVE),
    ]:
        found = judged(about(Real(1, 2), claim, uniform, keys=1024, instances=32))
        assert found.verdict is expected, claim


def test_what_is_badly_known_does_not_hold_anyway():
    """They differ by .3 up to 1.9, below the noise there; the condition is met everywhere."""

    def simulate(x, key):
        noise = jnp.where(x.x < 1.9, 10.0, 1e-6) * jax.random.normal(key)
        return x.x + jnp.where(x.x < 1.9, 0.3, 0.0) + noise, noise

    claim = equal(
        "claim",
        lambda r: r.mean(r.sim[0]),
        number,
        where=lambda r: number(r) - 1 + r.mean(r.sim[1]),
    )
    found = judged(about(Real(1, 2), claim, simulate, keys=1024, instances=32))
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("times", [4, thorough(64)])
def test_times_are_no_keys(times):
    """The condition is exactly 0 at time 0, and has as many times as there are perturbed keys."""

    def path(r):
        time = jnp.arange(float(times))
        return r.x.x * jnp.exp(-0.5 * time) * (1 + 1e-9 * r.x.tolerance_scale * time)

    claim = at_most(
        "claim",
        lambda r: 0 * path(r),
        lambda r: 1 + 0 * path(r),
        where=lambda r: path(r)[0] - path(r),
    )
    statement = about(Real(1, 2), claim, uniform, keys=64, instances=8, integrates=True)
    assert judged(statement).verdict is Verdict.HOLDS


def test_points_that_are_clear_do_not_suffer_from_none():
    """At time 0 the margin is exactly 0, and does not err."""
    path = lambda r: r.x.x * jnp.arange(3.0)  # noqa: E731
    claim = at_most("claim", path, lambda r: 2.0 * r.x.x, where=path)
    assert judged(about(Real(1, 2), claim, erring, integrates=True)).verdict is Verdict.HOLDS
