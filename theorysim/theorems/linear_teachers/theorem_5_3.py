"""Where the teachers differ in norm only, infinite depth finds the target and one layer does not.

Theorem 5.3 of Shachaf et al. (2021), Eq. 8, for theta_T = alpha theta_S, by default with a single
sample. The single layer is trained by gradient descent, networks of depth 4 to 128 by gradient
flow; for the rate in the depth, up to 10^7, the limit in time is the solution of Eq. 5
(theorem-5.2-infinite-depth). Sigma is printed as the covariance of D; see Theorem 4.1. Eq. 6, on
which the theorem rests, divides by ||P_par theta_S||: a sample orthogonal to theta_S teaches
nothing. That the risk of one layer is not zero fails where P_perp theta_S = 0, where alpha = 1, and
for samples that span the inputs of D, whose covariance is then singular (n < d).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import linear_regression as regression
from theorysim.theorems.linear_teachers import _depth as depths
from theorysim.theorems.linear_teachers import _problem as problem

STEPS, EVERY = 1000, 50
DEPTHS = (4, 8, 16, 32, 64, depths.DEEPEST)

# The least share of theta_S inside the data.
SEEN = 1e-3


def _target(x: claims.Instance):
    return x.alpha * problem.source(x)


class Risks(NamedTuple):
    """Risks along descent of one layer, and the end of the flow at the depth."""

    one_layer: Float[Array, " times"]
    deep: depths.Trained


class Formulas(NamedTuple):
    """What is printed for infinite depth and for one layer."""

    deep: Float[Array, ""]
    one_layer: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Risks:
    rate = x.rate_share * regression.largest_learning_rate(problem.data(x))
    labels = problem.outputs(x, _target(x))
    path = regression.train(problem.data(x), labels, problem.source(x), rate, STEPS, every=EVERY)
    return Risks(
        problem.last_axis_time(problem.risk(x, path, _target(x))),
        depths.trained(x, _target(x), x.depth),
    )


def _solve(x: claims.Instance, key) -> Float[Array, ""]:
    """The risk of the solution of Eq. 5 at another depth."""
    limit = deep_limit.limit(problem.data(x), problem.source(x), _target(x), x.solved_depth)
    return problem.risk(x, limit, _target(x))


def _seen(x: claims.Instance) -> Float[Array, ""]:
    """Margin of the share of theta_S inside the data."""
    return jnp.linalg.norm(problem.inside(x, x.source_direction)) - SEEN


def _predict(form: Callable, deep: Callable = lambda x: 0.0, factor: float = 1.0) -> Callable:
    def predict(x: claims.Instance) -> Formulas:
        shared = form(x, problem.outside(x, _target(x)))
        one_layer = factor * ((x.alpha - 1) / x.alpha) ** 2 * shared
        return Formulas(deep(x) * shared, one_layer)

    return predict


def _left(x: claims.Instance) -> Float[Array, ""]:
    """Directions in which inputs of D are left when the samples are known."""
    return x.d - x.flat - x.n


NOT_ZERO = claims.at_least(
    "R(gamma) is not 0",
    lambda r: r.limit(r.sim.one_layer),
    lambda r: 0.0,
    strict=True,
    where=lambda r: -1.0 * (r.x.alpha == 1),
)

theorem = claims.Theorem(
    space=problem.problem_space(
        n=claims.Size(1, high=64),
        alpha=claims.Real(0.1, 10, log=True),
        depth=claims.Real(1, depths.DEEPEST, log=True),
        solved_depth=claims.Real(1, 1e7, log=True),
        rate_share=claims.Real(0.1, 0.95),
        **problem.distribution_fields(),
    ),
    simulate=simulate,
    predict=_predict(problem.covariance_form),
    claims=(
        claims.tends_to(
            "R(beta) = 0",
            lambda r: problem.risk(r.x, r.sim.deep.weights, _target(r.x)),
            lambda r: r.theory.deep,
            over={"depth": DEPTHS},
            where=lambda r: r.sim.deep.vanished,
        ),
        claims.equal(
            "R(gamma) (Eq. 8)", lambda r: r.limit(r.sim.one_layer), lambda r: r.theory.one_layer
        ),
        NOT_ZERO,
    ),
    hypotheses={"P_par theta_S is not 0": _seen},
    source=claims.Printed(
        "Section 5.1, Theorem 5.3, Eq. 8",
        "theta_T = alpha theta_S: R(beta) = 0, R(gamma) = ((alpha - 1) / alpha)^2 "
        "||Sigma^(1/2) P_perp theta_T||^2 != 0 for alpha != 1, alpha > 0",
    ),
    note="Eq. 8 takes the covariance of D, which is not assumed to be centred",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("Sigma is the second moment of D, of a rank above n"),
            predict=_predict(problem.moment_form),
            hypotheses={
                "P_par theta_S is not 0": _seen,
                "n < rank of E x x^T": lambda x: _left(x) - 1.0,
            },
            primary=True,
            note="Sigma is the second moment of D, its covariance only where D is centred; "
            "samples that span all inputs leave no risk",
        ),
        claims.Reading(
            "rate in the depth",
            claims.Finding("how fast the limit in depth is approached"),
            simulate=_solve,
            claims=(
                claims.scales_as(
                    "R(beta) ~ L^-2",
                    lambda r: r.sim,
                    over={"solved_depth": (1e4, 1e5, 1e6, 1e7)},
                    exponent=-2,
                ),
            ),
        ),
    ),
    mutants=(
        claims.Mutant(
            "one layer's risk at any depth",
            of=("as printed", "corrected"),
            predict=_predict(problem.moment_form, lambda x: ((x.alpha - 1) / x.alpha) ** 2, 0.5),
        ),
        claims.Mutant(
            "two layers at any depth",
            simulate=lambda x, key: simulate(x.replace(depth=jnp.full((), 2.0)), key),
        ),
        claims.Mutant("one layer finds the target, too", claims=(NOT_ZERO.reversed(),)),
    ),
    instances=32,
    mutant_instances=16,
    integrates=True,
)
