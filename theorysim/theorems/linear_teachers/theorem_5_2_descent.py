"""Gradient descent obeys the limit of Theorem 5.2 to first order in the learning rate only.

Theorem 5.2 of Shachaf et al. (2021), Eq. 5, for two layers. Training is by gradient descent or flow
in the paper (Section 3); the idea of its proof speaks of the flow, which conserves 0-balancedness.
Judged where the loss vanished (Assumption 3.3).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH = 2

# Learning rates as shares of the stability limit.
SHARES = (0.1, 0.2, 0.4)


def simulate(x: claims.Instance, key) -> deep.Trained:
    """beta(t) of two layers along gradient descent."""
    # The printed limit enters the bound on the curvature only: any rate below it is stable.
    limit = deep_limit.limit(*problem.task(x), DEPTH)
    longest = jnp.maximum(jnp.linalg.norm(problem.source(x)), jnp.linalg.norm(limit))
    layers = deep.balanced(x, key, DEPTH, problem.source(x))
    return deep.descent(layers, problem.data(x), problem.labels(x), x.rate_share, longest)


def predict(x: claims.Instance) -> Float[Array, " d"]:
    """The solution of Eq. 5."""
    return deep_limit.limit(*problem.task(x), DEPTH)


def _limit(r) -> Float[Array, " d"]:
    return r.limit(r.sim.weights)


def _rescaled(r) -> Float[Array, " d"]:
    stretched = (jnp.linalg.norm(_limit(r)) / r.x.source_norm) ** ((DEPTH - 1) / DEPTH)
    kept, learned = problem.source(r.x), problem.target(r.x)
    return stretched * problem.outside(r.x, kept) + problem.inside(r.x, learned)


def _vanished(r) -> Float[Array, ""]:
    return r.sim.vanished


FIRST_ORDER = claims.scales_as(
    "distance from Eq. 5 ~ eta, L = 2",
    lambda r: jnp.linalg.norm(_limit(r) - r.theory),
    over={"rate_share": SHARES},
    exponent=1,
    relation="at_least",
    where=_vanished,
)

theorem = claims.Theorem(
    space=problem.problem_space(rate_share=claims.Real(SHARES[0], SHARES[-1], log=True)),
    simulate=simulate,
    predict=predict,
    claims=(claims.equal("Eq. 5, L = 2", _limit, _rescaled, where=_vanished),),
    source=claims.Printed(
        "Section 3 and Section 5, Theorem 5.2, Eq. 5",
        "lim beta(t) = (||lim beta(t)|| / ||theta_S||)^((L - 1) / L) P_perp theta_S + P_par "
        "theta_T (Eq. 5); Section 3: Optimization is done by either gradient descent (GD) or "
        "gradient flow (GF); Section 5, the idea of the proof: P_perp W_1(0) and its norm remain "
        "static during the GF optimization",
    ),
    printed="gradient descent",
    note="descent leaves 0-balanced weights by an order of the learning rate; Section 5 speaks of "
    "the flow in the idea of its proof, Theorem 5.2 itself and Section 3 admit descent",
    readings=(
        claims.Reading(
            "gradient descent, to first order",
            claims.Corrected("Eq. 5 up to an order of the learning rate"),
            claims=(FIRST_ORDER,),
            primary=True,
            note="the distance from Eq. 5 vanishes with the learning rate",
        ),
    ),
    mutants=(claims.Mutant("to second order", claims=(FIRST_ORDER.with_exponent(2.0),)),),
    instances=12,
    mutant_instances=12,
)
