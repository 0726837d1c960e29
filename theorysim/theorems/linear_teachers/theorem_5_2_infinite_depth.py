"""At infinite depth fine-tuning rescales the source by the ratio of the teachers in the data.

Theorem 5.2 of Shachaf et al. (2021), Eq. 6: the limit in time, then in depth, and how fast it is
approached. The limit in time at any depth is the solution of Eq. 5 (checked in theorem-5.2).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.theorems.linear_teachers import _problem as problem


class Limit(NamedTuple):
    """The limit in time, and (k_L - k) / k of the factor of P_perp theta_S, at the depth.

    At infinite depth: the limit in depth of the first, and that of L times the second.
    """

    limit: Float[Array, " d"]
    gap: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Limit:
    lengths = deep_limit.alignment(*problem.task(x))
    limit = deep_limit.limit(*problem.task(x), x.depth)
    return Limit(limit, jnp.expm1(deep_limit.log_coefficient_gap(lengths, x.depth)))


def _predict(coefficient: Callable) -> Callable:
    def predict(x: claims.Instance) -> Limit:
        lengths = deep_limit.alignment(*problem.task(x))
        kept = jnp.square(lengths.source_parallel)
        learned = problem.inside(x, problem.target(x))
        limit = coefficient(x) * problem.outside(x, problem.source(x)) + learned
        # k_L = k (1 - ln k / (c_par^2 L)) + O(1/L^2)
        return Limit(limit, -jnp.log(deep_limit.infinite_depth_coefficient(lengths)) / kept)

    return predict


EQ_6 = claims.tends_to(
    "Eq. 6",
    lambda r: r.sim.limit,
    lambda r: r.theory.limit,
    over={"depth": (10, 100, 1e3, 1e4)},
)
RATE = claims.scales_as(
    "|k_L - k| ~ 1/L",
    lambda r: jnp.abs(r.sim.gap),
    over={"depth": (1e3, 2e3, 4e3, 8e3)},
    exponent=-1,
)
SLOPE = claims.tends_to(
    "L (k_L - k) / k",
    lambda r: r.x.depth * r.sim.gap,
    lambda r: r.theory.gap,
    over={"depth": (100, 1e3, 1e4)},
)

theorem = claims.Theorem(
    space=problem.problem_space(depth=claims.Real(1, 1e4, log=True)),
    simulate=simulate,
    predict=_predict(problem.norm_ratio),
    claims=(EQ_6,),
    source=claims.Printed(
        "Section 5, Theorem 5.2, Eq. 6",
        "(||P_par theta_T|| / ||P_par theta_S||) P_perp theta_S + P_par theta_T",
    ),
    readings=(
        claims.Reading(
            "rate in the depth",
            claims.Finding("how fast the limit in depth is approached"),
            claims=(RATE, SLOPE),
        ),
    ),
    mutants=(claims.Mutant("the source keeps its norm", predict=_predict(lambda x: 1.0)),),
)
