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
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    REGULAR,
    problem_space,
    solve,
    source,
    source_gram,
    target,
    transferred,
)


class Parts(NamedTuple):
    """What the displays are made of."""

    start: Float[Array, " q"]
    """u_Q(0)"""
    end: Float[Array, " q"]
    """u_Q(P)"""
    lead: Float[Array, " md"]
    """Z_P(0) H_P^(-1) y_P"""
    eps: Float[Array, " md"]
    eps_prime: Float[Array, " q"]
    z_start: Float[Array, "md q"]
    """Z_Q(0)"""
    z_end: Float[Array, "md q"]
    """Z_Q(P)"""


def simulate(x: claims.Instance, key) -> Parts:
    path, inputs = training.paths(x, training.started(x, key)), target(x).inputs
    ends = path.source[jnp.array([0, -1])]
    start, end = training.outputs(ends, path.signs, inputs)
    z_start, z_end = training.features(ends, path.signs, inputs)
    z_source = training.features(ends[0], path.signs, source(x).inputs)
    lead, change = dot(z_source, solve(source_gram(x), x.source_labels)), training.vec(ends)
    moved = change[1] - change[0]
    linear = dot(z_start.T, moved)
    return Parts(start, end, lead, moved - lead, end - start - linear, z_start, z_end)


def _square(vector):
    return jnp.sum(jnp.square(vector))


def _printed(r):
    p, y, t = r.sim, r.x.target_labels, transferred(r.x)
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


def _corrected(factor: float = 2.0, sign: float = -1.0):
    """Terms in u_Q(0) with a factor, the last ones with a sign."""

    def expand(r):
        p, y, t = r.sim, r.x.target_labels, transferred(r.x)
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

    return expand


def _expansion(side) -> tuple:
    return (claims.equal("|dL/dX1|^2", lambda r: _square(r.sim.end - r.x.target_labels), side),)


theorem = claims.Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=claims.Real(0.05, 0.95)),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=_expansion(_printed),
    source=claims.Printed(
        "Appendix C.1, Eq. 24",
        "||dL/dX^1||^2 = ||dL_0/dX^1||^2 + |t|^2 - 2 y_Q^T t + |eps'|^2 + 2 eps'^T Z_Q(P)^T "
        "Z_P(0) H_P^(-1) y_P + 2 eps'^T Z_Q(P)^T eps + ... + 2 y_Q (Z_Q(P)^T Z_P(0) - H_PQ^T) "
        "H_P^(-1) y_P",
    ),
    note="the features that Eq. 22 expands in are those of the start; some factors are lost",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected(
                "Z_Q(0), |Z_Q(0)^T eps|^2, 2 u_Q(0), -2 y_Q and the missing cross terms"
            ),
            claims=_expansion(_corrected()),
            primary=True,
            note="the square of Eq. 22, multiplied out",
        ),
    ),
    mutants=(
        claims.Mutant("u_Q(0) without its factor 2", claims=_expansion(_corrected(factor=1.0))),
        claims.Mutant("+2 y_Q for -2 y_Q", claims=_expansion(_corrected(sign=1.0))),
    ),
    instances=32,
    mutant_instances=32,
)
