"""Gradient descent contracts the distance to a strongly convex function's minimiser.

Polyak (1987), Section 1.4, Theorem 3: |x_N - x*| <= max(|1 - h mu|, |1 - h L|)^N |x_0 - x*| for
steps 0 < h < 2 / L, attained by quadratics.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The distance at the end."""
    f = smooth.loss(x, x.conditioning)
    end = descend_to(f, smooth.start(x), optax.sgd(x.step / x.smoothness), x.steps)
    return jnp.linalg.norm(end)


def predict(x: claims.Instance):
    factor = jnp.maximum(jnp.abs(1 - x.step * x.conditioning), jnp.abs(1 - x.step))
    return factor**x.steps * x.distance


RATE = claims.at_most("|x_N - x*|", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=smooth.strongly_convex_space(step=claims.Real(0.05, 1.99)),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Polyak 1987, Section 1.4, Theorem 3",
        "|x_N - x*| <= max(|1 - h mu|, |1 - h L|)^N |x_0 - x*|",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
