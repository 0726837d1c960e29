"""The quadratic terms of the projection rarely add up to epsilon / 18.

Claim 8 of Dayi and Chen (2024), Appendix B: alpha delta^2 <= epsilon^2 / log d implies
Pr[sup_t eta^2 sum |L_j|^2 > epsilon / 18] <~ 1 / log d.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Theorem
from theorysim.theorems.low_rank import _noise as noise


def simulate(x: Instance, key):
    return noise.run(x, key, noise.small_delta).quadratic[-1]


def _claims(power: float = 1.0, bound=lambda x: 1 / jnp.log(x.dimension), epsilons=noise.EPSILONS):
    return (
        noise.rarely(
            "above epsilon / 18",
            lambda r: r.sim > r.x.epsilon**power / 18,
            bound,
            epsilon=epsilons,
        ),
    )


theorem = Theorem(
    space=noise.noise_space(),
    simulate=simulate,
    claims=_claims(),
    hypotheses={"T fits into the run": noise.room},
    readings=(
        Reading(
            "small epsilon",
            Printed("", ""),
            claims=_claims(epsilons=noise.EPSILONS[3:]),
            hypotheses={
                "T fits into the run": noise.room,
                "epsilon <= 0.15": lambda x: 0.15 - x.epsilon,
            },
            note="at large epsilon the chance is 1 until log d is 18 epsilon, beyond any run",
        ),
    ),
    mutants=(
        Mutant(
            "above epsilon^3 / 18, 1 / sqrt(d)",
            claims=_claims(3.0, lambda x: x.dimension**-0.5),
        ),
    ),
    keys=64,
    instances=16,
)
