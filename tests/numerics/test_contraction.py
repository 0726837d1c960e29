"""Shares of an error after many steps, against many digits."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from theorysim.numerics.contraction import contraction

pytestmark = pytest.mark.usefixtures("x64")

# Rounding of the logarithm is amplified by the size of the exponent, at most 700 without underflow.
ULPS = 1e3


@pytest.mark.parametrize("shrink", [1e-14, 1e-5, 0.3, 0.999, 1.0, 1.2, 1.9999, 2.0, 2.01])
@pytest.mark.parametrize("steps", [0, 1, 2, 7, 300])
def test_both_shares_keep_their_digits(shrink, steps):
    with mp.workdps(60):
        left = (1 - mp.mpf(shrink)) ** steps
        expected = [float(left), float(1 - left)]
    found = contraction(jnp.asarray(shrink), steps)
    np.testing.assert_allclose(found, expected, rtol=ULPS * np.finfo(float).eps, atol=0)


def test_after_infinitely_many_steps_only_what_never_moves_is_left():
    found = contraction(jnp.array([0.0, 0.1, 1.0, 1.7]), jnp.inf)
    np.testing.assert_array_equal(found.left, [1, 0, 0, 0])
    np.testing.assert_array_equal(found.gained, [0, 1, 1, 1])


def test_shapes_broadcast_under_vmap_and_the_dtype_is_kept():
    shrink, steps = jnp.array([0.5, 1.5], jnp.float32), jnp.arange(3)
    found = jax.jit(contraction)(shrink[None], steps[:, None])
    mapped = jax.vmap(contraction, (None, 0))(shrink, steps)
    assert found.left.shape == (3, 2) and found.left.dtype == jnp.float32
    np.testing.assert_array_equal(found.gained, mapped.gained)
