"""The even part of h beyond its value at 0 is small on separated features.

Proposition 2 of Dayi and Chen (2024), xi = 1, Assumption 4: with probability at least 1 - 1/k^3 the
terms of h with l = 2, 4, ... are O(lambda_max^2 k^(-1/2 - e)), e = min(rho/4, 1 - 1/(1 + 2 rho)).
In closed form they are (lambda b)^T E (lambda b^) / (k A), A = 1 + 1/k, with E_ij = (g((G_ij +
1/k)/A) + g((G_ij - 1/k)/A)) / 2 - g(G_ij / A), g = E[s' s']. For ReLU rho = 1/4, so e = 1/16.
Measured is the percentile 1 - 1/k^3 over random signs.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank._problem import random_signs
from theorysim.theorems.low_rank._recovery import recovery_space
from theorysim.theorems.low_rank.assumption_4 import ASSUMPTION_4, SEPARATED

NEURONS = (4.0, 7.0, 12.0, 20.0)


def simulate(x: claims.Instance, key):
    """The terms for random signs, over lambda_max^2."""
    left, right = x.readout * random_signs(key, x.k)
    rows = SEPARATED.features(x)
    gram = jnp.clip(rows @ rows.T, -1, 1)
    tangent, a = SEPARATED.activation().tangent, 1 + 1 / x.k
    moved = (tangent((gram + 1 / x.k) / a) + tangent((gram - 1 / x.k) / a)) / 2
    form = moved - tangent(gram / a)
    return jnp.abs(left @ form @ right) / (x.k * a) / jnp.max(x.readout) ** 2


def _percentile(power: float) -> claims.Claim:
    return claims.exists_constant(
        "the percentile 1 - 1/k^3",
        lambda r: jnp.quantile(r.sim, 1 - r.x.k**-3.0),
        lambda r: r.x.k**power,
        over={"k": NEURONS},
    )


theorem = claims.Theorem(
    space=recovery_space(),
    simulate=simulate,
    claims=(_percentile(-9 / 16),),
    assumes=(ASSUMPTION_4,),
    source=claims.Printed(
        "Proposition 2, Section 3.3",
        "O(lambda_max^2 k^(-1/2 - epsilon)), epsilon = min{rho/4, 1 - 1/(1 + 2 rho)}",
    ),
    mutants=(claims.Mutant("k^(-3/2)", claims=(_percentile(-1.5),)),),
    keys=32_768,  # four of them are above the percentile at k = 20
    instances=8,
    mutant_instances=8,
)
