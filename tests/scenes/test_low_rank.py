"""Pictures of the low-rank paper against closed forms, and where they show the print fail."""

import numpy as np
import pytest
from drawn import thorough
from pictures import drawn, only, series
from scipy import stats

from theorysim.scenes.scene import Role

# A hundred times what sums of some hundred terms were seen to lose.
ROUNDING = 1e-12


def test_a_fair_walk_has_the_binomial_law_and_exceeds_the_printed_bound():
    (panel,) = drawn("low-rank/lemma-7", moving=1.0, lean=0.0, time=60.0)
    exact = only(panel, Role.PREDICTION)
    known = np.isfinite(exact.y)
    fall = exact.x[known]
    assert np.allclose(exact.y[known], stats.binom.cdf(np.floor((60 - fall) / 2), 60, 0.5))
    printed, freedman = (bound.y[known] for bound in series(panel, Role.BOUND))
    assert np.any(exact.y[known] > 2 * printed)
    assert np.all((exact.y[known] <= freedman) | np.isnan(freedman))


@pytest.mark.parametrize(("overlap", "holds"), [(-0.5, False), (0.5, True)])
def test_without_powers_the_sum_is_right_for_one_sign_of_m_only(overlap, holds):
    (panel,) = drawn("low-rank/claim-1", overlap=overlap)
    appendix, main = (points.y for points in series(panel, Role.SIMULATION))
    promised = only(panel, Role.BOUND).y
    assert np.all(appendix >= promised)
    assert np.all(main[:5] >= promised[:5]) if holds else np.all(main[:5] < promised[:5])


def test_small_readouts_run_out_of_the_printed_time_only():
    (panel,) = drawn("low-rank/theorem-6")
    needed, (printed, corrected) = only(panel, Role.SIMULATION), series(panel, Role.BOUND)
    assert needed.y[0] > 10 * printed.y[0] and needed.y[-1] < printed.y[-1]
    assert np.all(needed.y < corrected.y)
    # The flow's speed is a quadratic form of the readouts.
    assert np.allclose(needed.y * needed.x**2, needed.y[0] * needed.x[0] ** 2)


@pytest.mark.parametrize(
    ("dimension", "follows"), [(8.0, True), thorough(30.0, True), (400.0, False)]
)
def test_runs_follow_the_flow_in_few_dimensions_only(dimension, follows):
    (panel,) = drawn("low-rank/theorem-5", dimension=dimension)
    end = only(panel, Role.SIMULATION).y[-1]
    assert abs(end - 0.95) < 0.05 if follows else end < 0.5


@pytest.mark.thorough
def test_the_series_is_the_gradient_of_unit_neurons_and_not_of_longer_ones():
    (panel,) = drawn("low-rank/proposition-1")
    line = only(panel, Role.PREDICTION).y
    unit, longer = (points.y for points in series(panel, Role.SIMULATION))
    assert np.allclose(unit, line, rtol=ROUNDING)
    assert np.all(np.abs(longer - line) > 0.1 * np.abs(line))


def test_the_noise_has_the_sign_that_is_not_printed():
    (panel,) = drawn("low-rank/equation-5-6")
    points = only(panel, Role.SIMULATION)
    assert np.allclose(points.y, -points.x, rtol=ROUNDING)
    assert np.ptp(points.x) > 0.01


@pytest.mark.thorough
def test_the_time_of_recovery_is_within_the_printed_orders():
    for panel in drawn("low-rank/theorem-4"):
        law = only(panel, Role.BOUND)
        for points in series(panel, Role.SIMULATION):
            growth = points.y[-1] / points.y[0]
            assert growth <= 1.2 * law.y[-1] / law.y[0]
