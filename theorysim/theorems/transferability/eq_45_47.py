"""The residual before fine-tuning is the mismatch of the tasks plus errors.

Below Eq. 45 of Liu et al. (2019), "using equation 22": y_Q - u_Q(P) = y_Q - (Z_Q(0)^T (Z_P(0)
H_P^(-1) y_P + eps) + eps') - u_Q(0) = y_Q - y_(P->Q) + (H_PQ^T - Z_Q(0)^T Z_P(0)) H_P^(-1) y_P -
Z_Q(0)^T eps - eps' + u_Q(0): the second line has u_Q(0) with the wrong sign. Eq. 47 calls the
errors eps_4; transferability/eq-48 bounds what they change, and transferability/eq-36-48 has their
order.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED


class Observed(NamedTuple):
    """y_Q - u_Q(P), u_Q(0), Z_Q(0)^T Z_P(0) H_P^(-1) y_P, Z_Q(0)^T eps and eps'."""

    residual: Float[Array, " q"]
    start: Float[Array, " q"]
    lead: Float[Array, " q"]
    drift: Float[Array, " q"]
    eps_prime: Float[Array, " q"]


def simulate(x: claims.Instance, key) -> Observed:
    path, inputs = training.paths(x, training.started(x, key)), problem.target(x).inputs
    ends = path.source[jnp.array([0, -1])]
    start, end = training.outputs(ends, path.signs, inputs)
    change = training.vec(ends[1] - ends[0])
    z_target = training.features(ends[0], path.signs, inputs)
    z_source = training.features(ends[0], path.signs, problem.source(x).inputs)
    lead = dot(z_source, problem.solve(problem.source_gram(x), x.source_labels))
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


def _second_line(r, sign: float = -1.0):
    errors = problem.transferred(r.x) - r.sim.lead - r.sim.drift - r.sim.eps_prime
    return problem.mismatch(r.x) + errors + sign * r.sim.start


first = claims.equal("first line", lambda r: r.sim.residual, _first_line)
second = claims.equal("second line", lambda r: r.sim.residual, _second_line)
printed = second.against(lambda r: _second_line(r, 1.0))
plus = first.against(lambda r: _first_line(r) + 2 * r.sim.start)

theorem = claims.Theorem(
    space=training.training_space(),
    assumes=(problem.REGULAR,),
    hypotheses=LABELLED,
    simulate=simulate,
    claims=(first, printed),
    source=claims.Printed("below Eq. 45, and Eq. 47", "... - Z_Q(0)^T eps - eps' + u_Q(0)"),
    note="u_Q(0) has a minus sign in the first line, and gets a plus sign in the second",
    aliases=("eq-47",),
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("-u_Q(0) in the second line, as in the first"),
            claims=(first, second),
            hypotheses={},
            primary=True,
            note="Eq. 22, rearranged",
        ),
    ),
    mutants=(claims.Mutant("u_Q(0) with a plus sign", claims=(plus, printed)),),
    instances=32,
    mutant_instances=32,
)
