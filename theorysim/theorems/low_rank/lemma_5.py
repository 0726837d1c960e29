"""Polynomials of random signs have nearly the law of the same polynomials of Gaussians.

Lemma 5 of Dayi and Chen (2024), the invariance principle: for a multilinear polynomial of degree d,
variance 1 and influences at most tau, sup_t |Pr[P(signs) <= t] - Pr[P(g) <= t]| is O(d
tau^(1/(8d))). Decided for the sum of k signs over sqrt(k) (degree 1, tau = 1 / k), whose distance
is exact, and, at its jump at t = 0, for the product of two such sums (degree 2).
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.scipy.special import gammaln
from jax.scipy.stats import norm

from theorysim.claims import (
    Instance,
    Integer,
    Mutant,
    Printed,
    Reading,
    Space,
    Theorem,
    exists_constant,
)

VARIABLES = (4.0, 16.0, 64.0, 256.0, 1024.0)
MOST = 1024


def simulate(x: Instance, key):
    """Distances of degree 1 and (at 0) of degree 2."""
    heads = jnp.arange(MOST + 1.0)
    # Beyond k heads the chance is 0, and gammaln of what it would be there is not looked at.
    tails = jnp.maximum(x.k - heads, 0)
    log_chance = gammaln(x.k + 1) - gammaln(heads + 1) - gammaln(tails + 1) - x.k * jnp.log(2.0)
    chance = jnp.where(heads <= x.k, jnp.exp(log_chance), 0)
    up_to = jnp.cumsum(chance)
    limit = norm.cdf((2 * heads - x.k) / jnp.sqrt(x.k))
    first = jnp.maximum(jnp.abs(up_to - limit), jnp.abs(up_to - chance - limit))
    zero = jnp.sum(jnp.where(2 * heads == x.k, chance, 0))
    return {"degree 1": jnp.max(first), "degree 2": zero - zero**2 / 2}


def _claims(*powers: float):
    return tuple(
        exists_constant(
            name,
            lambda r, name=name: r.sim[name][0],
            lambda r, power=power: r.x.k**-power,
            over={"k": VARIABLES},
        )
        for name, power in zip(("degree 1", "degree 2"), powers, strict=True)
    )


theorem = Theorem(
    space=Space(k=Integer(4, MOST)),
    simulate=simulate,
    claims=_claims(1 / 8, 1 / 16),
    readings=(
        Reading(
            "tau^(1/2)",
            Printed("", ""),
            claims=_claims(1 / 2, 1 / 2),
            note="what these polynomials attain",
        ),
    ),
    mutants=(Mutant("tau", claims=_claims(1.0, 1.0)),),
)
