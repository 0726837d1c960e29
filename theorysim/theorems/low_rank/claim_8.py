"""The quadratic terms of the projection rarely add up to epsilon / 18.

Claim 8 of Dayi and Chen (2024), Appendix B.1.1: alpha delta^2 <= epsilon^2 / log d implies
Pr[sup_t eta^2 sum |L_j|^2 > epsilon / 18] <~ 1 / log d. By Markov's inequality, as in the proof,
the chance is at most 18 mu_1 epsilon / log d, and the claim follows.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.rank_one_chain import Step
from theorysim.theorems.low_rank import _noise as noise


def _quadratic(plan: noise.Plan, step: Step):
    """eta^2 |L|^2."""
    return plan.rate**2 * step.square


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """The quadratic sum at its end, where it is largest."""
    return noise.run(x, key, noise.small_delta, _quadratic).total


def _claims(bound: Callable, epsilon: tuple[float, ...] = noise.EPSILONS):
    def above(r: claims.Run):
        return r.sim > r.x.epsilon / 18

    return (noise.rarely("above epsilon / 18", above, bound, epsilon=epsilon),)


def _printed(x: claims.Instance):
    return 1 / jnp.log(x.dimension)


def _markov(growth: Callable = jnp.log) -> Callable:
    """The bound of Markov's inequality, which is no bound above 1; it falls as 1 / growth(d)."""
    return lambda x: jnp.minimum(18 * x.epsilon / growth(x.dimension), 1)


theorem = claims.Theorem(
    **noise.SETUP,
    simulate=simulate,
    claims=_claims(_printed),
    source=claims.Printed(
        "Claim 8, Appendix B.1.1", "Pr[sup_(t <= T) eta^2 sum |L_j|^2 > epsilon / 18] <~ 1 / log d"
    ),
    note="at large epsilon the chance is 1 until log d is 18 epsilon, beyond any run",
    readings=(
        claims.Reading(
            "with Markov's constant",
            claims.Finding("the bound of the proof, which implies the claim"),
            claims=_claims(_markov()),
            primary=True,
            note="the proof's own bound, 18 epsilon / log d, is stronger than the claim",
        ),
        claims.Reading(
            "small epsilon",
            claims.Finding("epsilon <= 0.15, where the order in d shows"),
            claims=_claims(_printed, noise.EPSILONS[3:]),
            hypotheses={**noise.FITS, "epsilon <= 0.15": lambda x: 0.15 - x.epsilon},
            note="for epsilon <= 0.15 the printed order holds at d = 32 to 512",
        ),
    ),
    mutants=(claims.Mutant("d^2 for log d", claims=_claims(_markov(jnp.square))),),
)
