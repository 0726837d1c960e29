"""Douglas-Rachford splitting contracts by max(1 / (1 + mu alpha), alpha L / (1 + alpha L)) a step.

Giselsson and Boyd (2016), Theorem 2: with f mu-convex and L-smooth and g closed convex,
x = prox_(alpha f)(w), y = prox_(alpha g)(2 x - w), w <- w + y - x contracts the distance of any two
runs by max(1 / (1 + mu alpha), alpha L / (1 + alpha L)). Attained by quadratics with g = 0 or the
indicator of a point. Here f and g are functions of one variable.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The distance of two runs at the end."""
    knots = x.profile.shape[1] // 2
    slopes = x.smoothness * (x.conditioning + (1 - x.conditioning) * x.profile[:, knots:])
    inner = pl.resolvent(x.profile.at[:, knots:].set(slopes), x.step)

    def step(w):
        near = pl.evaluate(inner, w)
        return w + pl.evaluate(x.resolvent, 2 * near - w) - near

    one, other = (iterate_to(step, start, x.steps) for start in (x.start, x.other))
    return jnp.abs(one - other)


def predict(x: claims.Instance):
    low, high = x.step * x.smoothness * x.conditioning, x.step * x.smoothness
    return jnp.maximum(1 / (1 + low), high / (1 + high)) ** x.steps


RATE = claims.at_most(
    "distance of two runs", lambda r: r.sim, lambda r: r.theory * jnp.abs(r.x.start - r.x.other)
)

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(3, high=30),
        knots=claims.Size(1, high=8),
        smoothness=claims.Real(0.1, 10, log=True),
        conditioning=claims.Real(1e-3, 0.9, log=True),
        step=claims.Real(0.1, 10, log=True),
        profile=claims.PiecewiseLinear("knots", 0, 1),
        resolvent=claims.PiecewiseLinear("knots", 0, 1),
        start=claims.Real(-2, 2),
        other=claims.Real(-2, 2),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Giselsson and Boyd 2016, Theorem 2",
        "|w_N - w'_N| <= max(1 / (1 + mu alpha), alpha L / (1 + alpha L))^N |w_0 - w'_0|",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
