"""Steepest descent with exact line search contracts f by ((L - mu) / (L + mu))^2 a step.

De Klerk, Glineur and Taylor (2017), Theorem 1.2, for mu-convex L-smooth functions:
f(x_N) - f* <= ((L - mu) / (L + mu))^(2 N) (f(x_0) - f*), attained by a quadratic of two dimensions.
Here it is run on quadratics, where the best step has a closed form.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _quadratic as quadratic
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The excess value at the start and at the end."""
    f = quadratic.loss(x)

    def step(w):
        slope = jax.grad(f)(w)
        bend = jax.jvp(jax.grad(f), (w,), (slope,))[1] @ slope  # along the slope
        square = slope @ slope
        return w - jnp.where(bend > 0, square / jnp.where(bend > 0, bend, 1), 0) * slope

    start = x.distance * x.direction / quadratic.curvatures(x)
    return {"start": f(start), "end": f(iterate_to(step, start, x.steps))}


def predict(x: claims.Instance):
    return ((1 - x.conditioning) / (1 + x.conditioning)) ** (2 * x.steps)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim["end"], lambda r: r.theory * r.sim["start"])

theorem = claims.Theorem(
    space=quadratic.space(d=2, steps=2),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "de Klerk, Glineur and Taylor 2017, Theorem 1.2",
        "f(x_N) - f* <= ((L - mu) / (L + mu))^(2 N) (f(x_0) - f*)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
