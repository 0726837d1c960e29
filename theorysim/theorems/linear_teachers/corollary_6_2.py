"""The complexity of linear labels is at most three times the distance of the teachers.

Corollary 6.2 of Shachaf et al. (2021): sqrt(y~^T H^(-1) y~) <= 3 ||theta_T - theta_S||, where H is
the tangent Gram matrix of unit rows and y~ = X Delta. Labels are printed as X^T theta, which exists
only for n = d where X has samples as rows (Section 3). The factor 3 can be 2, which opposite rows
approach: H is at least X X^T / 4, since arcsin has a series of positive coefficients.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular

from theorysim.claims import (
    Choice,
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    UnitVector,
    at_most,
)
from theorysim.numerics.kernels import tangent_gram
from theorysim.numerics.products import dot


def _rows(x: Instance):
    """Unit rows, between random and clustered around one line; at most d of them, on both sides."""
    side = jnp.where(x.both_sides * x.sides < 0, -1.0, 1.0)
    rows = side[:, None] * x.centre + x.spread * x.scatter
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


def _simulate(labels):
    """sqrt(y~^T H^(-1) y~) for the given teachers' difference and for the worst one of norm one."""

    def simulate(x: Instance, key):
        linear = labels(_rows(x))
        factor = jnp.linalg.cholesky(tangent_gram(_rows(x), _rows(x)))
        whitened = solve_triangular(factor, linear, lower=True)
        return {
            "given": jnp.linalg.norm(dot(whitened, x.difference)),
            "worst": jnp.linalg.norm(whitened, ord=2),
        }

    return simulate


def _transposed(rows):
    square = rows.shape[0] == rows.shape[1]
    return rows.T if square else jnp.full_like(rows, jnp.nan)


def _claims(constant: float) -> tuple:
    def distance(r):
        return constant * jnp.linalg.norm(r.x.difference)

    return (
        at_most("sqrt(y~ H^-1 y~)", lambda r: r.sim["given"], distance),
        at_most("worst theta_T - theta_S", lambda r: r.sim["worst"], lambda r: constant),
    )


theorem = Theorem(
    space=Space(
        d=Size(4, high=128),
        n=Size(4, high=128),
        scatter=Gaussian("n", "d"),
        centre=UnitVector("d"),
        spread=Real(1e-3, 1e3, log=True),
        sides=Gaussian("n"),
        both_sides=Choice(0.0, 1.0),
        difference=Gaussian("d"),
    ),
    simulate=_simulate(_transposed),
    claims=_claims(3.0),
    hypotheses={"n = d, so that X^T theta exists": lambda x: -1.0 * (x.n != x.d)},
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            simulate=_simulate(lambda rows: rows),
            hypotheses={},
            primary=True,
            note="labels are X theta: with samples as rows the transposes in print are misplaced",
        ),
        Reading(
            "2 for the factor 3",
            Printed("", ""),
            simulate=_simulate(lambda rows: rows),
            claims=_claims(2.0),
            hypotheses={},
            note="the best factor: two opposite rows attain it in the limit",
        ),
    ),
    mutants=(
        Mutant(
            "factor 1",
            simulate=_simulate(lambda rows: rows),
            claims=_claims(1.0),
        ),
    ),
)
