"""Confidence bounds against SciPy's own and against their definition."""

import numpy as np
import pytest
from scipy import special, stats

from theorysim.numerics.statistics import (
    clopper_pearson,
    deciding_trials,
    loglog_drift,
    loglog_slope,
    pareto_shape,
    required_trials,
    student_quantile,
)

# scipy.stats inverts the same special functions by another route.
INVERSION = 1e-9


def test_binomial_bounds_are_the_exact_ones():
    for successes, trials in [(0, 10), (3, 10), (10, 10), (199, 200)]:
        low, high = clopper_pearson(np.array([successes]), np.array([trials]), 0.99)
        exact = stats.binomtest(successes, trials).proportion_ci(0.99, "exact")
        np.testing.assert_allclose([low[0], high[0]], [exact.low, exact.high], atol=INVERSION)


def test_binomial_bounds_cover_the_truth_as_often_as_they_say():
    chance, trials, confidence = 0.9, 50, 0.9
    outcomes = np.arange(trials + 1)
    low, high = clopper_pearson(outcomes, np.full(trials + 1, trials), confidence)
    covered = (low <= chance) & (chance <= high)
    assert stats.binom.pmf(outcomes, trials, chance)[covered].sum() >= confidence


def test_the_trials_that_a_proof_needs():
    needed = required_trials(0.99, 0.999)
    low = clopper_pearson(np.array([needed, needed - 1]), np.array([needed, needed - 1]), 0.999)[0]
    assert low[0] >= 0.99 > low[1]
    assert required_trials(1.0, 0.999) == np.inf
    assert required_trials(0.0, 0.999) == 0


@pytest.mark.parametrize(("frequency", "probability"), [(0.95, 0.94), (0.93, 0.95), (0.5, 0.4)])
def test_deciding_trials_are_those_of_the_normal_law(frequency, probability):
    deviations = special.ndtri(1 - 0.001 / 2)
    normal = deviations**2 * probability * (1 - probability) / (frequency - probability) ** 2
    assert deciding_trials(frequency, probability, 0.999) == pytest.approx(normal, rel=0.25)
    assert deciding_trials(frequency, frequency, 0.999) == np.inf


def test_quantiles():
    assert student_quantile(0.975, 9) == pytest.approx(stats.t.ppf(0.975, 9), rel=INVERSION)


def test_a_power_law_is_fitted_exactly_and_its_interval_is_that_of_the_regression():
    x = np.array([1.0, 2, 4, 8, 16])
    exact = loglog_slope(x, 3 * x**-1.5)
    assert exact.value == pytest.approx(-1.5, abs=1e-12)
    noise = np.random.default_rng(0).normal(size=5)
    fit = loglog_slope(x, np.exp(0.1 * noise) * x**2, confidence=0.95)
    line = stats.linregress(np.log(x), np.log(np.exp(0.1 * noise) * x**2))
    half = line.stderr * stats.t.ppf(0.975, 3)
    np.testing.assert_allclose(fit.value, line.slope, rtol=INVERSION)
    np.testing.assert_allclose([fit.low, fit.high], [line.slope - half, line.slope + half])


def test_weights_decide_which_rungs_count():
    x = np.array([1.0, 2, 4])
    y = np.array([1.0, 2, 40])
    ignored = np.array([1.0, 1, 1e-12])
    assert loglog_slope(x, y, ignored).value == pytest.approx(1, abs=1e-6)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(1)
    x = np.array([1.0, 2, 4, 8])
    y = np.exp(0.1 * rng.normal(size=(4000, 4))) * x**0.5
    fit = loglog_slope(x, y, confidence=0.9)
    covered = np.mean((fit.low <= 0.5) & (0.5 <= fit.high))
    assert abs(covered - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 4000)


def test_two_rungs_know_no_scatter():
    fit = loglog_slope(np.array([1.0, 2]), np.array([1.0, 4]))
    assert fit.value == pytest.approx(2)
    assert fit.low == -np.inf
    assert fit.high == np.inf


def test_values_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        loglog_slope(np.array([1.0, 2]), np.array([0.0, 4]))


@pytest.mark.parametrize("shape", [-0.5, 0.0, 0.3, 0.5, 1.0, 2.0])
def test_the_shape_of_a_tail_is_recovered_and_near_that_of_maximum_likelihood(shape):
    y = stats.genpareto(shape, scale=3).rvs(4000, random_state=0)
    standard_error = (1 + shape) / np.sqrt(len(y))
    likely = stats.genpareto.fit(y, floc=0)[0]
    assert pareto_shape(y) == pytest.approx(shape, abs=4 * standard_error)
    assert pareto_shape(y) == pytest.approx(likely, abs=standard_error)
    assert pareto_shape(1e6 * y) == pytest.approx(pareto_shape(y), abs=1e-9)


def test_few_excesses_or_none_at_all_have_no_shape():
    for excesses in (np.ones(4), np.array([0.0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, np.inf])):
        with pytest.raises(ValueError, match="five excesses"):
            pareto_shape(excesses)


@pytest.mark.parametrize("bend", [0.0, 0.3, -0.1])
def test_the_drift_of_a_parabola_is_its_last_slope_less_its_mean_one(bend):
    x = np.array([1.0, 2, 8, 16])
    y = np.exp(0.7 + 2 * np.log(x) + bend * np.log(x) ** 2)
    last = 2 + 2 * bend * np.log(16)
    assert loglog_drift(x, y) == pytest.approx(last - loglog_slope(x, y).value, abs=1e-9)
    assert loglog_drift(x, np.stack([y, 5 * y])) == pytest.approx(loglog_drift(x, y), abs=1e-9)


def test_two_rungs_show_no_drift():
    with pytest.raises(ValueError, match="three rungs"):
        loglog_drift(np.array([1.0, 2]), np.array([1.0, 2]))
    with pytest.raises(ValueError, match="positive"):
        loglog_drift(np.array([1.0, 2, 4]), np.array([0.0, 2, 4]))
