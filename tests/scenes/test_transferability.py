"""Pictures of the transferability paper against its laws, and where they show the print fail."""

import numpy as np
import pytest
from pictures import drawn, only, series

from theorysim.scenes.scene import Role


def slope(points) -> float:
    return np.polyfit(np.log(points.x), np.log(points.y), 1)[0]


@pytest.mark.thorough
def test_networks_move_by_the_mismatch_and_their_error_falls_at_least_as_printed():
    left, right = drawn("transferability/theorem-2-widths")
    line, points = only(left, Role.PREDICTION), only(left, Role.SIMULATION)
    assert np.allclose(line.y, np.abs(line.x) * line.y[-1] / line.x[-1])
    assert np.abs(points.y - line.y).max() < 0.05 * line.y.max()
    assert slope(only(right, Role.SIMULATION)) < -0.25


@pytest.mark.thorough
def test_the_error_of_theorem_1_grows_as_the_number_of_inputs():
    (panel,) = drawn("transferability/theorem-1", closeness=1e-3)
    assert abs(slope(only(panel, Role.SIMULATION)) - 1) < 0.01


@pytest.mark.thorough
def test_nearly_parallel_inputs_stop_narrow_networks_above_the_bound():
    ends = {}
    for spread in (1.0, 0.001):
        (panel,) = drawn("transferability/theorem-3-widths", spread=spread)
        narrow, _ = series(panel, Role.SIMULATION)
        ends[spread] = narrow.y, only(panel, Role.BOUND).y
    points, bound = ends[1.0]
    assert np.all((points[1:] < bound[1:]) | np.isnan(points[1:]))
    points, bound = ends[0.001]
    assert points[-1] > 100 * bound[-1]


def test_training_from_scratch_ends_at_the_root_of_the_form():
    (panel,) = drawn("transferability/remark-scratch-bound", size=0.1)
    end = only(panel, Role.SIMULATION).y[-1]
    printed, root = (bound.y[-1] for bound in series(panel, Role.BOUND))
    assert abs(end / root - 1) < 0.02 and printed < 0.5 * end and np.isclose(printed, root**2)


@pytest.mark.thorough
def test_units_move_less_in_wide_networks_and_far_less_than_allowed():
    (panel,) = drawn("transferability/lemma-4", kappa=0.001)
    points, bound = only(panel, Role.SIMULATION), only(panel, Role.BOUND)
    assert abs(slope(points) + 0.5) < 0.05 and np.all(10 * points.y < bound.y)
