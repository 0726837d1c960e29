"""The residual before fine-tuning is the mismatch of the tasks plus errors.

Below Eq. 45 of Liu et al. (2019), "using equation 22": y_Q - u_Q(P) = y_Q - (Z_Q(0)^T (Z_P(0)
H_P^(-1) y_P + eps) + eps') - u_Q(0) = y_Q - y_(P->Q) + (H_PQ^T - Z_Q(0)^T Z_P(0)) H_P^(-1) y_P -
Z_Q(0)^T eps - eps' + u_Q(0): the second line has u_Q(0) with the wrong sign. Eq. 47 calls the
errors eps_4; transferability/eq-48 bounds what they change.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    REGULAR,
    mismatch,
    problem_space,
    solve,
    source,
    source_gram,
    target,
    transferred,
)


class Observed(NamedTuple):
    """Real outputs before and after pretraining, and the paper's error terms."""

    residual: Float[Array, " q"]
    """y_Q - u_Q(P)"""
    start: Float[Array, " q"]
    """u_Q(0)"""
    lead: Float[Array, " q"]
    """Z_Q(0)^T Z_P(0) H_P^(-1) y_P"""
    drift: Float[Array, " q"]
    """Z_Q(0)^T eps"""
    eps_prime: Float[Array, " q"]


def simulate(x: claims.Instance, key) -> Observed:
    path, inputs = training.paths(x, training.started(x, key)), target(x).inputs
    ends = path.source[jnp.array([0, -1])]
    start, end = training.outputs(ends, path.signs, inputs)
    change = training.vec(ends[1] - ends[0])
    z_target, z_source = (
        training.features(ends[0], path.signs, task(x).inputs) for task in (target, source)
    )
    lead = dot(z_source, solve(source_gram(x), x.source_labels))
    return Observed(
        residual=x.target_labels - end,
        start=start,
        lead=dot(z_target.T, lead),
        drift=dot(z_target.T, change - lead),
        eps_prime=end - start - dot(z_target.T, change),
    )


def _first_line(r):
    s = r.sim
    return r.x.target_labels - (s.lead + s.drift + s.eps_prime) - s.start


def _second_line(sign: float):
    def line(r):
        errors = transferred(r.x) - r.sim.lead - r.sim.drift - r.sim.eps_prime
        return mismatch(r.x) + errors + sign * r.sim.start

    return line


first = claims.equal("first line", lambda r: r.sim.residual, _first_line)
second = claims.equal("second line", lambda r: r.sim.residual, _second_line(-1.0))

theorem = claims.Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=claims.Real(0.05, 0.95)),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=(first, second.against(_second_line(1.0))),
    source=claims.Printed(
        "below Eq. 45, and Eq. 47",
        "y_Q - u_Q(P) = y_Q - H_PQ^T H_P^(-1) y_P + (H_PQ^T - Z_Q(0)^T Z_P(0)) H_P^(-1) y_P - "
        "Z_Q(0)^T eps - eps' + u_Q(0)",
    ),
    note="u_Q(0) has a minus sign in the first line, and gets a plus sign in the second",
    aliases=("eq-45", "eq-47"),
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("-u_Q(0) in the second line, as in the first"),
            claims=(first, second),
            primary=True,
            note="Eq. 22, rearranged",
        ),
    ),
    mutants=(
        claims.Mutant(
            "u_Q(0) with a plus sign",
            claims=(
                first.against(lambda r: _first_line(r) + 2 * r.sim.start),
                second.against(_second_line(1.0)),
            ),
        ),
    ),
    instances=32,
    mutant_instances=32,
)
