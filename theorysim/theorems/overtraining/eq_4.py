"""The pre-training loss on Gaussian inputs is a squared Frobenius distance.

Eq. 4 of Springer et al. (2025): E |theta x - A^pre x|^2 = |theta - A^pre|_F^2 for x ~ N(0, I_d).
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot

DRAWS = 128  # per key


def simulate(x: claims.Instance, key):
    inputs = jax.random.normal(key, (DRAWS, x.d))
    outputs = dot(dot(inputs, x.second.T), x.first.T)
    return jnp.mean(jnp.sum((outputs - dot(inputs, x.target.T)) ** 2, axis=1))


def predict(x: claims.Instance):
    return jnp.sum((dot(x.first, x.second) - x.target) ** 2)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(4),
        first=claims.Gaussian("d", "d"),
        second=claims.Gaussian("d", "d"),
        target=claims.Gaussian("d", "d"),
    ),
    simulate=simulate,
    source=claims.Printed(
        "Eq. 4, Appendix A.1", "L_pre(theta) = E |theta x - A^pre x|^2 = |theta - A^pre|_F^2"
    ),
    predict=predict,
    keys=256,
    claims=(claims.equal("expected loss", lambda r: r.mean(r.sim), lambda r: r.theory),),
    mutants=(claims.Mutant("the loss is halved", predict=lambda x: predict(x) / 2),),
)
