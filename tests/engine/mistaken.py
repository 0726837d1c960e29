"""A statement that is right, its lines and parts, for tests that make mistakes in it."""

STATEMENT = '''
"""Gradient descent on a quadratic contracts by its slowest mode."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from theorysim import claims
from theorysim.numerics.descent import descend


def loss(x, w):
    return jnp.sum(x.curvatures * w**2) / 2


def simulate(x, key):
    return descend(lambda w: loss(x, w), x.start, optax.sgd(0.1), x.steps)


def predict(x):
    return (1 - 0.1 * x.curvatures[-1]) ** jnp.arange(x.steps + 1)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=8),
        steps=claims.Size(5, high=8),
        curvatures=claims.Spectrum("d", 0.1, 10),
        start=claims.UnitVector("d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(claims.at_most("rate", lambda r: jnp.linalg.norm(r.sim, axis=-1), lambda r: r.theory),),
    mutants=(claims.Mutant("the square", predict=lambda x: predict(x) ** 2),),
)
'''.lstrip()
LINES = STATEMENT.splitlines()
CLAIM = 'claims.at_most("rate", lambda r: jnp.linalg.norm(r.sim, axis=-1), lambda r: r.theory)'
PROBABILITY = CLAIM.replace("at_most", "with_probability").replace("y)", "y, at_least=0.9)")
DECREASING = 'claims.decreasing("rate", lambda r: {})'
SEQUENCE = "expected a sequence along the last axis, but .* arrived: give the whole path"
FORMULA = "    return (1 - 0.1 * x.curvatures[-1])"
SIMULATION = "    return descend(lambda w: loss(x, w), x.start, optax.sgd(0.1), x.steps)"
MUTANT = 'claims.Mutant("the square", predict=lambda x: predict(x) ** 2)'


def line(text: str) -> int:
    """The number of the only line that contains a text."""
    (found,) = (number for number, each in enumerate(LINES, 1) if text in each)
    return found
