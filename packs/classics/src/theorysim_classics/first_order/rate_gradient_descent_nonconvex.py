"""Some gradient of N + 1 is small without convexity: 4 L (f(x_0) - f(x_N)) / (N h (4 - h)).

The gallery of PEPit prints min |grad f(x_k)|^2 <= 4 L (f(x_0) - f(x_N)) / (3 N) for all steps
h / L with h <= 1. That is the rate at h = 1 alone: shorter steps descend less. Abbaszadehpeivasti,
de Klerk and Zamani (2022), Theorem 2, has the sum of 4 h - h^2 in the place of 3 N. Attained by
functions of one variable whose slope falls and rises with curvatures L and -L between any two
points of the descent.
"""

import jax
import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim.numerics.descent import descend
from theorysim_classics.first_order._tight import too_small


def _teeth(w, period):
    """The integral of the triangle wave with slopes 1 and -1 that is zero at multiples of this."""
    whole = jnp.floor(w / period)
    within = w - whole * period
    fallen = jnp.maximum(within - period / 2, 0)
    return whole * period**2 / 4 + within**2 / 2 - fallen**2


def _loss(x: claims.Instance):
    """L-smooth: a slope of one, teeth below it, and a piecewise quadratic, in turns."""

    def f(w):
        bent = (1 - x.sharpness) * pl.integral(x.profile, w)
        return x.smoothness * (w + x.sharpness * _teeth(-w, x.period * x.step) + bent)

    return f


def simulate(x: claims.Instance, key):
    """The least squared gradient, and the descent of the value."""
    f = _loss(x)
    path = descend(f, jnp.zeros(()), optax.sgd(x.step / x.smoothness), x.steps)
    slopes = jax.vmap(jax.grad(f))(path)
    return {"gradient": jnp.min(slopes**2), "descent": f(path[0]) - f(path[-1])}


def predict(x: claims.Instance):
    """The factor of L (f(x_0) - f(x_N))."""
    return 4 / (x.steps * x.step * (4 - x.step))


RATE = claims.at_most(
    "min |grad f(x_k)|^2",
    lambda r: r.sim["gradient"],
    lambda r: r.x.smoothness * r.theory * r.sim["descent"],
)

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(4, high=30),
        knots=claims.Size(2, high=8),
        smoothness=claims.Real(0.1, 10, log=True),
        step=claims.Real(0.05, 1),
        profile=claims.PiecewiseLinear("knots", -1, 1),
        sharpness=claims.Extremal(0, 1),
        period=claims.Extremal(0.25, 1),
    ),
    simulate=simulate,
    predict=lambda x: 4 / (3 * x.steps),
    claims=(RATE,),
    printed="PEPit's gallery",
    source=claims.Printed(
        "PEPit 0.5, wc_gradient_descent of nonconvex_optimization",
        "min |grad f(x_k)|^2 <= (4 / 3) (L / N) (f(x_0) - f(x_N)) for h <= 1",
    ),
    note="the rate of h = 1, which shorter steps do not reach",
    readings=(
        claims.Reading(
            "Abbaszadehpeivasti et al.",
            claims.Printed(
                "Abbaszadehpeivasti, de Klerk and Zamani 2022, Theorem 2",
                "min |grad f(x_k)|^2 <= 4 L (f(x_0) - f(x_N)) / (N (4 h - h^2)) for h <= 1",
            ),
            predict=predict,
            primary=True,
        ),
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
