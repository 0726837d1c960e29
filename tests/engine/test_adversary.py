"""Violations of every shape that the adversary must find, and truths that it must spare."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in

from tests.engine.statements import theorem
from theorysim.claims import at_most
from theorysim.engine.falsify.draws import Draws
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.falsify.points import Points, Scored
from theorysim.engine.falsify.search import basins
from theorysim.engine.measure.draw import draw
from theorysim.engine.measure.setup import Setup, parse_settings
from theorysim.engine.verify.report import excluded_share
from theorysim.engine.verify.verify import verify
from validation.adversary_battery import CASES, strict_diagonal

BUDGET = 5_000
FALSE = [case for case in CASES if case.share]
TRUE = [case for case in CASES if not case.share]


def attack(statement, budget=BUDGET, **options):
    """The attack on the only claim as printed."""
    return falsify(statement, reading="as printed", budget=budget, **options).attacks[0]


@pytest.mark.parametrize("case", one_in(3, FALSE), ids=lambda case: case.name)
def test_what_is_false_falls(case):
    """A search is a matter of chance: the hardest are found at four of five seeds."""
    assert any(attack(case.statement, case.budget, seed=seed).refuted for seed in range(3))


@pytest.mark.parametrize("case", one_in(4, TRUE), ids=lambda case: case.name)
def test_what_is_true_stands(case):
    """The share of violating draws that was excluded is that of the plain draws."""
    for seed in range(2):
        found = attack(case.statement, seed=seed)
        assert not found.refuted
        assert 0 < found.draws <= found.evaluations
        assert (1 - found.excluded_share) ** found.draws == pytest.approx(0.05)


def test_a_tie_is_reported_where_values_are_equal_and_simple():
    found = attack(strict_diagonal().statement)
    assert found.slack == 0
    assert "enclosures prove" in found.note
    assert found.instance["values"]["a"] == found.instance["values"]["b"]


@pytest.mark.parametrize("hypotheses", [{}, {"a below b": lambda x: x.b - x.a - 0.3}])
def test_the_first_draws_are_those_of_a_verification(hypotheses):
    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0), hypotheses=hypotheses)
    with jax.enable_x64(True):
        setup = Setup(statement, (statement.primary(),), parse_settings(statement, {}), seed=7)
        drawn = draw(setup, statement.instances)
        rows = np.flatnonzero(drawn.satisfied(statement.primary()))[: statement.instances]
        points = Draws(setup, 2, verified=True).take(statement.instances)
        decoded = [statement.space.decode(jnp.asarray(u), {"n": 4}) for u in points.cube]
    assert np.array_equal(points.keys, drawn.keys[rows])
    assert [float(x.a) for x in decoded] == [float(a) for a in drawn.instances.a[rows]]


def test_draws_follow_one_another():
    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0))
    with jax.enable_x64(True):
        setup = Setup(statement, (statement.primary(),), parse_settings(statement, {}))
        one, several = (Draws(setup, 2, verified=True) for _ in range(2))
        whole = one.take(1500)
        parts = Points.join(*(several.take(count) for count in (700, 1, 799)))
    assert np.array_equal(whole.cube, parts.cube)
    assert np.array_equal(whole.keys, parts.keys)
    assert len(np.unique(whole.cube, axis=0)) == 1500


def test_a_violation_that_a_verification_sees_is_never_missed():
    """It needs the keys of the draws: no point fails under the key of the search."""
    statement = theorem(
        at_most("u", lambda r: r.sim, lambda r: 0.97),
        simulate=lambda x, key: jax.random.uniform(key),
        predict=lambda x: 0.0,
    )
    seeds = [seed for seed in range(3) if str(verify(statement, seed=seed).verdict) == "violated"]
    assert seeds
    assert all(attack(statement, budget=256, seed=seed).refuted for seed in seeds)


def test_every_basin_has_a_seed():
    """Three hills of unequal heights; most points are on the highest."""
    rng = np.random.default_rng(0)
    hills = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.9]])
    cube = np.concatenate(
        [h + 0.05 * rng.normal(size=(n, 2)) for h, n in zip(hills, (300, 30, 30))]
    )
    distance = np.linalg.norm(cube[:, None] - hills, axis=2)
    scores = np.max(np.array([0.0, -0.1, -0.2]) - distance**2, axis=1)
    found = Scored(Points.under(np.zeros(2, np.uint32), cube), scores, scores)
    niches = basins(found, 3, 8)
    nearest = [
        {int(np.argmin(d)) for d in np.linalg.norm(niche.points.cube[:, None] - hills, axis=2)}
        for niche in niches
    ]
    assert sorted(nearest, key=min) == [{0}, {1}, {2}]


def test_so_many_draws_exclude_a_share():
    assert excluded_share(3000) == pytest.approx(1e-3, rel=2e-3)
    assert excluded_share(0) == 1.0


def test_the_report_says_what_was_tried():
    statement = theorem(at_most("a", lambda r: r.sim["a"], lambda r: r.x.n + 1.0))
    report = falsify(statement, budget=4000)
    (found,) = report.attacks
    assert found.sizes == ({"n": 1}, {"n": 2}, {"n": 4}, {"n": 512}, {"n": 32})
    assert f"{found.draws:,} of them plain draws" in str(report)
    assert report.as_json()["attacks"][0]["draws"] == found.draws == 500
    without = theorem(at_most("a", lambda r: r.sim["a"], lambda r: 3.0))
    (found,) = falsify(without, budget=4000).attacks
    assert found.sizes == ({"n": 4},)
    assert found.draws == 1000
