"""The norm of M does not come out of the trace, though it does out of its mean.

The proof of Lemma A.5 of Springer et al. (2025) is a chain of three equations:
E |alpha M|_F^2 = E Tr(alpha M M^T alpha^T) = E[Tr(alpha alpha^T)] |M|_F^2 = d gamma^2 |M|_F^2.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics import random
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import lemma_a_5


def simulate(x: claims.Instance, key):
    """Means over alpha of |alpha M|_F^2, Tr(alpha M M^T alpha^T) and alpha^T alpha."""
    noise = jnp.sqrt(x.variance) * random.normal(key, (lemma_a_5.DRAWS, x.d, x.d))
    image = dot(noise, x.M)
    norm = jnp.mean(jnp.sum(image**2, axis=(1, 2)))
    trace = jnp.mean(jnp.trace(dot(image, jnp.swapaxes(image, 1, 2)), axis1=1, axis2=2))
    return norm, trace, jnp.mean(dot(jnp.swapaxes(noise, 1, 2), noise), axis=0)


def _trace(r: claims.Run):
    return r.mean(r.sim[1])


def _chain(middle: Callable) -> tuple:
    return (
        claims.equal(
            "E |alpha M|^2 = E Tr(alpha M M^T alpha^T)", lambda r: r.mean(r.sim[0]), _trace
        ),
        claims.equal("the norm of M comes out of the trace", _trace, middle),
        claims.equal("the end of the chain", middle, lambda r: r.theory),
    )


PRINTED = _chain(lambda r: jnp.trace(r.mean(r.sim[2])) * jnp.sum(r.x.M**2))
AMENDED = _chain(lambda r: jnp.sum(r.mean(r.sim[2]) * dot(r.x.M, r.x.M.T)))

theorem = claims.Theorem(
    space=lemma_a_5.theorem.space,
    simulate=simulate,
    predict=lemma_a_5.predict(),
    keys=256,
    claims=PRINTED,
    source=claims.Printed(
        "proof of Lemma A.5", "E Tr(alpha M M^T alpha^T) = E[Tr(alpha alpha^T)] |M|^2"
    ),
    printed="proof chain",
    note="E Tr(alpha alpha^T) is d^2 gamma^2: the middle term is d times too large",
    readings=(
        claims.corrected(
            "Tr(E[alpha^T alpha] M M^T) in the middle of the chain",
            name="proof chain, corrected",
            claims=AMENDED,
            note="M M^T stays inside the trace, where E[alpha^T alpha] = d gamma^2 I",
        ),
    ),
    mutants=(
        claims.Mutant("as many variances as entries", predict=lemma_a_5.predict(power=2)),
        claims.Mutant("half the trace, split", claims=(AMENDED[0].scaled(0.5), PRINTED[1])),
    ),
)
