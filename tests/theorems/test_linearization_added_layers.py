"""The experiment that adds layers: their bounds, the ratios that these judge, and its runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE, STEPS_SINGLE

from tests.theorems.test_linearization_experiments import drawn, instance, run_of
from theorysim.theorems.linearization import experiment_added_layers as added


@pytest.fixture(autouse=True)
def single_precision():
    with jax.enable_x64(False):
        yield


def test_the_bounds_of_theorem_7_for_layers_alike():
    """S = K / 4, K diagonal: eta = 1/4, and lambda_max grows from 4 + 1 to 5 + 1."""
    gram = jnp.diag(jnp.array([4.0, 1.0]))
    lower, upper = added._bounds(gram, 1.25 * gram, jnp.asarray(0.25), jnp.asarray(1.0))
    a = 2.5 / 0.75**2
    assert (float(lower), float(upper)) == pytest.approx((1.2 / a, 1.2 * a))


def of_pairs(**parts):
    """A run of one scale, in which the other parts are nothing."""
    some = jnp.zeros((1, len(next(iter(parts.values()))), 1))
    rows = {name: jnp.asarray(row, float)[None, :, None] for name, row in parts.items()}
    found = added.Added(**{name: rows.get(name, some) for name in added.Added._fields})
    return run_of(found)


def test_layers_of_larger_eta_are_compared_where_kappa_grows_no_more():
    """Of three pairs the third has the largest eta and kappa; the second beats the first."""
    run = of_pairs(eta=[1, 2, 3], worse=[2, 1, 3], ratio=[0.5, 0.4, 0.3])
    assert [part.tolist() for part in added._worth(run)] == [[[1.0]], [[0.0]]]
    run = of_pairs(eta=[1, 2, 3], worse=[1, 1, 1], ratio=[0.3, 0.4, 0.2])
    assert [part.tolist() for part in added._worth(run)] == [[[2.0]], [[1.0]]]


def test_ratios_beyond_the_bounds_are_found_where_eta_is_below_one():
    """Bounds 1/2 and 8, that is grown = 2 and a = 4; 32 is four times too large, 1/4 by half."""
    bounds = {"lower": [0.5] * 3, "upper": [8.0] * 3}
    run = of_pairs(eta=[0.5, 0.1, 2], ratio=[0.25, 1, 32], **bounds)
    np.testing.assert_allclose(added._outside(run.sim, run.sim.ratio), np.log(2), rtol=FEW_SINGLE)
    run = of_pairs(eta=[2, 0.1, 0.5], ratio=[0.25, 1, 8], **bounds)
    np.testing.assert_allclose(added._outside(run.sim, run.sim.ratio), 0, atol=FEW_SINGLE)


def test_the_bounds_judge_the_ratios_that_they_name():
    """Bounds 1/2 and 8: ridge regression within, the linearised models above, networks below."""
    parts = {"ridge": [1.0], "linear": [16.0], "ratio": [0.25]}
    run = of_pairs(eta=[0.5], lower=[0.5], upper=[8.0], **parts)
    kept = [
        [float(jnp.max(jnp.asarray(c.lhs(run)) - c.rhs(run))) < 0 for c in bounds]
        for bounds in (added.OF_RIDGE, added.OF_LINEAR, added.OF_NETWORKS)
    ]
    assert kept == [[True, True, True], [True, False, False], [False, True, False]]


@pytest.mark.thorough  # a program of its own; layers that move stay
def test_layers_that_do_not_move_change_no_loss():
    still = drawn(added.frozen, instance(added.theorem.space, steps=40))
    np.testing.assert_allclose(still.ratio, 1, rtol=STEPS_SINGLE)


def test_layers_that_move_change_the_loss_and_have_eta_by_their_size():
    moved = drawn(added.simulate, instance(added.theorem.space, steps=40))
    np.testing.assert_allclose(
        moved.eta[:, 1:] / moved.eta[:, :1], [[11.11, 100, 1111.1]] * 9, 2e-3
    )
    assert np.all(moved.growth > 1) and np.all(moved.ratio[:, -1] != 1)
