"""What Monte Carlo arithmetic says of comparisons where all ties fall alike."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.compiled import jit
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding

pytestmark = pytest.mark.usefixtures("x64")


def in_lanes(function, *inputs, **options):
    """Results in the first eight lanes, in three of which all ties fall alike."""
    moved = perturb_rounding(function, lanes=True, **options)
    several = jax.vmap(moved, (0, *[None] * len(inputs)))
    return np.asarray(jit(several)(1.0 + jnp.arange(8), *inputs))


@pytest.mark.thorough
def test_constants_of_few_digits_are_compared_for_certain():
    """Whether a chance of 1/2 is below 1/2: binomial numbers are mirrored where it is."""

    def drawn(key):
        return jax.random.binomial(key, 40, jnp.full(3, 0.5))

    keys = jax.random.split(jax.random.key(0), 20)
    found = in_lanes(jax.vmap(drawn), keys)
    np.testing.assert_array_equal(found, np.broadcast_to(jax.vmap(drawn)(keys), found.shape))


@pytest.mark.parametrize(
    "compare",
    [
        lambda x: 0.1 * x / x < 0.1,
        lambda x: 0.5 * x / x < 0.5,
        lambda x: jnp.full(2, 0.5) * 0.7 < 0.35,
        lambda x: jnp.full(2, 0.1) < 0.1,  # may have been computed before
    ],
    ids=["ratio", "ratio to a half", "product of constants", "many digits"],
)
def test_what_is_computed_ties_still(compare):
    found = in_lanes(compare, jnp.asarray(1.3))
    assert found.any() and not found.all()


def test_what_asks_for_the_platform_is_followed():
    """An operation without operands tells which branch is taken."""

    def doubled(x):
        return jax.lax.platform_dependent(x, cpu=lambda x: 2 * x, default=lambda x: 2 * x)

    assert in_lanes(doubled, jnp.arange(3.0)).tolist() == [[0.0, 2.0, 4.0]] * 8
