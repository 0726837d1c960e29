"""Means over the runs of an experiment: the verdicts against SciPy's tests and known laws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from tests.engine.statements import no_edge
from theorysim.claims import Space, Verdict, on_average
from theorysim.claims.evidence import Evidence, Measurement
from theorysim.claims.kinds.average import EMPIRICAL_ALARM
from theorysim.claims.run import Run
from theorysim.errors import UsageError

EMPTY = Space().sample(jax.random.key(0), {})
CLAIM = on_average("rises", lambda r: 0.0, lambda r: 0.0)


def judged(differences, applies=True):
    """The judgement on runs (rows) of differences at several points."""
    room = np.atleast_2d(np.asarray(differences, float).T).T[None]
    zero, one = np.zeros_like(room), np.zeros(1)
    measurement = Measurement(
        lhs=zero,
        rhs=room,
        applies=np.broadcast_to(applies, room.shape),
        edge=no_edge(1),
        probability=one,
        rounding=one,
        integrator=0 * one,
        limit=zero,
        sampling=zero,
        skewness=zero,
        bias=zero,
        extremes=np.zeros((1, 0)),
        by_key=np.zeros(1, bool),
    )
    return CLAIM.judge(Evidence(measurement))


@pytest.mark.parametrize("shift", [-2.0, -0.5, 0.0, 0.5, 1.0, 2.0])
def test_one_point_is_judged_as_by_the_test_of_student(shift):
    for seed in range(50):
        sample = np.random.default_rng(seed).normal(shift, 1, 8)
        test = stats.ttest_1samp(sample, 0)
        expected = Verdict.INCONCLUSIVE
        if test.pvalue < EMPIRICAL_ALARM:
            expected = Verdict.HOLDS if test.statistic > 0 else Verdict.VIOLATED
        found = judged(sample)
        assert found.verdict is expected
        low, high = stats.t.interval(1 - EMPIRICAL_ALARM, 7, sample.mean(), stats.sem(sample))
        assert found.slack - found.error == pytest.approx(low)
        assert found.slack + found.error == pytest.approx(high)


def test_nothing_is_shown_of_noise_but_in_one_of_a_hundred():
    """Of 500 experiments without any effect; the bounds are those of the binomial law."""
    verdicts = [
        judged(np.random.default_rng(seed).normal(0, 1, (8, 5))).verdict for seed in range(500)
    ]
    assert verdicts.count(Verdict.HOLDS) == 0  # all five points by chance: 3e-12 each
    most = stats.binom.ppf(1 - 1e-6, 500, EMPIRICAL_ALARM / 2)
    assert verdicts.count(Verdict.VIOLATED) <= most


def test_every_point_must_be_shown_and_one_contrary_point_decides():
    noise = np.random.default_rng(0).normal(0, 0.1, (8, 3))
    up, nowhere, down = np.ones(3), np.array([1, 0, 1]), np.array([1, 1, -1])
    assert judged(noise + up).verdict is Verdict.HOLDS
    assert judged(noise + nowhere).verdict is Verdict.INCONCLUSIVE
    found = judged(noise + down)
    assert found.verdict is Verdict.VIOLATED
    assert found.slack == pytest.approx(-1, abs=0.2)


def test_runs_that_agree_exactly_decide_by_their_sign():
    assert judged(np.full(8, 1.0)).verdict is Verdict.HOLDS
    assert judged(np.full(8, -1.0)).verdict is Verdict.VIOLATED
    assert judged(np.zeros(8)).verdict is Verdict.INCONCLUSIVE


def test_a_run_without_a_number_decides_nothing():
    sample = np.ones(8)
    for bad in (np.nan, np.inf):
        sample[3] = bad
        found = judged(sample)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert "no number" in found.note


def test_points_to_which_the_claim_does_not_apply_do_not_count():
    sample = np.random.default_rng(0).normal(1, 0.1, (8, 2)) * [1, -1]
    assert judged(sample, applies=np.array([True, False])).verdict is Verdict.HOLDS
    assert judged(sample, applies=False).verdict is Verdict.VACUOUS


def test_a_side_may_be_a_number():
    run = Run(EMPTY, None, jnp.ones((8, 3)), 8)
    lhs, rhs = on_average("is small", lambda r: 0 * r.sim, 0.01).sides(run)
    assert lhs.shape == rhs.shape == (8, 3)
    assert float(rhs[0, 0]) == pytest.approx(0.01)


def test_sides_of_other_ranks_are_refused():
    """With as many places as runs the axis of runs would meet that of places."""
    run = Run(EMPTY, None, jnp.ones((8, 8)), 8)
    with pytest.raises(UsageError, match="1 and 2 axes"):
        on_average("mixed", lambda r: r.sim[:, 0], lambda r: r.sim).sides(run)


def at_chance(chance, points, sign=1):
    """Eight runs at each point whose two-sided test of Student has exactly this p-value."""
    noise = np.random.default_rng(0).normal(size=(8, points))
    noise -= noise.mean(0)
    mean = sign * stats.t.isf(chance / 2, 7) * stats.sem(noise)
    assert stats.ttest_1samp(noise + mean, 0).pvalue == pytest.approx(chance)
    return noise + mean


def test_points_share_the_level_of_a_violation_but_not_that_of_showing():
    """A false alarm at any point decides; to be shown by chance all of them must be."""
    near, far = 0.9 * EMPIRICAL_ALARM, 0.9 * EMPIRICAL_ALARM / 2
    assert judged(at_chance(near, 2)).verdict is Verdict.HOLDS
    assert judged(at_chance(near, 2, -1)).verdict is Verdict.INCONCLUSIVE
    assert judged(at_chance(far, 2, -1)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("runs", range(5, 10))
def test_runs_that_agree_exactly_need_to_be_as_many_as_a_test_of_signs_does(runs):
    is_shown = stats.binomtest(runs, runs).pvalue < EMPIRICAL_ALARM
    for sign, verdict in ((1.0, Verdict.HOLDS), (-1.0, Verdict.VIOLATED)):
        found = judged(np.full(runs, sign))
        assert found.verdict is (verdict if is_shown else Verdict.INCONCLUSIVE)


def test_a_judgement_has_the_means_of_its_sides_and_says_whether_it_was_decided():
    for shift, resolved in ((-3.0, 1), (0.0, 0), (3.0, 1)):
        sample = np.random.default_rng(0).normal(shift, 1, 8)
        found = judged(sample)
        assert (found.checked, found.resolved) == (1, resolved)
        assert found.lhs == 0 and found.rhs == pytest.approx(sample.mean())


def test_a_point_to_which_the_claim_does_not_apply_in_every_run_does_not_count():
    sample = np.random.default_rng(0).normal(1, 0.1, (8, 2)) * [1, -1]
    in_some = np.ones((8, 2), bool)
    in_some[3, 1] = False
    assert judged(sample, applies=in_some).verdict is Verdict.HOLDS
    sample[5, 1] = np.nan
    assert judged(sample, applies=in_some).verdict is Verdict.HOLDS
    assert judged(sample[:, 1:], applies=in_some[:, 1:]).verdict is Verdict.VACUOUS
