"""Two estimates of Section 3.3: a binomial series of order k^l and a power of a small cosine.

Unnumbered, Dayi and Chen (2024): sum_s C(l+s, l) (k/(k+1))^(s+1) = Theta(k^l), and
if |<w_i, w_j>| <= nu for ..., then |<w_i, w_j>|^(gamma/nu) <= e^(-gamma). The sum is k (k+1)^l, of
order k^(l+1). The power is small where cosines are at most 1 - nu, which is what Assumption 4
gives, and not where they are at most nu. What stands behind "for" is in neither copy of the paper
that was read, so that this is no misprint of the ledger.
"""

import jax.numpy as jnp
import numpy as np
from scipy.special import comb

from theorysim import claims
from theorysim.numerics.products import dot

TERMS = 20_000
HIGHEST = 4
# C(l+s, l), a row per l.
CHOICES = np.stack([comb(order + np.arange(TERMS), order) for order in range(HIGHEST + 1)])
RUNGS = (20.0, 40.0, 80.0, 160.0, 320.0)


def _simulate(largest_cosine):
    """The partial sum, and the power of the cosine."""

    def simulate(x: claims.Instance, key):
        powers = jnp.exp(-jnp.arange(1.0, TERMS + 1) * jnp.log1p(1 / x.k))
        cosine = x.share * largest_cosine(x.nu)
        return dot(jnp.asarray(CHOICES, powers.dtype), powers)[x.order], cosine ** (x.gamma / x.nu)

    return simulate


ORDER = claims.scales_as(
    "C1: the sum over k^l", lambda r: r.sim[0] / r.x.k**r.x.order, over={"k": RUNGS}, exponent=0
)
LIMIT = claims.tends_to(
    "the sum over k^(l+1)",
    lambda r: r.sim[0] / r.x.k ** (r.x.order + 1),
    lambda r: 1.0,
    over={"k": RUNGS},
)
EXACT = claims.equal("the sum is k (k+1)^l", lambda r: r.sim[0], lambda r: r.theory)
POWER = claims.at_most("C2: the power", lambda r: r.sim[1], lambda r: jnp.exp(-r.x.gamma))

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Real(1, 320, log=True),
        order=claims.Integer(0, HIGHEST),
        nu=claims.Real(0.001, 0.999),
        share=claims.Real(0, 1),
        gamma=claims.Real(0.01, 20, log=True),
    ),
    simulate=_simulate(lambda nu: nu),
    predict=lambda x: x.k * (x.k + 1) ** x.order,
    claims=(ORDER,),
    source=claims.Printed("Section 3.3", "sum_s C(l+s, l) (k/(k+1))^(s+1) = Theta(k^l)"),
    note="the sum is of order k^(l+1)",
    readings=(
        claims.corrected(
            "Theta(k^(l+1)) for Theta(k^l)",
            claims=(LIMIT, EXACT),
            note="the sum is k (k+1)^l",
        ),
        claims.Reading(
            "cosines of at most nu",
            claims.Finding("whether |<w_i, w_j>| <= nu alone implies the bound on the power"),
            claims=(POWER,),
            note='the power stays near 1 for nu near 1; the condition behind "for" was not read',
        ),
        claims.Reading(
            "cosines of at most 1 - nu",
            claims.Finding("what Assumption 4 gives in the place of nu"),
            simulate=_simulate(lambda nu: 1 - nu),
            claims=(POWER,),
            note="(1 - nu)^(gamma/nu) is at most e^(-gamma)",
        ),
    ),
    mutants=(
        claims.Mutant("k^(l+1)", predict=lambda x: x.k ** (x.order + 1.0)),
        claims.Mutant("twice k^(l+1)", claims=(LIMIT.scaled(2.0),)),
    ),
)
