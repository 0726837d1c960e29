"""The subgradient method is within M R / sqrt(N + 1) of the minimum at its best point.

Nesterov (2003), Section 3.2.3: for convex f with subgradients of at most M and the constant step
R / (M sqrt(N + 1)), min f(x_k) - f* <= M R / sqrt(N + 1) over x_0, ..., x_N. Attained by a maximum
of N + 1 linear functions (Drori and Teboulle 2016, Appendix A).
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim_classics.first_order import _max_affine as affine
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The least value over all points."""
    rate = x.distance / (x.slope * jnp.sqrt(x.steps + 1))

    def step(w, _):
        value, slope = affine.value_and_subgradient(x, w)
        return w - rate * slope, value

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
    source=claims.Printed("Nesterov 2003, Section 3.2.3", "min f(x_k) - f* <= M R / sqrt(N + 1)"),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
