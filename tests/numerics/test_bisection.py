"""Roots by bisection, against roots in closed form."""

import jax
import jax.numpy as jnp
import pytest

from theorysim.numerics.bisection import falling_root


@pytest.mark.parametrize("root", [1e-6, 0.3, 7.0, 1e5])
def test_the_root_of_a_falling_function_is_found(root):
    with jax.enable_x64(True):
        ends = jnp.asarray(root / 3), jnp.asarray(2 * root)
        found = falling_root(lambda t: 1 / t - 1 / root, *ends, ends[1] / 2)
    assert found == pytest.approx(root, rel=1e-11)
