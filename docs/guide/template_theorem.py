"""Gradient descent on a quadratic contracts by (kappa - 1) / (kappa + 1) per step.

Polyak (1964). With the learning rate 2 / (smallest + largest curvature) the distance to the
minimiser shrinks at least by that factor in every step, where kappa is the ratio of the curvatures.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend


def simulate(x, key):
    """The real thing: differentiate the loss and step it. It never uses the theory."""
    rate = 2 / (x.curvatures[0] + x.curvatures[-1])
    return descend(lambda w: jnp.sum(x.curvatures * w**2) / 2, x.start, optax.sgd(rate), x.steps)


def predict(x):
    """The theory: the largest distance that it allows after each step. It never simulates."""
    kappa = x.curvatures[0] / x.curvatures[-1]
    return ((kappa - 1) / (kappa + 1)) ** jnp.arange(x.steps + 1)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(5),
        steps=claims.Size(30),
        curvatures=claims.Spectrum("d", 0.1, 10),
        start=claims.UnitVector("d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(claims.at_most("rate", lambda r: jnp.linalg.norm(r.sim, axis=-1), lambda r: r.theory),),
    source=claims.Printed("Polyak 1964", "|w_t - w*| <= ((kappa - 1) / (kappa + 1))^t |w_0 - w*|"),
    mutants=(claims.Mutant("the square of the rate", predict=lambda x: predict(x) ** 2),),
)
