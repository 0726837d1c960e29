"""The quadratic terms of the projection stay below the drift.

Claim 7 of Dayi and Chen (2024), Appendix B.1.1: for alpha delta^2 <= 1, the infimum over t of
eta sum_(j <= t) (S / 4 - eta |L_j|^2) is below -beta / (5 sqrt(d)) with a chance of at most
C / (beta sqrt(d)) + alpha (dV)^(1 - (beta^2 / C) log(dV)). Both terms vanish as d grows,
whatever C is, and so must the chance. The proof takes delta <= S / (4 C log(dV)), which the
statement does not say; with it the event did not happen in any run, so that no rate is seen.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.rank_one_chain import Step
from theorysim.theorems.low_rank import _noise as noise


def _corrected(x: claims.Instance, at: noise.Regime):
    return x.share * at.signal / (4 * jnp.log(x.dimension * at.variance))


def _drift_less_noise(plan: noise.Plan, step: Step):
    """eta (S / 4 - eta |L|^2)."""
    return plan.rate * (plan.regime.signal / 4 - plan.rate * step.square)


def _simulate(delta):
    """The lowest point of the sum, at S = |h(0)| / 2."""

    def simulate(x: claims.Instance, key) -> Float[Array, ""]:
        return noise.run(x, key, delta, _drift_less_noise).lowest

    return simulate


def _falls(r: claims.Run, side: float = -1.0):
    """Whether the sum falls below side beta / (5 sqrt(d))."""
    return r.sim < side * r.x.beta / (5 * jnp.sqrt(r.x.dimension))


def _vanishing(side: float = -1.0) -> claims.Claim:
    return claims.tends_to(
        "the chance vanishes as d grows",
        lambda r: jnp.mean(_falls(r, side)),
        lambda r: 0.0,
        over={"dimension": noise.DIMENSIONS},
    )


theorem = claims.Theorem(
    **noise.SETUP,
    simulate=_simulate(lambda x, _: x.share * jnp.minimum(1 / jnp.sqrt(x.alpha), 1.0)),
    claims=(_vanishing(),),
    source=claims.Printed(
        "Claim 7, Appendix B.1.1",
        "alpha delta^2 <= 1: Pr[inf_t eta sum (S_k/4 - eta |L_j|^2) < beta / (-5 sqrt(d))] <= "
        "C / (beta sqrt(d)) + alpha (d V_k)^(-(beta^2/C) log(d V_k) + 1)",
    ),
    note="alpha delta^2 <= 1 alone lets the noise outrun the drift, the more the larger d",
    readings=(
        claims.corrected(
            "delta <= S / (4 C log(dV)), as in the proof, for alpha delta^2 <= 1",
            simulate=_simulate(_corrected),
            note="as the proof has it; without any drift the noise would stay below the threshold, "
            "too",
        ),
    ),
    mutants=(claims.Mutant("the sign of the threshold is lost", claims=(_vanishing(1.0),)),),
)
