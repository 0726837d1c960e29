"""The law of both risks for normal samples, from rows drawn one by one.

Behind Theorem 5.4 of Shachaf et al. (2021): that theorem is checked with draws of P_perp on the
plane of the teachers from its law (`_gaussian_rows`), which costs the same for any n and d. Here
the rows of X are drawn themselves, up to four of them in up to eight dimensions, and the means of
bounded functions of both risks are compared. The risks' own means are infinite for n <= 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Finding, Instance, Mutant, Theorem, equal
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian


class Both(NamedTuple):
    """Risks from drawn rows, and from the law of their compression."""

    drawn: gaussian.Risks
    law: gaussian.Risks


def _simulate(change: Callable[[gaussian.Compression], gaussian.Compression]) -> Callable:
    def simulate(x: Instance, key) -> Both:
        drawn = gaussian.from_rows(key, *gaussian.counts(x))
        law = change(gaussian.from_wishart(key, *gaussian.counts(x)))
        return Both(gaussian.risks(x, drawn), gaussian.risks(x, law))

    return simulate


def _bounded_mean(r, risk: Float[Array, " keys"]) -> Float[Array, ""]:
    """E of a bounded increasing function of the risk."""
    relative = risk / r.x.target_norm**2
    return r.mean(relative / (1 + relative))


theorem = Theorem(
    space=gaussian.plane_space(),
    hypotheses={
        "d >= 2": gaussian.has_plane,
        "n, d - n <= 4": lambda x: gaussian.FEW_ROWS - jnp.maximum(*gaussian.counts(x)),
    },
    simulate=_simulate(lambda plane: plane),
    claims=(
        equal(
            "law of R(beta)",
            lambda r: _bounded_mean(r, r.sim.drawn.deep),
            lambda r: _bounded_mean(r, r.sim.law.deep),
        ),
        equal(
            "law of R(gamma)",
            lambda r: _bounded_mean(r, r.sim.drawn.shallow),
            lambda r: _bounded_mean(r, r.sim.law.shallow),
        ),
    ),
    source=Finding("the law with which Theorem 5.4 is checked"),
    printed="rows drawn one by one",
    mutants=(
        Mutant(
            "without P_perp",
            simulate=_simulate(lambda plane: plane._replace(orthogonal=jnp.eye(2))),
        ),
    ),
    keys=512,
    instances=48,
)
