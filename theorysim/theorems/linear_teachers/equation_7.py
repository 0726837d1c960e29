"""In the limit of infinite depth the risk forgets the norm of the source.

Eq. 7 of Shachaf et al. (2021) and the prose below it: the risk is ||Sigma^(1/2) P_perp (theta_T - k
theta_S)||^2 with k = ||P_par theta_T|| / ||P_par theta_S||, so it depends on the direction of the
source only and scales with the square of the target's norm. The limit of the flow at any depth is
Theorem 5.2's (checked there, and in theorem-5.2-infinite-depth). Left out are teachers orthogonal
to all samples, where k is no number or training ends in a saddle. Sigma is printed as the
covariance of D; see Theorem 4.1.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.theorems.linear_teachers import _problem as problem

# The least share of a teacher inside the data.
SEEN = 1e-3


class Risks(NamedTuple):
    """Population risks of the limit in time, at infinite depth but for the first."""

    finite: Float[Array, ""]
    infinite: Float[Array, ""]
    source_rescaled: Float[Array, ""]
    target_rescaled: Float[Array, ""]


def _simulate(infinite_limit: Callable = deep_limit.infinite_depth_limit) -> Callable:
    def simulate(x: claims.Instance, key) -> Risks:
        def at_infinity(start, teacher):
            return problem.risk(x, infinite_limit(problem.data(x), start, teacher), teacher)

        finite = deep_limit.limit(*problem.task(x), x.depth)
        return Risks(
            problem.risk(x, finite, problem.target(x)),
            at_infinity(problem.source(x), problem.target(x)),
            at_infinity(x.factor * problem.source(x), problem.target(x)),
            at_infinity(problem.source(x), x.factor * problem.target(x)),
        )

    return simulate


def _predict(form: Callable, coefficient: Callable = problem.norm_ratio) -> Callable:
    def predict(x: claims.Instance) -> Float[Array, ""]:
        kept = problem.target(x) - coefficient(x) * problem.source(x)
        return form(x, problem.outside(x, kept))

    return predict


def _seen(x: claims.Instance) -> Float[Array, ""]:
    """Margin of the teachers' shares inside the data: Eq. 6 has their ratio."""
    directions = x.source_direction, x.target_direction
    return jnp.min(jnp.stack([jnp.linalg.norm(problem.inside(x, v)) for v in directions])) - SEEN


EQ_7 = claims.equal("R(beta) (Eq. 7)", lambda r: r.sim.infinite, lambda r: r.theory)
IN_DEPTH = claims.tends_to(
    "depth to infinity",
    lambda r: r.sim.finite,
    lambda r: r.theory,
    over={"depth": (10, 100, 1e3, 1e4)},
)
ANY_SOURCE = claims.equal(
    "any norm of theta_S", lambda r: r.sim.source_rescaled, lambda r: r.sim.infinite
)
SQUARE = claims.equal(
    "square of the norm of theta_T",
    lambda r: r.sim.target_rescaled,
    lambda r: r.x.factor**2 * r.sim.infinite,
)


theorem = claims.Theorem(
    space=problem.problem_space(
        depth=claims.Real(1, 1e6, log=True),
        factor=claims.Real(1e-3, 1e3, log=True),
        **problem.distribution_fields(),
    ),
    simulate=_simulate(),
    predict=_predict(problem.covariance_form),
    claims=(EQ_7, IN_DEPTH, ANY_SOURCE, SQUARE),
    hypotheses={"P_par theta_S, P_par theta_T are not 0": _seen},
    source=claims.Printed(
        "Section 5.1, Eq. 7, and the text below it",
        "R(beta) = ||Sigma^(1/2) P_perp (theta_T - (||P_par theta_T|| / ||P_par theta_S||) "
        "theta_S)||^2; it depends on ||theta_T|| (theta_T^ - theta_S^), i.e. the product of the "
        "norm of theta_T and the difference of the normalized theta_T and theta_S",
    ),
    note="Eq. 7 takes the covariance of D, which is not assumed to be centred; the text holds",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("Sigma is the second moment of D"),
            predict=_predict(problem.moment_form),
            primary=True,
            note="Sigma is the second moment of D, its covariance only where D is centred",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the source keeps its norm", predict=_predict(problem.moment_form, lambda x: 1.0)
        ),
        claims.Mutant(
            "a single layer for infinite depth",
            of=("as printed", "corrected"),
            simulate=_simulate(functools.partial(deep_limit.limit, depth=1)),
        ),
    ),
    survivors={
        IN_DEPTH.name: "a false limit leaves a distance that neither falls nor grows: inconclusive"
    },
)
