"""At infinite depth fine-tuning rescales the source by the ratio of the teachers in the data.

Theorem 5.2 of Shachaf et al. (2021), Eq. 6: the limit in time, then in depth, of networks of depth
4 to 128 that are trained by gradient flow, and how fast it is approached. Beyond, at depths up to
10000, the limit in time is the solution of Eq. 5, which the networks are compared with, too.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.theorems.linear_teachers import _depth as depths
from theorysim.theorems.linear_teachers import _problem as problem

# A share of 1e-13 of the loss is one of 3e-7 of the distance; cond(X) is 2 at most.
FITTED = 1e-6


class Limit(NamedTuple):
    """At the depth: the solution of Eq. 5, and (k_L - k) / k of the factor of P_perp theta_S.

    At infinite depth: the limit in depth of the first, and that of L times the second.
    """

    limit: Float[Array, " d"]
    gap: Float[Array, ""]


class Depths(NamedTuple):
    """A trained network of the depth, and the solution of Eq. 5 at another depth."""

    network: depths.Trained
    solved: Limit


def simulate(x: claims.Instance, key) -> Depths:
    lengths = deep_limit.alignment(*problem.task(x))
    limit = deep_limit.limit(*problem.task(x), x.solved_depth)
    gap = jnp.expm1(deep_limit.log_coefficient_gap(lengths, x.solved_depth))
    return Depths(depths.trained(x, problem.target(x), x.depth), Limit(limit, gap))


def _at_depth(depth: Callable) -> Callable:
    """A mutant's simulation."""
    return lambda x, key: simulate(x.replace(depth=depth(x)), key)


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
    lambda r: r.sim.network.weights,
    lambda r: r.theory.limit,
    over={"depth": (4, 8, 16, 32, 64, depths.DEEPEST)},
    where=lambda r: r.sim.network.vanished,
)


BEYOND = claims.tends_to(
    "Eq. 6, by Eq. 5",
    lambda r: r.sim.solved.limit,
    lambda r: r.theory.limit,
    over={"solved_depth": (10, 100, 1e3, 1e4)},
)


def _distance(r) -> Float[Array, ""]:
    """Of the network from the solution of Eq. 5, as a share of the latter."""
    solved = deep_limit.limit(*problem.task(r.x), r.x.depth)
    return jnp.linalg.norm(r.sim.network.weights - solved) / jnp.linalg.norm(solved)


SOLVED = claims.at_most(
    "Eq. 5 solved", _distance, lambda r: FITTED, where=lambda r: r.sim.network.vanished
)
RATE = claims.scales_as(
    "|k_L - k| ~ 1/L",
    lambda r: jnp.abs(r.sim.solved.gap),
    over={"solved_depth": (1e3, 2e3, 4e3, 8e3)},
    exponent=-1,
)
SLOPE = claims.tends_to(
    "L (k_L - k) / k",
    lambda r: r.x.solved_depth * r.sim.solved.gap,
    lambda r: r.theory.gap,
    over={"solved_depth": (100, 1e3, 1e4)},
)

theorem = claims.Theorem(
    space=problem.problem_space(
        depth=claims.Real(1, depths.DEEPEST, log=True), solved_depth=claims.Real(1, 1e4, log=True)
    ),
    simulate=simulate,
    predict=_predict(problem.norm_ratio),
    claims=(EQ_6, BEYOND),
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
        claims.Reading(
            "at any depth",
            claims.Finding("that Eq. 5, solved, is where networks of such depths come to"),
            claims=(SOLVED,),
        ),
    ),
    mutants=(
        claims.Mutant("the source keeps its norm", predict=_predict(lambda x: 1.0)),
        claims.Mutant(
            "half of the depth",
            of=("at any depth",),
            simulate=_at_depth(lambda x: (x.depth + 1) / 2),
        ),
        claims.Mutant(
            "two layers at any depth", simulate=_at_depth(lambda x: jnp.full_like(x.depth, 2))
        ),
    ),
    instances=16,
    mutant_instances=16,
    integrates=True,
)
