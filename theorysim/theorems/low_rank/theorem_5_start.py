"""How often h(0) is below the S that the proof of Theorem 5 takes.

Dayi and Chen (2024), xi = xi_bar sqrt(k), xi_bar <= 1, orthonormal features, mu_1 != 0: the proof
takes S = gamma k lambda_min^2 mu_1^2 / 2 in Condition 3, |h(0)| / 2 >= S but for a chance of
O(sqrt(gamma)) over c and c^, where the delta of Theorem 5 has S of order xi_bar^2 k gamma
lambda_min^2. h(0) is of order xi_bar^2 k, so that the proof's S is too large for small xi_bar.
Over xi_bar gamma is xi_bar^2, since a chance is at most 1: a constant shows nothing at fixed gamma.
ReLU, for which h(0) is the sum of Eqs. 7 and 8 at m = 0 (`equation-7`); other terms of the chance
are left out: as h(0) and S move alike with k, what vanishes in k covers none of it. The default k
is odd, so that no sum of signs vanishes.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank._problem import random_signs
from theorysim.theorems.low_rank._recovery import odd

GAMMAS = (0.5, 0.25, 0.125, 0.0625)
NEURONS = (17.0, 65.0, 257.0, 1025.0)
SCALES = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
FIRST = 0.5  # mu_1 of ReLU


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """|h(0)| for random signs."""
    teacher, student = x.readout * random_signs(key, x.k)
    square = 1 + x.xi_bar**2
    beyond = odd().tangent(1 / square) - FIRST**2  # of one neuron with itself
    form = FIRST**2 * jnp.sum(teacher) * jnp.sum(student) + beyond * jnp.sum(teacher * student)
    return jnp.abs(2 * x.xi_bar**2 / square * form)


def _chance(r: claims.Run, gamma, power: float):
    """That |h(0)| / 2 is below gamma xi_bar^power k lambda_min^2 mu_1^2 / 2."""
    least = jnp.min(r.x.readout) ** 2
    signal = gamma * r.x.xi_bar**power * r.x.k * least * FIRST**2 / 2
    return jnp.mean(r.sim / 2 < signal, axis=0)


def _over_xi_bar(power: float):
    """Along gamma = xi_bar^2."""
    return claims.exists_constant(
        "|h(0)| / 2 is rarely below S, over xi_bar",
        lambda r: _chance(r, r.x.xi_bar**2, power),
        lambda r: r.x.xi_bar,
        over={"xi_bar": SCALES},
    )


def _over_gamma(power: float):
    return claims.exists_constant(
        "|h(0)| / 2 is rarely below S",
        lambda r: _chance(r, r.x.gamma, power),
        lambda r: jnp.sqrt(r.x.gamma),
        over={"gamma": GAMMAS, "k": NEURONS, "xi_bar": SCALES},
    )


theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(33, low=2, high=1025),
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        xi_bar=claims.Real(SCALES[-1], 1, log=True),
        gamma=claims.Real(GAMMAS[-1], GAMMAS[0], log=True),
    ),
    simulate=simulate,
    claims=(_over_xi_bar(0.0),),
    printed="S of the proof",
    source=claims.Printed(
        "Proof of Theorem 5, Section 3.4",
        "xi_bar <= 1: S_k = gamma k lambda_min^2 mu_1(sigma)^2 / 2",
    ),
    note="h(0) is of order xi_bar^2 k: with gamma = xi_bar^2, |h(0)| / 2 is below the proof's S "
    "with a chance that does not fall as sqrt(gamma) does",
    readings=(
        claims.corrected(
            "S_k = gamma xi_bar^2 k lambda_min^2 mu_1(sigma)^2 / 2",
            claims=(_over_xi_bar(2.0), _over_gamma(2.0)),
            note="with the xi_bar^2 that delta has |h(0)| / 2 is rarely below S, for every xi_bar",
        ),
    ),
    mutants=(
        claims.Mutant("xi_bar^2 is lost, as printed", claims=(_over_xi_bar(0.0), _over_gamma(0.0))),
    ),
    keys=1024,
    instances=64,
    mutant_instances=16,
)
