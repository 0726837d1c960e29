"""The quadratic terms of the projection rarely add up to epsilon / 18.

Claim 8 of Dayi and Chen (2024), Appendix B.1.1: alpha delta^2 <= epsilon^2 / log d implies
Pr[sup_t eta^2 sum |L_j|^2 > epsilon / 18] <~ 1 / log d. By Markov's inequality, as in the proof,
the chance is at most 18 mu_1 epsilon / log d, and the claim follows; where 18 epsilon is above
log d it is 1, in any run that can be made, and the order in d cannot be seen.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank import _noise as noise


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """The quadratic sum at its end, where it is largest."""
    return noise.run(x, key, noise.small_delta).quadratic[-1]


def _claims(bound, epsilons=noise.EPSILONS, power: float = 1.0):
    """The threshold is epsilon^power / 18."""
    return (
        noise.rarely(
            "above epsilon / 18", lambda r: r.sim > r.x.epsilon**power / 18, bound, epsilon=epsilons
        ),
    )


def _printed(x: claims.Instance):
    return 1 / jnp.log(x.dimension)


def _markov(x: claims.Instance):
    return jnp.minimum(18 * x.epsilon / jnp.log(x.dimension), 1)


theorem = claims.Theorem(
    space=noise.noise_space(),
    simulate=simulate,
    claims=_claims(_printed),
    hypotheses={"T fits into the run": noise.room},
    source=claims.Printed(
        "Claim 8, Appendix B.1.1", "Pr[sup_(t <= T) eta^2 sum |L_j|^2 > epsilon / 18] <~ 1 / log d"
    ),
    note="at large epsilon the chance is 1 until log d is 18 epsilon, beyond any run",
    readings=(
        claims.Reading(
            "with Markov's constant",
            claims.Finding(
                "the bound of the proof, 18 mu_1 epsilon / log d, which implies the claim"
            ),
            claims=_claims(_markov),
            primary=True,
            note="the proof's own bound, 18 epsilon / log d, is stronger than the claim",
        ),
        claims.Reading(
            "small epsilon",
            claims.Finding("epsilon <= 0.15, where the order in d shows"),
            claims=_claims(_printed, noise.EPSILONS[3:]),
            hypotheses={
                "T fits into the run": noise.room,
                "epsilon <= 0.15": lambda x: 0.15 - x.epsilon,
            },
            note="for epsilon <= 0.15 the printed order holds at d = 32 to 512",
        ),
    ),
    mutants=(claims.Mutant("epsilon^2 / 18 for epsilon / 18", claims=_claims(_markov, power=2.0)),),
    survivors={
        "above epsilon / 18": "64 keys leave the chance of other powers of epsilon open, too"
    },
    keys=64,
    instances=16,
    mutant_instances=16,
)
