"""The activation gradient after pretraining, term by term.

Eq. 24 of Liu et al. (2019): ||dL/dX^1||^2 = ||dL_0/dX^1||^2 + |t|^2 - 2 y_Q^T t + perturbations,
with t = y_(P->Q), eps' = u_Q(P) - u_Q(0) - Z_Q(0)^T (W(P) - W(0)) and eps = W(P) - W(0) -
Z_P(0) H_P^(-1) y_P (Eq. 22). In print Z_Q(P) stands for Z_Q(0), |eps|^2 for |Z_Q(0)^T eps|^2, the
terms in u_Q(0) lack their factor 2 and the last one its sign, and two terms in y_Q and one with t
are missing.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._generic import LABELLED


class Parts(NamedTuple):
    """u_Q(0) and u_Q(P), Z_P(0) H_P^(-1) y_P, both errors, Z_Q(0) and Z_Q(P)."""

    start: Float[Array, " q"]
    end: Float[Array, " q"]
    lead: Float[Array, " md"]
    eps: Float[Array, " md"]
    eps_prime: Float[Array, " q"]
    z_start: Float[Array, "md q"]
    z_end: Float[Array, "md q"]


def simulate(x: claims.Instance, key) -> Parts:
    path, inputs = training.paths(x, training.started(x, key)), problem.target(x).inputs
    ends = path.source[jnp.array([0, -1])]
    start, end = training.outputs(ends, path.signs, inputs)
    z_start, z_end = training.features(ends, path.signs, inputs)
    z_source = training.features(ends[0], path.signs, problem.source(x).inputs)
    lead = dot(z_source, problem.solve(problem.source_gram(x), x.source_labels))
    change = training.vec(ends)
    moved = change[1] - change[0]
    linear = dot(z_start.T, moved)
    return Parts(start, end, lead, moved - lead, end - start - linear, z_start, z_end)


def _square(vector):
    return jnp.sum(jnp.square(vector))


def _printed(r):
    p, y, t = r.sim, r.x.target_labels, problem.transferred(r.x)
    lead, drift = dot(p.z_end.T, p.lead), dot(p.z_end.T, p.eps)
    return (
        _square(p.start - y)
        + _square(t)
        - 2 * jnp.sum(y * t)
        + _square(p.eps_prime)
        + 2 * jnp.sum(p.eps_prime * lead)
        + 2 * jnp.sum(p.eps_prime * drift)
        + _square(lead - t)
        + _square(p.eps)
        + 2 * jnp.sum(drift * lead)
        + jnp.sum(p.start * (lead + drift + p.eps_prime))
        + 2 * jnp.sum(y * (lead - t))
    )


def _corrected(r, factor: float = 2.0, sign: float = -1.0):
    """Terms in u_Q(0) with a factor, the last ones with a sign."""
    p, y, t = r.sim, r.x.target_labels, problem.transferred(r.x)
    lead, drift = dot(p.z_start.T, p.lead), dot(p.z_start.T, p.eps)
    return (
        _square(p.start - y)
        + _square(t)
        - 2 * jnp.sum(y * t)
        + _square(p.eps_prime)
        + 2 * jnp.sum(p.eps_prime * (lead + drift))
        + _square(lead - t)
        + 2 * jnp.sum((lead - t) * t)
        + _square(drift)
        + 2 * jnp.sum(drift * lead)
        + factor * jnp.sum(p.start * (lead + drift + p.eps_prime))
        + sign * 2 * jnp.sum(y * (lead - t + drift + p.eps_prime))
    )


printed = claims.equal("|dL/dX1|^2", lambda r: _square(r.sim.end - r.x.target_labels), _printed)
one_start = printed.against(lambda r: _corrected(r, factor=1.0))
plus_labels = printed.against(lambda r: _corrected(r, sign=1.0))


theorem = claims.Theorem(
    space=training.training_space(),
    assumes=(problem.REGULAR,),
    hypotheses=LABELLED,
    simulate=simulate,
    claims=(printed,),
    source=claims.Printed(
        "Appendix C.1, Eq. 24",
        "... + |eps'|^2 + 2 eps'^T Z_Q(P)^T Z_P(0) H_P^(-1) y_P + 2 eps'^T Z_Q(P)^T eps + ... + "
        "2 y_Q (Z_Q(P)^T Z_P(0) - H_PQ^T) H_P^(-1) y_P",
    ),
    note="the features that Eq. 22 expands in are those of the start; some factors are lost",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected(
                "Z_Q(0), |Z_Q(0)^T eps|^2, 2 u_Q(0), -2 y_Q and the missing cross terms"
            ),
            claims=(printed.against(_corrected),),
            hypotheses={},
            primary=True,
            note="the square of Eq. 22, multiplied out",
        ),
    ),
    mutants=(
        claims.Mutant("u_Q(0) without its factor 2", claims=(one_start,)),
        claims.Mutant("+2 y_Q for -2 y_Q", claims=(plus_labels,)),
    ),
    instances=32,
    mutant_instances=32,
)
