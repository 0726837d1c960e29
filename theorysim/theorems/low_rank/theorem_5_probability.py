"""How often the signs of Theorem 5 turn h around before u is found.

Dayi and Chen (2024), xi = xi_bar sqrt(k), orthonormal features: Theorem 5 fails with a chance of
o(...) + exp(-2 / (e xi_bar)) + O(sqrt(gamma)) over c and c^ in the main text, and of o(1) +
exp(-2k / (e xi_bar^2)) + O(sqrt(gamma)) in its proof; Claim 1 has exp(-2k / (e xi^2)), which is
exp(-2 / (e xi_bar^2)). Where h(m) = 0 for some m of the sign of h(0), no small step passes it: such
signs fail whatever gamma is. Decided for the third Hermite polynomial, h(m) / (6 xi^2 A^-3) =
sum_i lambda_i^2 c_i c^_i + 2 xi_bar^2 m |lambda|^2 / k + xi_bar^4 m^2 (sum_i lambda_i c_i)
(sum_i lambda_i c^_i), and o(1) read as 1 / sqrt(k), as in `lemma-1`. As k grows the chance comes to
rest, at some percent for xi_bar = 1; exp(-2k / (e xi_bar^2)) is below 1e-20 there.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank._problem import random_signs, sign

NEURONS = (65.0, 257.0, 1025.0)
OVERLAPS = np.linspace(0.0, 1.0, 33)


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """The least h(m) sign(h(0)) over m sign(h(0)) in [0, 1], without its factor."""
    kicks = x.readout * random_signs(key, x.k) / jnp.sqrt(x.k)
    start = jnp.sum(kicks[0] * kicks[1])
    odd = 2 * x.xi_bar**2 * jnp.mean(x.readout**2)
    even = x.xi_bar**4 * jnp.sum(kicks[0]) * jnp.sum(kicks[1])
    # The odd term has the sign of m, which is that of h(0).
    path = jnp.abs(start) + odd * OVERLAPS + sign(start) * even * OVERLAPS**2
    return jnp.min(path)


VANISHING = claims.scales_as(
    "the chance of signs that turn h around",
    lambda r: jnp.mean(r.sim < 0),
    over={"k": NEURONS},
    exponent=-0.5,
    relation="at_most",
)


def _kept(chance) -> claims.Claim:
    """Signs keep h with a chance of at least 1 - 1 / sqrt(k) - `chance`."""
    return claims.with_probability(
        "h keeps its sign",
        lambda r: 0.0,
        lambda r: r.sim,
        at_least=lambda r: 1 - r.x.k**-0.5 - chance(r.x),
    )


def _of_claim(x: claims.Instance):
    return jnp.exp(-2 / (jnp.e * x.xi_bar**2))


theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(65, low=2, high=2048),
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        xi_bar=claims.Real(0.85, 1),
    ),
    simulate=simulate,
    claims=(_kept(lambda x: jnp.exp(-2 / (jnp.e * x.xi_bar))),),
    printed="main text",
    source=claims.Printed(
        "Theorem 5, Section 2.2.1",
        "with probability 1 - o(lambda_max^2 / lambda_min^2) - exp(-2 / (e xi_bar)) - "
        "O(gamma^(1/2))",
    ),
    readings=(
        claims.Reading(
            "proof",
            claims.Printed(
                "Proof of Theorem 5, Section 3.4",
                "with probability 1 - o(1) - exp{-2k / (e xi_bar^2)} - O(gamma^(1/2))",
            ),
            claims=(VANISHING,),
            note="xi^2 is xi_bar^2 k: Claim 1 has no k left, and the chance does not vanish with k",
        ),
        claims.Reading(
            "proof, corrected",
            claims.Corrected("exp{-2 / (e xi_bar^2)} for exp{-2k / (e xi_bar^2)}"),
            claims=(_kept(_of_claim),),
            note="with exp(-2 / (e xi_bar^2)), which Claim 1 gives, it holds",
        ),
    ),
    mutants=(
        claims.Mutant("h never turns", claims=(_kept(lambda x: -(x.k**-0.5)),)),
        claims.Mutant(
            "h never turns, whatever the signs",
            of=("proof, corrected",),
            claims=(_kept(lambda x: -(x.k**-0.5)),),
        ),
    ),
    keys=1024,
    instances=32,
    mutant_instances=32,
)
