"""A matrix of independent Gaussian entries scales a squared norm by the width and its variance.

Lemma A.5 of Springer et al. (2025): E |alpha M|_F^2 = d gamma^2 |M|_F^2 for a d x d matrix alpha
of independent centred entries of variance gamma^2.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics import random
from theorysim.numerics.products import dot

DRAWS = 64  # per key: sixteen thousand with all keys, which leaves about a percent of noise


def simulate(x: claims.Instance, key):
    noise = jnp.sqrt(x.variance) * random.normal(key, (DRAWS, x.d, x.d))
    return jnp.mean(jnp.sum(dot(noise, x.M) ** 2, axis=(1, 2)))


def predict(power: int = 1) -> Callable:
    """d^power gamma^2 |M|_F^2."""
    return lambda x: x.d**power * x.variance * jnp.sum(x.M**2)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, low=2),
        M=claims.Gaussian("d", "d"),
        variance=claims.Real(1e-3, 1e2, log=True),
    ),
    simulate=simulate,
    predict=predict(),
    keys=256,
    source=claims.Printed("Lemma A.5", "E |alpha M|_F^2 = d gamma^2 |M|_F^2"),
    claims=(claims.equal("expected norm", lambda r: r.mean(r.sim), lambda r: r.theory),),
    mutants=(claims.Mutant("as many variances as entries", predict=predict(power=2)),),
)
