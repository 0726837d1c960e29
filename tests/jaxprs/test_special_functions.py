"""What special functions err by in floating point stays within what they are moved by."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from drawn import one_in

from theorysim.jaxprs.directions import LANES
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding

pytestmark = pytest.mark.usefixtures("x64")

DRAWS = np.random.default_rng(0)

ONES = np.exp(DRAWS.uniform(np.log(0.01), np.log(300), 60))
NEAR_ONE = 1 + np.exp(DRAWS.uniform(np.log(1e-12), np.log(0.1), 60))
NEAR_ROOT = 1.4616321449683622 + DRAWS.normal(size=60) * 1e-3
SHAPES = np.exp(DRAWS.uniform(np.log(0.01), np.log(700), 60))
AROUND = SHAPES * np.exp(DRAWS.normal(size=60) / np.sqrt(1 + SHAPES))
PARTS = DRAWS.uniform(0.01, 0.99, 60)

FUNCTIONS = {
    "lgamma": (jax.lax.lgamma, mpmath.loggamma, (ONES,)),
    "lgamma near its zero": (jax.lax.lgamma, mpmath.loggamma, (NEAR_ONE,)),
    "digamma": (jax.lax.digamma, mpmath.digamma, (ONES,)),
    "digamma near its zero": (jax.lax.digamma, mpmath.digamma, (NEAR_ROOT,)),
    "erfc": (jax.lax.erfc, mpmath.erfc, (np.linspace(0.1, 24, 60),)),
    "erf_inv near 1": (jax.lax.erf_inv, mpmath.erfinv, (2 - NEAR_ONE,)),
    "zeta": (jax.lax.zeta, mpmath.zeta, (1 + PARTS * 19, ONES)),
    "igamma": (
        jax.lax.igamma,
        lambda a, x: mpmath.gammainc(a, 0, x, regularized=True),
        (SHAPES, AROUND),
    ),
    "igammac": (
        jax.lax.igammac,
        lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True),
        (SHAPES, AROUND),
    ),
    "betainc": (
        jax.lax.betainc,
        lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True),
        (np.minimum(ONES, 30), np.minimum(SHAPES, 30), PARTS),
    ),
}


@pytest.mark.parametrize("name", one_in(3, FUNCTIONS))
def test_the_truth_lies_within_four_times_what_is_seen(name):
    function, truth, operands = FUNCTIONS[name]
    moved = perturb_rounding(function, lanes=True)
    given = tuple(map(jnp.asarray, operands))
    in_lanes = jax.vmap(moved, (0, *[None] * len(given)))
    plain = np.asarray(function(*given))
    seen = np.asarray(in_lanes(1.0 + jnp.arange(LANES), *given))
    with mpmath.workdps(40):
        exact = [truth(*map(mpmath.mpf, map(float, point))) for point in zip(*operands)]
        errors = np.array([float(abs(mpmath.mpf(float(p)) - e)) for p, e in zip(plain, exact)])
    assert np.all(np.isfinite(seen))
    assert np.all(errors <= 4 * np.max(np.abs(seen - plain), axis=0))
