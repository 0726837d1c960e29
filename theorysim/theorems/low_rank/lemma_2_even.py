"""The factor 1/sqrt(k) of Lemma 2, on features and an activation that need it.

Lemma 2 of Dayi and Chen (2024), xi = 1: |h(0)| / 2 >= gamma lambda_min^2 / (2 sqrt(k)) but for a
chance of O(sqrt(gamma)) + o(1). For ReLU, which `lemma-2` draws, |h(0)| is of order 1. Where mu_1 =
0 it is of order 1/sqrt(k): decided for |a| on orthonormal rows, which Assumption 4 admits, and
readouts of one size, where h(0) is lambda^2 times a sum of k signs over k times 2 tangent(1/A) / A,
A = 1 + 1/k, and its law exact. The o(1) is left out, and k is odd, so that no sum of signs
vanishes. The proof's last line has lost the factor: at gamma = 1/sqrt(k), where the lemma's chance
vanishes, its own does not.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank._recovery import even
from theorysim.theorems.low_rank._sign_sums import chance_below

GAMMAS = (2.0**-1, 2.0**-3, 2.0**-5, 2.0**-7)
PAIRS = (8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0)
LATE = (128.0, 512.0, 2048.0, 8192.0, 32768.0)


def _neurons(x: claims.Instance):
    return 2 * jnp.floor(x.pairs) + 1


def _small(x: claims.Instance, level):
    """The chance that |h(0)| < level lambda^2."""
    k = _neurons(x)
    square = 1 + 1 / k
    per_sign = 2 / square * even().tangent(1 / square) / k
    return chance_below(jnp.floor(x.pairs), 1, level / per_sign)


def _over_gamma(power: float = 1.0):
    """|h(0)| / 2 >= gamma^power lambda_min^2 / (2 sqrt(k))."""
    return claims.exists_constant(
        "|h(0)| is rarely small",
        lambda r: _small(r.x, r.x.gamma**power / _neurons(r.x) ** 0.5),
        lambda r: jnp.sqrt(r.x.gamma),
        over={"gamma": GAMMAS, "pairs": PAIRS},
    )


def _at(gamma: str, falls: float, rare: float, power: float = 0.5):
    """h(m) sign(m) >= gamma lambda_min^2 / (2 k^rare) at m = 0, for gamma = k^-falls."""
    return claims.exists_constant(
        f"|h(0)| is rarely small at gamma = {gamma}",
        lambda r: _small(r.x, _neurons(r.x) ** (-falls - rare) / 2),
        lambda r: _neurons(r.x) ** (-falls * power),
        over={"pairs": LATE},
    )


# Smaller than any sum of signs but 0 at gamma = 1/sqrt(k), so that the corrected line takes more.
LAST_LINE = _at("1/sqrt(k)", 0.5, 0.0)
CORRECTED_LINE = _at("k^(-1/4)", 0.25, 0.5)

theorem = claims.Theorem(
    space=claims.Space(
        pairs=claims.Real(PAIRS[0], LATE[-1], log=True),
        gamma=claims.Real(GAMMAS[-1], GAMMAS[0], log=True),
    ),
    simulate=lambda x, key: x.pairs,
    claims=(_over_gamma(),),
    printed="Lemma 2, mu_1 = 0",
    source=claims.Printed("Lemma 2, Section 3.3", "|h(0)| / 2 >= gamma lambda_min^2 / (2 sqrt(k))"),
    readings=(
        claims.Reading(
            "the last line of the proof",
            claims.Printed(
                "Proof of Lemma 2, Appendix A.5.3", "sign(m) h(m) >= gamma lambda_min^2 / 2"
            ),
            claims=(LAST_LINE,),
            note="the 1/sqrt(k) of the lemma is lost: where mu_1 = 0, h(0) is of order 1/sqrt(k)",
        ),
        claims.Reading(
            "the last line of the proof, corrected",
            claims.Corrected("gamma lambda_min^2 / (2 sqrt(k)) for gamma lambda_min^2 / 2"),
            claims=(CORRECTED_LINE, _over_gamma()),
            note="with the 1/sqrt(k) of the lemma it holds",
        ),
    ),
    mutants=(
        claims.Mutant("gamma is lost", claims=(_over_gamma(0.0),)),
        claims.Mutant(
            "gamma^2 for its root",
            of=("the last line of the proof, corrected",),
            claims=(_at("k^(-1/4)", 0.25, 0.5, power=2.0),),
        ),
    ),
    instances=32,
    mutant_instances=32,
)
