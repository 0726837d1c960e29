"""The proximal gradient method contracts the distance of any two of its runs as descent does.

Taylor, Hendrickx and Glineur (2018), Theorem 3.1: with a mu-convex L-smooth f and steps
0 < h < 2 / L, |x_N - x*| <= max(|1 - h mu|, |1 - h L|)^N |x_0 - x*|. Attained by quadratics. Here f
and g are functions of one variable; g is any closed convex function, given by its proximal map at
these steps.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The distance of two runs at the end."""

    def f(w):
        curved = (1 - x.conditioning) * pl.integral(x.profile, w)
        return x.tilt * w + x.conditioning * w**2 / 2 + curved

    def step(w):
        z = w - x.step * jax.grad(f)(w)
        return z - x.proximal * (z - pl.evaluate(x.resolvent, z))

    one, other = (iterate_to(step, start, x.steps) for start in (x.start, x.other))
    return jnp.abs(one - other)


def predict(x: claims.Instance):
    return jnp.maximum(jnp.abs(1 - x.step * x.conditioning), jnp.abs(1 - x.step)) ** x.steps


RATE = claims.at_most(
    "distance of two runs", lambda r: r.sim, lambda r: r.theory * jnp.abs(r.x.start - r.x.other)
)

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(3, high=30),
        knots=claims.Size(2, high=8),
        conditioning=claims.Real(1e-3, 0.9, log=True),
        step=claims.Real(0.05, 1.99),
        tilt=claims.Real(-1, 1),
        profile=claims.PiecewiseLinear("knots", 0, 1),
        proximal=claims.Extremal(0, 1),
        resolvent=claims.PiecewiseLinear("knots", 0, 1),
        start=claims.Real(-2, 2),
        other=claims.Real(-2, 2),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2018, Theorem 3.1",
        "|x_N - x*| <= max(|1 - h mu|, |1 - h L|)^N |x_0 - x*|",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
