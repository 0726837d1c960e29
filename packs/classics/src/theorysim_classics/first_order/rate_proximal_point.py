"""The proximal point method is within R^2 / (4 gamma N) of a convex function's minimum.

Taylor, Hendrickx and Glineur (2017b), Theorem 4.1: f(x_N) - f* <= R^2 / (4 gamma N) for a closed
convex f and steps gamma. Attained by the modulus of one variable. Here f is any function of one
variable, given by its proximal map.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """f at the end: gamma f is integrated along its proximal map."""

    def step(state):
        w, _ = state
        return pl.evaluate(x.resolvent, w), w

    one = jnp.ones_like(x.distance)
    _, last = iterate_to(step, (one, one), x.steps)
    return x.distance**2 / x.step * pl.prox_value(x.resolvent, last)


def predict(x: claims.Instance):
    return x.distance**2 / (4 * x.step * x.steps)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(5, high=30),
        knots=claims.Size(2, high=8),
        resolvent=claims.PiecewiseLinear("knots", 0, 1),
        step=claims.Real(0.1, 10, log=True),
        distance=claims.Real(0.1, 10, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017b, Theorem 4.1",
        "f(x_N) - f* <= |x_0 - x*|^2 / (4 gamma N)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
