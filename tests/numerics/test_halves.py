"""Choices by the other half of the runs: against means by hand, and at the level that they keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.numerics.halves import of_the_other_half
from theorysim.numerics.statistics import student_quantile

# Of sums of few numbers in single precision.
FEW_UNITS = 8 * float(np.finfo(np.float32).eps)
# Of a test to one in a hundred, on either side: what 3000 experiments cannot tell from 1.5 %.
LEVEL = 0.02


@pytest.mark.parametrize("runs", [2, 5, 8])
def test_every_run_has_the_mean_of_the_other_half(runs):
    samples = np.random.default_rng(0).normal(size=(runs, 3, 2))
    early, late = samples[: runs // 2].mean(0), samples[runs // 2 :].mean(0)
    expected = [late if k < runs // 2 else early for k in range(runs)]
    found = of_the_other_half(jnp.asarray(samples))
    np.testing.assert_allclose(found, expected, rtol=FEW_UNITS, atol=FEW_UNITS)


@pytest.mark.parametrize("runs", [5, 8, 20])
def test_where_nothing_differs_a_choice_by_it_shows_nothing(runs):
    """Ten options of equal truth: the last one against the one that looks best."""
    samples = np.random.default_rng(1).normal(size=(3000, runs, 10))
    best = np.argmin(jax.vmap(of_the_other_half)(jnp.asarray(samples)), axis=-1)
    room = samples[..., -1] - np.take_along_axis(samples, best[..., None], -1)[..., 0]
    limit = student_quantile(0.995, runs - 1) * room.std(1, ddof=1) / np.sqrt(runs)
    assert np.mean(room.mean(1) > limit) < LEVEL and np.mean(room.mean(1) < -limit) < LEVEL
