"""The cubic terms of the projection rarely add up to something.

Claim 6 of Dayi and Chen (2024), Appendix B.1.1: alpha delta^2 <= epsilon and delta <= 1 imply
Pr[sup_t eta^3 sum |L_j|^2 |<L_j, u>| > beta / (10 sqrt(d))] <~ 1 / (beta sqrt(d)), and <~ 1 / d
with the threshold epsilon / 18.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.rank_one_chain import Step
from theorysim.theorems.low_rank import _noise as noise


def _delta(x: claims.Instance, _: noise.Regime):
    return x.share * jnp.minimum(jnp.sqrt(x.epsilon / x.alpha), 1.0)


def _cubic(plan: noise.Plan, step: Step):
    """eta^3 |L|^2 |<L, u>|."""
    return plan.rate**3 * step.square * jnp.abs(step.towards)


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """The cubic sum at its end, where it is largest."""
    return noise.run(x, key, _delta, _cubic).total


def _claims(lost: float = 0.0):
    """With both thresholds divided by d^lost."""
    return (
        noise.rarely(
            "above beta / (10 sqrt(d))",
            lambda r: r.sim > noise.threshold(r.x) / r.x.dimension ** (lost / 2),
            lambda x: 1 / (x.beta * jnp.sqrt(x.dimension)),
            beta=noise.BETAS,
        ),
        noise.rarely(
            "above epsilon / 18",
            lambda r: r.sim > r.x.epsilon / 18 / r.x.dimension**lost,
            lambda x: 1 / x.dimension,
            epsilon=noise.EPSILONS,
        ),
    )


theorem = claims.Theorem(
    **noise.SETUP,
    simulate=simulate,
    claims=_claims(),
    source=claims.Printed(
        "Claim 6, Appendix B.1.1",
        "Pr[sup_t eta^3 sum |L_j|^2 |<L_j, u>| > beta / (10 sqrt(d))] <~ 1 / (beta sqrt(d))",
    ),
    mutants=(
        claims.Mutant(
            "beta / (10 d) for beta / (10 sqrt(d)), epsilon / (18 d)", claims=_claims(1.0)
        ),
    ),
)
