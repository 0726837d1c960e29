"""Descent of a function with the Polyak-Lojasiewicz inequality contracts by 1 - mu / L a step.

Karimi, Nutini and Schmidt (2016), Theorem 1: where |grad f|^2 >= 2 mu (f - f*) and f is L-smooth,
steps 1 / L have f(x_N) - f* <= (1 - mu / L)^N (f(x_0) - f*). Abbaszadehpeivasti, de Klerk and
Zamani (2023), Theorem 3, have 2 (1 - mu / L) / (2 + mu / L) for 1 - mu / L. Here f is any
function of one variable with piecewise constant curvature in [-L, L] and its minimiser at 0, and mu
is its own constant: (f')^2 / (2 f) is monotone between bends, so that those and both ends decide.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim.numerics.descent import descend_to


def constant(x: claims.Instance):
    """mu, in units of L; below 0 where the inequality fails."""
    knots = x.profile.shape[1] // 2
    bends = x.profile[:, :knots] * jnp.asarray([[1.0], [-1.0]])
    slopes, values = pl.evaluate(x.profile, bends), pl.integral(x.profile, bends)
    towards = slopes * jnp.sign(bends)  # above 0 where f rises away from the minimiser
    ratios = jnp.where(towards > 0, slopes**2 / (2 * jnp.where(values > 0, values, 1)), -1)
    ends = x.profile[:, jnp.array([knots, 2 * knots])]
    return jnp.minimum(jnp.min(ratios), jnp.min(ends))


def simulate(x: claims.Instance, key):
    """The value at the start and at the end; L = 1."""

    def f(w):
        return pl.integral(x.profile, w)

    return {"start": f(x.start), "end": f(descend_to(f, x.start, optax.sgd(1.0), x.steps))}


def predict(x: claims.Instance):
    return (1 - constant(x)) ** x.steps


def _improved(x: claims.Instance):
    mu = constant(x)
    return (2 * (1 - mu) / (2 + mu)) ** x.steps


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim["end"], lambda r: r.theory * r.sim["start"])

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(1, high=30),
        knots=claims.Size(2, high=8),
        profile=claims.PiecewiseLinear("knots", -1, 1),
        start=claims.Real(-2, 2),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    hypotheses={"mu >= 0.001 L": lambda x: constant(x) - 1e-3},
    source=claims.Printed(
        "Karimi, Nutini and Schmidt 2016, Theorem 1",
        "f(x_N) - f* <= (1 - mu / L)^N (f(x_0) - f*)",
    ),
    readings=(
        claims.Reading(
            "Abbaszadehpeivasti et al.",
            claims.Printed(
                "Abbaszadehpeivasti, de Klerk and Zamani 2023, Theorem 3",
                "f(x_N) - f* <= (2 (L - mu) / (2 L + mu))^N (f(x_0) - f*)",
            ),
            predict=_improved,
        ),
    ),
    mutants=(claims.Mutant("half the constant", claims=(RATE.scaled(0.5),)),),
    instances=512,
    mutant_instances=4096,
)
