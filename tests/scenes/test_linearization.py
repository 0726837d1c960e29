"""Pictures of the linearization paper against closed forms, and where they show the print fail."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pictures import drawn, only, series

from theorysim.scenes.linearization._model import OUTPUTS, model
from theorysim.scenes.scene import Role
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization.theorem_2 import theorem

NEARLY_STRAIGHT = 0.003
# What that curvature changes at most: twice it over the smallest slope, 0.5, on a path of 1.6.
CURVED = 2 * NEARLY_STRAIGHT / 0.5 * 1.6
# What is of second order in a curvature of 0.02 on such a path.
SECOND_ORDER = 0.02 / 0.5 * 1.6


@pytest.mark.parametrize("strength", [0.0, 2.0])
def test_a_model_without_curvature_moves_as_its_modes_do(strength):
    panel, _ = drawn(
        "linearization/theorem-2", strength=strength, slowest=0.5, bend=NEARLY_STRAIGHT
    )
    points = only(panel, Role.SIMULATION)
    slope = 0.5 ** np.linspace(0, 1, OUTPUTS)
    rate = 2 * slope**2 + strength
    size = 2 * slope / np.sqrt(OUTPUTS) / rate
    exact = np.linalg.norm(size * -np.expm1(-rate * points.x[:, None]), axis=1)
    assert np.allclose(points.y, exact, rtol=CURVED)


def test_the_residual_of_now_does_not_bound_the_distance_and_that_of_the_start_does():
    printed, corrected = drawn("linearization/theorem-2", strength=0.0)
    assert only(printed, Role.SIMULATION).y[-1] > 10 * only(printed, Role.BOUND).y[-1]
    for strength in (0.0, 1.0, 20.0):
        _, corrected = drawn("linearization/theorem-2", strength=strength)
        assert np.all(only(corrected, Role.SIMULATION).y <= only(corrected, Role.BOUND).y)


def test_the_selective_scheme_goes_nearly_as_far_as_no_pull():
    far = [
        [each.y[-1] for each in series(panel, Role.SIMULATION)]
        for (panel,) in (
            drawn("linearization/theorem-2-selective", strength=s) for s in (0.0, 1e-9, 2.0)
        )
    ]
    assert far[0][0] == pytest.approx(far[0][1], rel=1e-3)
    assert far[2][0] > 0.98 * far[0][0] and far[2][1] < 0.9 * far[0][0]


def test_the_loss_stops_falling_at_the_ring():
    (panel,) = drawn("linearization/theorem-1")
    points, ring = only(panel, Role.SIMULATION), only(panel, Role.MARK).x[0]
    assert np.all((points.y < 0) == (points.x < ring)) and 0 < ring < points.x[-1]


@pytest.mark.thorough
def test_gaps_stay_below_the_bound_and_are_linear_in_the_curvature():
    gaps = []
    for bend in (0.01, 0.02):
        (panel,) = drawn("linearization/theorem-3", bend=bend)
        bound, _ = series(panel, Role.BOUND)
        for points in series(panel, Role.SIMULATION):
            assert np.all(points.y <= bound.y)
        gaps.append(series(panel, Role.SIMULATION)[0].y)
    assert np.allclose(gaps[1], 2 * gaps[0], rtol=SECOND_ORDER)


@pytest.mark.thorough
def test_the_flow_stays_in_the_ball_and_a_flat_model_exceeds_the_printed_gap():
    stay, gap = drawn("linearization/theorem-4", steepest=0.01)
    exits, allowed = only(stay, Role.SIMULATION).y, only(stay, Role.BOUND).y
    known = np.isfinite(exits)
    assert known.any() and np.all(exits[known] >= allowed[known])
    printed, appendix = series(gap, Role.SIMULATION)
    assert printed.y[0] > 10 and np.all(appendix.y <= 1)


def test_the_risk_of_a_round_kernel_is_known_and_its_mean_is_below_the_bound():
    (panel,) = drawn("linearization/theorem-5", condition=1.0)
    (risk, mean), (low, high) = series(panel, Role.SIMULATION), series(panel, Role.BOUND)
    shrink = (risk.x / (risk.x + 1)) ** 2
    assert np.allclose(risk.y / risk.y[-1], shrink / shrink[-1])
    assert np.allclose(risk.y, low.y) and np.allclose(risk.y, high.y)
    assert np.all(mean.y < low.y)


def test_the_printed_bounds_of_the_risk_fail_beyond_one_and_the_corrected_ones_hold():
    printed, corrected = drawn("linearization/theorem-7")

    def holds(panel) -> np.ndarray:
        ratio, (low, high) = only(panel, Role.SIMULATION).y, series(panel, Role.BOUND)
        return (low.y <= ratio) & (ratio <= high.y)

    eta = only(printed, Role.SIMULATION).x
    assert np.all(holds(printed)[eta < 1]) and not np.all(holds(printed)[eta > 1])
    assert np.all(holds(corrected))


@pytest.mark.thorough
def test_the_path_is_the_one_that_the_statement_simulates():
    (panel, _) = drawn("linearization/theorem-2", strength=2.0, slowest=0.3, bend=1.0)
    points = only(panel, Role.SIMULATION)
    with jax.enable_x64(True):
        x = model(theorem, 0.3, 1.0, 1.0, strength=jnp.asarray(2.0), pulled=jnp.ones(()))
        x = x.replace(horizon=points.x[-1] / flow.time_scale(x, x.strength))
        run = theorem.primary().simulate(x, jax.random.key(0))
        assert points.y[-1] == pytest.approx(float(run.distance[-1]), rel=1e-9)
