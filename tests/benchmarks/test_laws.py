"""Exponents of ladders, on costs that are known."""

import numpy as np
import pytest

from benchmarks.laws import exponent, laws

SIZES = np.array([1.0, 2.0, 4.0, 8.0])
CLOSE = 1e-9  # of logarithms and a fit in double precision


def rungs(over: str = "n", **held) -> list[dict]:
    """Ours grows as n^2, the peer's as n, from four sizes in disorder."""
    common = {"name": "ours", "peer": "peer", "dtype": "float64", "over": over}
    return [
        {
            **common,
            "size": {"n": n, "d": 7},
            "seconds": 3e-6 * n**2,
            "peer_seconds": 5.0 * n,
            **held,
        }
        for n in (4, 1, 8, 2)
    ]


def test_a_power_is_found():
    (law,) = laws(rungs(mib=None))
    assert (law.over, law.first, law.last, law.memory) == ("n", 1, 8, None)
    assert law.ours == pytest.approx((2, 2, 2, 2), abs=CLOSE)
    assert law.theirs == pytest.approx((1, 1, 1, 1), abs=CLOSE)


def test_memory_that_stays_has_the_exponent_zero():
    (law,) = laws(rungs(mib=3.0))
    assert law.memory == pytest.approx(0, abs=CLOSE)


def test_a_constant_beside_a_power_shows_in_the_slope_at_the_end():
    found = exponent(SIZES, 10 + SIZES)
    assert found.low < found.value < found.high
    assert found.end == pytest.approx(np.log2(18 / 14)) and found.end > found.value


def test_the_interval_has_the_truth_in_about_its_share_of_cases():
    generator = np.random.default_rng(0)
    noise = np.exp(0.3 * generator.standard_normal((400, 4)))
    found = [exponent(SIZES, SIZES**1.5 * each) for each in noise]
    covered = np.mean([one.low <= 1.5 <= one.high for one in found])
    # Three standard errors of a share of 0.95 of 400 cases.
    assert abs(covered - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 400)


def test_rows_without_a_ladder_and_ladders_of_two_rungs_have_no_law():
    assert laws(rungs(over="", mib=None)) == []
    assert laws(rungs(mib=None)[:2]) == []
