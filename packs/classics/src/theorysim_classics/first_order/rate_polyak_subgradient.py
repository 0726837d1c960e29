"""Polyak's step brings the subgradient method within M R / sqrt(N + 1), without knowing R.

Polyak (1969); Boyd, Xiao and Mutapcic (2003): with steps (f(x_k) - f*) / |g_k|^2,
min f(x_k) - f* <= M R / sqrt(N + 1) over x_0, ..., x_N. Attained by a maximum of N + 1 linear
functions.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim_classics.first_order import _max_affine as affine
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The least value over all points."""

    def step(w, _):
        value, slope = affine.value_and_subgradient(x, w)
        square = slope @ slope
        return w - jnp.where(square > 0, value / jnp.where(square > 0, square, 1), 0) * slope, value

    _, values = jax.lax.scan(step, affine.start(x), None, length=x.steps + 1)
    return jnp.min(values)


def predict(x: claims.Instance):
    return x.slope * x.distance / jnp.sqrt(x.steps + 1)


RATE = claims.at_most("min f(x_k) - f*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=affine.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Boyd, Xiao and Mutapcic 2003, Polyak's step length", "min f(x_k) - f* <= M R / sqrt(N + 1)"
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
