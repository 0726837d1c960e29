"""The largest eigenvalue of the target's Gram matrix is not 1 / lambda_Q.

Printed below Eq. 43 of Liu et al. (2019) as the reason for its order. What the order needs is the
norm of the sum over k < K of eta (I - eta H_Q)^k, which is at most 1 / lambda_Q; it is summed here
step by step, at rates up to 1 / lambda_max.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim.theorems.transferability import _problem as problem


def simulate(x: claims.Instance, key):
    """H_Q, and the sum over k < K of eta (I - eta H_Q)^k."""
    gram, rate = problem.target_gram(x), problem.stable_rates(x)[1]

    def one_more(state):
        power, total = state
        shrunk = power - rate * jnp.matmul(gram, power, precision=problem.HIGHEST)
        return shrunk, total + rate * power

    start = jnp.eye(x.q), jnp.zeros((x.q, x.q))
    return gram, iterate_to(one_more, start, x.target_steps)[1]


def _norm(r):
    """Of the sum: symmetric, it has its eigenvalues for singular values."""
    return jnp.max(jnp.abs(jnp.linalg.eigvalsh(r.sim[1])))


printed = claims.equal(
    "the maximum eigenvalue",
    lambda r: problem.largest(r.sim[0]),
    lambda r: 1 / problem.lambda_q(r.x),
)
summed = claims.at_most("the norm of the sum", _norm, lambda r: 1 / problem.lambda_q(r.x))

theorem = claims.Theorem(
    space=problem.problem_space(
        target_steps=claims.Size(256, high=100_000),
        # Of 2 / lambda_max: above a half, odd powers can be negative.
        rate_share=claims.Real(0.05, 0.5),
    ),
    assumes=(problem.REGULAR_TARGET,),
    simulate=simulate,
    claims=(printed,),
    printed="Eq. 43: lambda_max(H_Q) = 1 / lambda_Q",
    source=claims.Printed("below Eq. 43", "the maximum eigenvalue of H_Q is lambda_Q^(-1)"),
    note="1 / lambda_Q is the largest eigenvalue of the inverse",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("the norm of sum_k eta (I - eta H_Q)^k is at most lambda_Q^(-1)"),
            claims=(summed,),
            primary=True,
            note="the sum tends to the inverse of H_Q from below",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the largest eigenvalue for the smallest",
            claims=(summed.against(lambda r: 1 / problem.largest(r.sim[0])),),
        ),
        claims.Mutant("half of it", claims=(summed.scaled(1 / 2),)),
    ),
)
