"""How often the start is slow on the features of Claim 2.

Proof of Proposition 3 and of Theorem 8 of Dayi and Chen (2024): h(0) = Omega(lambda_min^2 /
sqrt(k)) with high probability over c^, so that S = Omega(lambda_min^2 / sqrt(k)) in Condition 3.
For lambda = 1, the Hermite polynomial of order 3 and c of one sign, h(0) is 6 (k / (k + 1))^3
(1 + (k - 1) / k^2) sum_i c_i c^_i, a sum of k signs over k but for this factor, and its law exact.
The chance that |h(0)| / 2 < C / sqrt(k) does not vanish as k grows: it tends to 2 Phi(C / 3) - 1,
Phi the normal distribution, at every C > 0.
"""

import jax.numpy as jnp
from jax.scipy.stats import norm

from theorysim import claims
from theorysim.theorems.low_rank._sign_sums import chance_below

PAIRS = (2.0**3, 2.0**13, 2.0**23)
GAMMAS = (2.0**-1, 2.0**-4, 2.0**-7, 2.0**-10, 2.0**-13)
NEURONS = (2.0**7, 2.0**11, 2.0**15, 2.0**19)  # pairs of them


def _neurons(x: claims.Instance):
    return 2 * jnp.floor(x.pairs) + x.odd


def _slow(x: claims.Instance, constant):
    """The chance that |h(0)| / 2 < constant / sqrt(k)."""
    k = _neurons(x)
    share = 3 * (k / (k + 1)) ** 3 * (1 + (k - 1) / k**2)  # of |h(0)| / 2 per sign, times k
    return chance_below(jnp.floor(x.pairs), x.odd, constant * k**0.5 / share)


def _limit(x: claims.Instance):
    """2 Phi(C / 3) - 1."""
    return 2 * norm.cdf(x.constant / 3) - 1


def _rare(vanishing: float = 1.0):
    """At most of order gamma + o(1), which is `vanishing` / sqrt(k)."""
    return claims.exists_constant(
        "the chance of a slow start, over gamma",
        lambda r: _slow(r.x, r.x.gamma),
        lambda r: r.x.gamma + vanishing * _neurons(r.x) ** -0.5,
        over={"gamma": GAMMAS, "pairs": NEURONS},
    )


theorem = claims.Theorem(
    space=claims.Space(
        pairs=claims.Real(PAIRS[0], PAIRS[-1], log=True),
        odd=claims.Integer(0, 1),
        constant=claims.Real(0.1, 3, log=True),
        gamma=claims.Real(GAMMAS[-1], GAMMAS[0], log=True),
    ),
    simulate=lambda x, key: x.pairs,
    claims=(
        claims.tends_to(
            "the chance of a slow start",
            lambda r: _slow(r.x, r.x.constant),
            lambda r: 0.0,
            over={"pairs": PAIRS},
        ),
    ),
    source=claims.Printed(
        "Proofs of Proposition 3 and Theorem 8, Section 3.5",
        "h(0) = Omega(lambda_min^2 / sqrt(k)) w.h.p.; satisfies the gradient lower bound in "
        "Condition 3 with S = Omega(lambda_min^2 / sqrt(k))",
    ),
    note="sum_i c_i c^_i is normal in the limit, of standard deviation 1/sqrt(k): at every fixed "
    "C |h(0)| / 2 is below C / sqrt(k) with a chance that tends to 2 Phi(C / 3) - 1, .080 at C = "
    "0.3",
    readings=(
        claims.corrected(
            "|h(0)| / 2 >= gamma lambda_min^2 / sqrt(k) with probability 1 - O(gamma) - o(1)",
            claims=(_rare(),),
            note="as in Lemma 1, whose sqrt(gamma) one sum of signs does not need; the o(1) is "
            "1/sqrt(k)",
        ),
        claims.Reading(
            "the limit of the chance",
            claims.Finding("the chance of a start below C / sqrt(k) as k grows"),
            claims=(
                claims.exists_constant(
                    "the chance is 2 Phi(C / 3) - 1, up to 1/sqrt(k)",
                    lambda r: jnp.abs(_slow(r.x, r.x.constant) - _limit(r.x)),
                    lambda r: _neurons(r.x) ** -0.5,
                    over={"pairs": NEURONS},
                ),
            ),
        ),
    ),
    mutants=(claims.Mutant("o(1) is lost", claims=(_rare(0.0),)),),
    instances=32,
    mutant_instances=32,
)
