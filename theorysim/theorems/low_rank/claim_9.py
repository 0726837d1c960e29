"""The noise of the gradients is a martingale that rarely strays far.

Claim 9 of Dayi and Chen (2024), Appendix B.2: for alpha delta^2 <= epsilon^2 / log d, M_t = eta sum
<E_j, u> is a martingale, Pr[sup |M_t| >= beta / (10 sqrt(d))] <~ epsilon^2 / (beta^2 log d) and
Pr[sup |M_t| >= epsilon / 18] <~ 1 / (d log d). That it is a martingale is Condition 1.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.rank_one_chain import Step
from theorysim.theorems.low_rank import _noise as noise


def _noise(plan: noise.Plan, step: Step):
    """eta <E, u>, what the gradient has beyond the population's."""
    problem, state = plan.regime.problem, step.state
    drift = noise.SETTING.speed(problem, state.overlap) * state.rest**2
    return plan.rate * (step.towards + drift)


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """sup |M|."""
    sums = noise.run(x, key, noise.small_delta, _noise)
    return jnp.maximum(-sums.lowest, sums.highest)


def _claims(growth: Callable = jnp.log, lost: float = 0.0):
    """With `growth` of d in the first bound, and both thresholds divided by d^lost."""
    return (
        noise.rarely(
            "sup |M| >= beta / (10 sqrt(d))",
            lambda r: r.sim >= noise.threshold(r.x) / r.x.dimension**lost,
            lambda x: x.epsilon**2 / (x.beta**2 * growth(x.dimension)),
            beta=noise.BETAS,
            epsilon=noise.EPSILONS,
        ),
        noise.rarely(
            "sup |M| >= epsilon / 18",
            lambda r: r.sim >= r.x.epsilon / 18 / r.x.dimension**lost,
            lambda x: 1 / (x.dimension * jnp.log(x.dimension)),
            epsilon=noise.EPSILONS,
        ),
    )


theorem = claims.Theorem(
    **noise.SETUP,
    simulate=simulate,
    claims=_claims(),
    source=claims.Printed(
        "Claim 9, Appendix B.2",
        "Pr[sup_t |M_t| >= beta / (10 sqrt(d))] <~ epsilon^2 / (beta^2 log d), "
        "Pr[sup_t |M_t| >= epsilon / 18] <~ 1 / (d log d)",
    ),
    mutants=(
        claims.Mutant(
            "d for sqrt(d) and for log d, epsilon / (18 sqrt(d))",
            claims=_claims(lambda d: d, lost=0.5),
        ),
    ),
)
