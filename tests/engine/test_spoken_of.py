"""Points and averages that hang on rounding: where conditions absorb, overflow or are chaos.

Statements of known truth, which a reader made to mislead.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import every_second, one_in, thorough

from tests.engine.rounding import ABSORBING, uniform, without_enclosure, zero
from tests.engine.statements import about, judged, verdicts_of
from theorysim.claims import Real, Verdict, at_most, on_average
from theorysim.engine.confirm import other_roundings
from theorysim.engine.confirm.averages import is_moved_by_rounding
from theorysim.engine.confirm.confirm import TRIED, _worst_first
from theorysim.engine.confirm.other_roundings import Sides
from theorysim.engine.confirm.speaking import (
    is_spoken_of,
    nothing_told,
    told_of_rows,
    told_with_bits,
)
from theorysim.engine.confirm.suspect import Case

HUGE = Real(1e200, 2e200)
UNIT = Real(0.1, 0.9)


def chaos(x):
    """0 in truth: 4 z (1 - z) = 1 - (1 - 2 z)^2, iterated until rounding is all."""
    one = jax.lax.fori_loop(0, 80, lambda i, z: 4 * z * (1 - z), x)
    other = jax.lax.fori_loop(0, 80, lambda i, z: 1 - (1 - 2 * z) ** 2, x)
    return jnp.abs(one - other)


def absorbs(x):
    """Below 0, and 0 as it is computed."""
    return jnp.log(jnp.tanh(x))


def verdicts(field, simulate, *claims):
    """Of averages over the same runs."""
    statement = replace(about(field, claims[0], simulate, keys=64), claims=claims)
    return verdicts_of(statement, instances=16)


def average(field, lhs, rhs, where=None):
    claim = on_average("claim", lhs, rhs, where=where)
    return judged(about(field, claim, uniform, keys=64), instances=16)


CONDITIONS = {
    "absorbs": (ABSORBING, absorbs),
    "absorbs more": (Real(800, 801), lambda x: -jnp.exp(-x)),
    "chaos": (UNIT, lambda x: chaos(x) - 0.01),
}


@pytest.mark.parametrize("name", every_second(CONDITIONS))
def test_an_average_says_nothing_where_its_condition_is_met_by_rounding(name):
    field, place = CONDITIONS[name]
    found = average(
        field, lambda r: r.sim, lambda r: 0 * r.sim, where=lambda r: place(r.x.x) + 0 * r.sim
    )
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "place", [lambda x: x - 0.05, thorough(lambda x: 0 * x), thorough(lambda x: chaos(x) + 1)]
)
def test_an_average_speaks_where_its_condition_is_met(place):
    found = average(
        UNIT, lambda r: r.sim, lambda r: 0 * r.sim, where=lambda r: place(r.x.x) + 0 * r.sim
    )
    assert found.verdict is Verdict.VIOLATED


def test_what_is_the_same_for_all_keys_is_not_averaged_by_them():
    """Chaos of the instance seems to be .3 on average, and is 0."""
    true = on_average("true", lambda r: chaos(r.x.x) + 0.01 * r.sim, lambda r: 0.02 + 0 * r.sim)
    false = on_average("false", lambda r: 1e-6 + 1e-9 * r.sim, lambda r: chaos(r.x.x) + 0 * r.sim)
    assert verdicts(UNIT, uniform, true, false) == 2 * [Verdict.INCONCLUSIVE]


@pytest.mark.thorough
def test_chaos_under_the_noise_of_keys_is_not_averaged_by_them():
    found = judged(
        about(
            UNIT,
            on_average("claim", lambda r: chaos(r.x.x) + r.sim - 0.01, lambda r: 0 * r.sim),
            lambda x, key: 0.8 * jax.random.normal(key),
            keys=64,
        )
    )
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
def test_a_condition_is_enclosed_whatever_the_sides_are_made_of():
    """Of every instance, also of those that are not asked for."""
    found = average(
        ABSORBING,
        lambda r: r.sim + without_enclosure(r.x.x),
        lambda r: 0 * r.sim,
        where=lambda r: absorbs(r.x.x) + 0 * r.sim,
    )
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
def test_points_that_are_excluded_spoil_no_average():
    def two(one, other):
        return lambda r: jnp.stack([one(r) + 0 * r.sim, other(r) + 0 * r.sim], -1)

    found = average(
        UNIT,
        two(lambda r: r.sim, lambda r: chaos(r.x.x) + 1e-9 * r.sim),
        two(lambda r: 2.0, lambda r: 0.02),
        where=two(lambda r: 1.0, lambda r: -1.0),
    )
    assert found.verdict is Verdict.HOLDS


def late(x):
    """Nothing, of which 212 bits know no root."""
    return 0 * jnp.sqrt((1 + 1e-80 * x) - 1)


@pytest.mark.thorough
def test_more_bits_are_asked_where_few_know_no_root():
    hypothesis = {"h": lambda x: absorbs(x.x) + late(x.x)}
    claim = at_most("claim", lambda r: r.x.x, zero)
    assert judged(about(ABSORBING, claim, hypotheses=hypothesis)).verdict is Verdict.INCONCLUSIVE
    there = at_most(
        "claim",
        lambda r: r.x.x + without_enclosure(r.x.x),
        zero,
        where=lambda r: absorbs(r.x.x) + late(r.x.x),
    )
    assert judged(about(ABSORBING, there)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("keys", "bound", "seed"), [thorough(10, 1.3, 0), thorough(8, 1.6, 1)])
def test_few_runs_of_chaos_that_plainly_hold_do_so(keys, bound, seed):
    def run(x, key):
        begin = jax.random.uniform(key, minval=0.1, maxval=0.9)
        end = jax.lax.fori_loop(0, 200, lambda i, z: 4 * z * (1 - z), begin)
        return 2 / jnp.pi * jnp.arcsin(jnp.sqrt(jnp.clip(end, 0, 1)))

    claim = on_average("claim", lambda r: r.sim, lambda r: bound + 0 * r.sim)
    assert judged(about(UNIT, claim, run, keys=keys), seed=seed).verdict is Verdict.HOLDS


def test_chaos_of_every_key_is_averaged():
    """The logistic map is 1/2 on average, whatever rounding makes of a run."""

    def run(x, key):
        begin = jax.random.uniform(key, minval=0.1, maxval=0.9)
        return jax.lax.fori_loop(0, 200, lambda i, z: 4 * z * (1 - z), begin)

    def below(bound):
        return on_average(f"below {bound}", lambda r: r.sim, lambda r: bound + 0 * r.sim)

    found = verdicts(UNIT, run, below(0.9), below(0.1))
    assert found == [Verdict.HOLDS, Verdict.VIOLATED]


@pytest.mark.parametrize("apart", [0.0, 0.5, 2.0])
def test_a_mean_is_rounding_where_lanes_are_apart_by_more_than_keys_explain(apart):
    draws = np.random.default_rng(0).normal(size=(9, 3, 64, 1))
    offsets = np.arange(9.0)[:, None, None, None] * apart * np.array([0, 0, 1.0])[:, None, None]

    class Measured:
        def __init__(self, lhs):
            self.lhs, self.rhs, self.applies = lhs, np.zeros_like(lhs), np.ones(lhs.shape, bool)

    own, *lanes = map(Measured, draws + offsets)
    found = is_moved_by_rounding(lanes, own)
    assert found.shape == (3, 1)
    assert not found[:2].any() and found[2, 0] == (8 * apart > 1)


LONG = {
    "absorbs": (ABSORBING, absorbs),
    "absorbs, magnified": (ABSORBING, lambda x: 1e30 * absorbs(x)),
    "overflows": (HUGE, lambda x: jnp.log(x * x) - 925),
}


@pytest.fixture
def many_operations(monkeypatch):
    """Every program has more operations than are looked at in other roundings first."""
    monkeypatch.setattr(other_roundings, "FEW_OPERATIONS", 0)


def far_beyond(field, place):
    """x <= 0, of which no enclosure is known."""
    scale = 1e200 if field is HUGE else 1.0

    def lhs(r):
        return r.x.x + without_enclosure(r.x.x / scale)

    claim = at_most("claim", lhs, zero, where=lambda r: place(r.x.x))
    return judged(about(field, claim), instances=64)


@pytest.mark.usefixtures("many_operations")
@pytest.mark.parametrize("name", one_in(3, LONG))
def test_no_size_makes_up_for_a_condition_that_is_met_by_rounding(name):
    assert far_beyond(*LONG[name]).verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
@pytest.mark.usefixtures("many_operations")
def test_by_size_a_claim_speaks_where_its_condition_is_met():
    found = far_beyond(ABSORBING, lambda x: x - 37)
    assert found.verdict is Verdict.VIOLATED and "by its size" in found.confirmation


def test_of_draws_that_are_alike_some_are_looked_at_and_all_others():
    room = np.array([0.0, -2, -2, -2, -2, -2, -2, -1, -3])
    order = _worst_first(room)
    assert list(room[order]) == [-3, *[-2] * TRIED, -1, 0]


def test_turns_lie_beside_each_other_with_the_unmoved_condition_first():
    first, second = (
        Sides(np.full((1, 2, 1), k), np.full((1, 2, 1), -k), np.full((1, 3, 1), 10 * k))
        for k in (1.0, 2.0)
    )
    both = first.beside(second)
    assert both.lhs.ravel().tolist() == [1, 1, 2, 2]
    assert both.rhs.ravel().tolist() == [-1, -1, -2, -2]
    assert both.condition is not None
    assert both.condition.ravel().tolist() == [10, 10, 10, 20, 20, 20]


def test_moved_origins_show_neither_equalities_nor_what_overflows():
    lanes = np.array([[1.0, 0.0, np.inf, -1.0]] * 3)
    unknown = nothing_told((4,), enclosed=False)
    moved, alone = (
        is_spoken_of(lambda r: r, unknown, lanes, origins=origins) for origins in (False, True)
    )
    assert moved.tolist() == [True, True, True, False]
    assert alone.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("place", "told"), [(lambda r: r.x.x - 37, True), (lambda r: r.x.x - 37 + r.mean(r.sim), False)]
)
def test_bits_tell_nothing_of_means_over_keys(place, told):
    claim = at_most("claim", lambda r: r.mean(r.sim), zero, where=place)
    statement = about(ABSORBING, claim, uniform, keys=8)
    with jax.enable_x64(True):
        x = statement.space.sample(jax.random.key(0), {})
        key = np.asarray(jax.random.key_data(jax.random.key(1)))
        found = told_with_bits(Case(statement, statement.primary(), claim), x, key, 1)
    assert found.met.tolist() == found.enclosed.tolist() == [told]


def test_of_stacked_instances_bits_are_asked_where_lanes_leave_it_open(monkeypatch):
    """Twice where it is; the others are as could be enclosed there."""
    claim = at_most("claim", lambda r: r.x.x, zero, where=lambda r: r.x.x - 37)
    statement = about(ABSORBING, claim)
    condition = np.ones((5, 9, 1)) * np.array([1.0, -1.0, 0.0, 1.0, 0.0])[:, None, None]
    condition[[2, 4], 1:4] = -1e-9
    asked = []
    monkeypatch.setattr(
        "theorysim.engine.confirm.speaking.told_with_bits",
        lambda case, x, key, points: (
            asked.append(float(x.x)) or told_with_bits(case, x, key, points)
        ),
    )
    with jax.enable_x64(True):
        key = jax.random.key(0)
        x = jax.vmap(lambda key: statement.space.sample(key, {}))(jax.random.split(key, 5))
        keys = np.zeros((5, 2), np.uint32)
        case = Case(statement, statement.primary(), claim)
        found = told_of_rows(case, claim.where, condition, x, keys)
    assert asked == np.asarray(x.x)[[2, 4]].tolist()
    assert found.met.ravel().tolist() == [False, False, True, False, True]
    assert found.enclosed.all() and not found.missed.any()
