"""The largest eigenvalue of the target's Gram matrix is not 1 / lambda_Q.

Printed below Eq. 43 of Liu et al. (2019) as the reason for its order. 1 / lambda_Q is the largest
eigenvalue of the inverse, which the sum over k of eta (I - eta H_Q)^k tends to.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem


def simulate(x: claims.Instance, key):
    """H_Q."""
    return problem.target_gram(x)


def _inverse(r):
    return 1 / problem.lambda_q(r.x)


printed = claims.equal("the maximum eigenvalue", lambda r: problem.largest(r.sim), _inverse)
corrected = claims.equal(
    "the maximum eigenvalue", lambda r: problem.largest(jnp.linalg.inv(r.sim)), _inverse
)

theorem = claims.Theorem(
    space=problem.problem_space(),
    assumes=(problem.REGULAR_TARGET,),
    simulate=simulate,
    claims=(printed,),
    printed="Eq. 43: lambda_max(H_Q) = 1 / lambda_Q",
    source=claims.Printed("below Eq. 43", "the maximum eigenvalue of H_Q is lambda_Q^(-1)"),
    note="1 / lambda_Q is the largest eigenvalue of the inverse",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("H_Q^(-1) for H_Q"),
            claims=(corrected,),
            primary=True,
            note="the sum of eta (I - eta H_Q)^k tends to the inverse",
        ),
    ),
    mutants=(claims.Mutant("of H_Q itself, as printed", claims=(printed,)),),
)
