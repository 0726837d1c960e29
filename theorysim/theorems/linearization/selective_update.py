"""The selective update is defined by a condition at the point that it yields: often none fits it.

Section 3 of Afzal et al. (2025), below Theorem 1 and in the appendix: theta_t is the pulled step if
<grad R(theta_t), theta_t - theta_0> >= 0, and the step without a pull if it is negative. In a
valley that turns back, the pulled step has a negative product and the other one a positive product,
for most steps along a stretch of the run: neither is theta_t. In this valley no more than one of
them ever is; elsewhere both can be, as for R = c - (theta - 1)^2 / 2 with theta_0 = 0, theta_(t-1)
= 1.2, lambda eta = 0.3 and a small eta, where the pull crosses the top at 1. A program has to take
the condition elsewhere, such as at theta_(t-1); theorem-1-steps says what that costs.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _valley as valley

STEPS = 1000


def simulate(x: claims.Instance, key) -> Float[Array, " steps"]:
    """How many of the two choices meet their own condition, at every step."""
    return valley.descent(x, "printed", STEPS).consistent


DEFINED = claims.at_least("a choice is consistent", lambda r: jnp.min(r.sim), lambda r: 1.0)
UNIQUE = claims.at_most("no more than one", lambda r: jnp.max(r.sim), lambda r: 1.0)

theorem = claims.Theorem(
    space=valley.space(),
    simulate=simulate,
    claims=(DEFINED,),
    source=claims.Printed(
        "slides, Section 3, below Theorem 1, and appendix, Lemma 3",
        "theta_t = theta~_t - lambda eta (theta~_t - theta_0) if grad R(theta_t)(theta_t - theta_0)"
        " >= 0, theta~_t if grad R(theta_t)(theta_t - theta_0) < 0",
    ),
    note="pulled, the product is negative, not pulled, positive: no theta_t meets its condition",
    readings=(
        claims.Reading(
            "no more than one",
            claims.Finding("whether both choices may meet their conditions in these valleys"),
            claims=(UNIQUE,),
            note="in a valley; over a top of the loss both may",
        ),
    ),
    mutants=(
        claims.Mutant("both", claims=(DEFINED.scaled(2.0),)),
        claims.Mutant("none", of=("no more than one",), claims=(UNIQUE.scaled(0.5),)),
    ),
)
