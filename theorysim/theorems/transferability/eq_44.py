"""The series that sums the errors of fine-tuning: k (1 - s)^(k-1) and its partial sums.

Liu et al. (2019), with s = eta lambda_Q / 4. Below Eq. 41: its maximum over k is O(1 / (eta
lambda_Q)); below Eq. 44: its sum is O(1 / (eta^2 lambda_Q^2)). The constants are those of 1 / s and
1 / s^2, 4 and 16; the print names none.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem


def _share(x: claims.Instance):
    """s."""
    return problem.stable_rates(x)[1] * problem.lambda_q(x) / 4


def simulate(x: claims.Instance, key):
    """k (1 - s)^(k-1) for k = 1, 2, ..."""
    k = jnp.arange(1, 4000)
    return k * (1 - _share(x)) ** (k - 1)


def _share_of_rate(r):
    """eta lambda_Q."""
    return 4 * _share(r.x)


def _order(name: str, value, power: int):
    over = {"target_spread": (1.0, 0.6, 0.36), "rate_share": (0.8, 0.4, 0.2, 0.1, 0.05)}
    return claims.exists_constant(name, value, lambda r: _share_of_rate(r) ** -power, over=over)


MAXIMUM, SUM = "Eq. 41: max of k (1 - s)^(k-1)", "Eq. 44: sum of k (1 - s)^(k-1)"
largest = claims.at_most(MAXIMUM, lambda r: r.sim, lambda r: 1 / _share(r.x), strict=True)
total = claims.at_most(SUM, lambda r: jnp.cumsum(r.sim), lambda r: 1 / _share(r.x) ** 2)

theorem = claims.Theorem(
    space=problem.problem_space(rate_share=claims.Real(0.05, 0.95)),
    assumes=(problem.REGULAR_TARGET,),
    simulate=simulate,
    claims=(
        _order(MAXIMUM, lambda r: jnp.max(r.sim), 1),
        _order(SUM, lambda r: jnp.sum(r.sim), 2),
    ),
    source=claims.Printed(
        "below Eq. 41 and Eq. 44",
        "max_(k > 0) k (1 - eta lambda_Q / 4)^(k-1) = O(1 / (eta lambda_Q)), sum_k k (1 - eta "
        "lambda_Q / 4)^(k-1) = O(1 / (eta^2 lambda_Q^2))",
    ),
    readings=(
        claims.Reading(
            "with constants",
            claims.Finding("the constants 4 and 16, those of 1 / s and 1 / s^2"),
            claims=(largest, total),
        ),
    ),
    mutants=(
        claims.Mutant(
            "one power of eta lambda_Q less",
            claims=(
                _order(MAXIMUM, lambda r: jnp.max(r.sim), 0),
                _order(SUM, lambda r: jnp.sum(r.sim), 1),
            ),
        ),
        claims.Mutant(
            "lambda_Q for lambda_Q / 4",
            of=("with constants",),
            claims=(largest.scaled(1 / 4), total.scaled(1 / 16)),
        ),
    ),
    instances=32,
    mutant_instances=32,
)
