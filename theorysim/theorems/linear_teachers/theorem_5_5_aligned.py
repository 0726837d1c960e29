"""Frozen layers succeed where the teachers are aligned, from a single sample.

Section 5.2 of Shachaf et al. (2021), below Theorem 5.5: "fine-tuning essentially fails completely",
independently of the target task. In the setting of Theorem 5.3, theta_T = alpha theta_S, which
meets Assumption 3.3 with frozen layers, too, c of Theorem 5.5 comes to alpha: the risk vanishes at
any depth, here of three layers with the first one frozen. Where P_perp theta_S != 0, of which the
printed claim is asked, one trained layer keeps the risk of Eq. 8. That the error "cannot be reduced
with additional target data" is not refuted: one sample leaves nothing that could be reduced.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH, FROZEN = 3, 1

# In units of the decay of c - alpha at its slowest: exp(-32) of it is left.
LAST = 32.0


class Ends(NamedTuple):
    """The risk before fine-tuning and after it."""

    before: Float[Array, ""]
    after: Float[Array, ""]


def _teacher(x: claims.Instance) -> Float[Array, " d"]:
    """theta_T = alpha theta_S."""
    return x.alpha * problem.source(x)


def _unseen(x: claims.Instance) -> Float[Array, ""]:
    """||P_perp theta_S|| / ||theta_S||, beyond what rounding leaves of zero."""
    return jnp.linalg.norm(problem.outside(x, x.source_direction)) - 1e-9


def _simulate(teacher: Callable = _teacher) -> Callable:
    """Gradient flow of the later layers, between whose ends c comes from 1 to its limit."""

    def simulate(x: claims.Instance, key) -> Ends:
        fitted = jnp.sum(jnp.square(problem.outputs(x, problem.source(x))))
        # d ln c / dt = -(2 K / n) ||theta_S||^(-2/L) ||X theta_S||^2 (c - alpha), K = L - 1 = 2.
        slowest = 4 / x.n * fitted * x.source_norm ** (-2 / DEPTH) * jnp.minimum(x.alpha, 1)
        path = deep.frozen_flow(
            deep.balanced(x, key, DEPTH, problem.source(x)),
            problem.data(x),
            problem.outputs(x, teacher(x)),
            jnp.array([0.0, LAST]) / slowest,
            FROZEN,
            x.tolerance_scale,
        )
        return Ends(*problem.risk(x, path, teacher(x)))

    return simulate


NO_BETTER = claims.at_least(
    "R is not reduced",
    lambda r: r.sim.after,
    lambda r: r.sim.before,
    where=lambda r: -1.0 * (r.x.alpha == 1),
)

BELOW = {"n < d": lambda x: x.d - x.n - 1.0}

theorem = claims.Theorem(
    space=problem.problem_space(
        n=claims.Size(1, high=64),
        alpha=claims.Real(0.1, 10, log=True),
        **problem.distribution_fields(),
    ),
    simulate=_simulate(),
    claims=(NO_BETTER,),
    hypotheses={**BELOW, "P_perp theta_S != 0": claims.strict(_unseen)},
    source=claims.Printed(
        "Section 5.2, below Theorem 5.5",
        "independently of the target task. Thus, fine-tuning essentially fails completely",
    ),
    note="aligned teachers differ by what frozen layers can learn, a factor: no risk is left",
    readings=(
        claims.Reading(
            "aligned teachers",
            claims.Corrected("only what is not a multiple of theta_S cannot be learned"),
            hypotheses=BELOW,
            claims=(
                claims.at_most(
                    "R vanishes",
                    lambda r: r.sim.after,
                    lambda r: deep.VANISHED * r.sim.before,
                    where=lambda r: -1.0 * (r.x.alpha == 1),
                ),
            ),
            primary=True,
            note="for theta_T = alpha theta_S frozen layers find the target with a single sample",
        ),
    ),
    mutants=(claims.Mutant("teachers that are not aligned", simulate=_simulate(problem.target)),),
    instances=16,
    mutant_instances=16,
    integrates=True,
)
