"""Polynomials of random signs have nearly the law of the same polynomials of Gaussians.

Lemma 5 of Dayi and Chen (2024), the invariance principle: for a multilinear polynomial of degree d,
variance 1 and influences at most tau, sup_t |Pr[P(signs) <= t] - Pr[P(g) <= t]| is O(d
tau^(1/(8d))). Decided for the sum of k signs over sqrt(k) (degree 1, tau = 1 / k), whose distance
is exact, and, at its jump at t = 0, for the product of two such sums (degree 2).
"""

import jax.numpy as jnp
from jax.scipy.special import gammaln
from jax.scipy.stats import norm

from theorysim import claims

VARIABLES = (4.0, 16.0, 64.0, 256.0, 1024.0)
MOST = 1024


def simulate(x: claims.Instance, key):
    """Distances of the laws of the sum and (at 0) of the product, from binomials."""
    heads = jnp.arange(MOST + 1.0)
    # Beyond k heads the chance is 0, and gammaln of what it would be there is not looked at.
    tails = jnp.maximum(x.k - heads, 0)
    log_chance = gammaln(x.k + 1) - gammaln(heads + 1) - gammaln(tails + 1) - x.k * jnp.log(2.0)
    chance = jnp.where(heads <= x.k, jnp.exp(log_chance), 0)
    up_to = jnp.cumsum(chance)
    limit = norm.cdf((2 * heads - x.k) / jnp.sqrt(x.k))
    first = jnp.maximum(jnp.abs(up_to - limit), jnp.abs(up_to - chance - limit))
    zero = jnp.sum(jnp.where(2 * heads == x.k, chance, 0))
    return jnp.max(first), zero - zero**2 / 2


def _claims(first: float, second: float):
    """The powers of tau."""
    over = {"k": VARIABLES}
    return (
        claims.exists_constant("degree 1", lambda r: r.sim[0], lambda r: r.x.k**-first, over=over),
        claims.exists_constant("degree 2", lambda r: r.sim[1], lambda r: r.x.k**-second, over=over),
    )


theorem = claims.Theorem(
    space=claims.Space(k=claims.Integer(4, MOST)),
    simulate=simulate,
    claims=_claims(1 / 8, 1 / 16),
    source=claims.Printed("Lemma 5, Appendix A.3.1", "sup_t |...| <= O(d tau^(1/(8d)))"),
    readings=(
        claims.Reading(
            "tau^(1/2)",
            claims.Finding("the power that sums of signs and their products attain"),
            claims=_claims(1 / 2, 1 / 2),
            note="sums of signs and products of two attain the power 1/2 of their influence",
        ),
    ),
    mutants=(claims.Mutant("tau for a root of it", claims=_claims(1.0, 1.0)),),
)
