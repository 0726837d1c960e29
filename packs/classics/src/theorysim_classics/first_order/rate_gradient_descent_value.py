"""Gradient descent contracts the excess value of a strongly convex function.

Taylor, Hendrickx and Glineur (2018), Section 3: f(x_N) - f* <= max(|1 - h mu|, |1 - h L|)^(2 N)
(f(x_0) - f*) for steps 0 < h < 2 / L, attained by quadratics.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The excess value at the start and at the end."""
    f = smooth.loss(x, x.conditioning)
    end = descend_to(f, smooth.start(x), optax.sgd(x.step / x.smoothness), x.steps)
    return {"start": f(smooth.start(x)), "end": f(end)}


def predict(x: claims.Instance):
    factor = jnp.maximum(jnp.abs(1 - x.step * x.conditioning), jnp.abs(1 - x.step))
    return factor ** (2 * x.steps)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim["end"], lambda r: r.theory * r.sim["start"])

theorem = claims.Theorem(
    space=smooth.strongly_convex_space(step=claims.Real(0.05, 1.99)),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2018, Section 3",
        "f(x_N) - f* <= max(|1 - h mu|, |1 - h L|)^(2 N) (f(x_0) - f*)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
