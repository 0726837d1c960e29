"""The even part of h beyond its value at 0 is small on separated features.

Proposition 2 of Dayi and Chen (2024), xi = 1, Assumption 4: with probability at least 1 - 1/k^3 the
terms of h with l = 2, 4, ... are O(lambda_max^2 k^(-1/2 - e)), e = min(rho/4, 1 - 1/(1 + 2 rho)).
In closed form they are (lambda b)^T E (lambda b^) / (k A), A = 1 + 1/k, with E_ij = (g((G_ij +
1/k)/A) + g((G_ij - 1/k)/A)) / 2 - g(G_ij / A), g = E[s' s']. For ReLU rho = 1/4, so e = 1/16.
Measured is the percentile 1 - 1/k^3 over random signs. Its signs are rarer than draws are many: as
E_ij is of order k^(-1/2) on the diagonal and k^-2 off it, b and b^ for which the sum of lambda_i^2
b_i b^_i is large are drawn more often, and weighed. Rows are random, and in a second reading as
near to each other as Assumption 4 admits.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._problem import sign
from theorysim.theorems.low_rank._tilted import log_cosh
from theorysim.theorems.low_rank.assumption_4 import ASSUMPTION_4, SEPARATED

NEURONS = (16.0, 32.0, 64.0, 128.0)


class Weighed(NamedTuple):
    """The size of the terms over lambda_max^2, and the likelihood ratio of their signs."""

    terms: Float[Array, ""]
    weight: Float[Array, ""]


def _terms(x: claims.Instance, gram: Float[Array, "k k"], key: PRNGKeyArray) -> Weighed:
    """For signs with chances of b_i b^_i that grow as e^(t lambda_i^2 b_i b^_i), or as the mirror.

    By t the sum of lambda_i^2 b_i b^_i is near sqrt(6 log k) of its deviations, where normal ones
    are with a chance of 1/k^3.
    """
    first, ways, second = jax.random.split(key, 3)
    square = x.readout**2
    tilt = jnp.sqrt(6 * jnp.log(x.k) / jnp.sum(square**2)) * square
    mirrored = sign(jax.random.normal(ways))
    chance = jax.nn.sigmoid(2 * mirrored * tilt)
    alike = jnp.where(jax.random.uniform(second, (x.k,)) < chance, 1.0, -1.0)
    teacher = sign(jax.random.normal(first, (x.k,)))
    log_weight = jnp.sum(log_cosh(tilt)) - log_cosh(jnp.sum(tilt * alike))
    tangent, a = SEPARATED.activation().tangent, 1 + 1 / x.k
    moved = (tangent((gram + 1 / x.k) / a) + tangent((gram - 1 / x.k) / a)) / 2
    form = moved - tangent(gram / a)
    value = (x.readout * teacher) @ form @ (x.readout * teacher * alike) / (x.k * a)
    return Weighed(jnp.abs(value) / jnp.max(square), jnp.exp(log_weight))


def simulate(x: claims.Instance, key: PRNGKeyArray) -> Weighed:
    """On random rows."""
    rows = SEPARATED.features(x)
    return _terms(x, jnp.clip(rows @ rows.T, -1, 1), key)


def _nearest(x: claims.Instance, key: PRNGKeyArray) -> Weighed:
    """On rows whose cosines are the largest that Assumption 4 admits."""
    cosine = rank_one.separation(x.k)
    return _terms(x, cosine + (1 - cosine) * jnp.eye(x.k), key)


def _percentile(power: float) -> claims.Claim:
    def percentile(r: claims.Run) -> Float[Array, ""]:
        """The largest size that is exceeded with a chance of 1/k^3."""
        order = jnp.argsort(-r.sim.terms)
        chance = jnp.cumsum(r.sim.weight[order]) / len(order)
        return r.sim.terms[order][jnp.argmax(chance > r.x.k**-3.0)]

    return claims.scales_as(
        "the percentile 1 - 1/k^3",
        percentile,
        over={"k": NEURONS},
        exponent=power,
        relation="at_most",
    )


SOURCE = claims.Printed(
    "Proposition 2, Section 3.3",
    "O(lambda_max^2 k^(-1/2 - epsilon)), epsilon = min{rho/4, 1 - 1/(1 + 2 rho)}",
)

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(16, low=2, high=128),
        ambient=claims.Size(256, high=1024),
        rows=claims.Gaussian("k", "ambient"),
        readout=claims.Real(-2, 2, shape="k"),
    ),
    simulate=simulate,
    claims=(_percentile(-9 / 16),),
    assumes=(ASSUMPTION_4,),
    printed="random rows",
    source=SOURCE,
    readings=(
        claims.Reading("rows as near as admitted", SOURCE, simulate=_nearest, hypotheses={}),
    ),
    mutants=(
        claims.Mutant("k^(-3/2)", claims=(_percentile(-1.5),)),
        claims.Mutant(
            "k^(-3/2), nearest rows", of=("rows as near as admitted",), claims=(_percentile(-1.5),)
        ),
    ),
    keys=2048,
    instances=16,
    mutant_instances=16,
)
