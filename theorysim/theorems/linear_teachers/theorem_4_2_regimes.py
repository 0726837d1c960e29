"""Few samples make the top eigenvectors matter in the risk bound, many the bottom ones.

Prose below Theorem 4.2 of Shachaf et al. (2021): for g > 1 the bound mainly depends on
||P_top Delta|| and is low if the teachers agree on the top eigenvectors, for g < 1 on the bottom
ones. The prose is about the bound, so two values of its formula are compared, for differences of
one norm inside either span, and no samples are drawn; figure-1 has the risks. Both spans are
defined where lambda_m > lambda_(m+1). The threshold is not 1, which has no unit, but lambda_m.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.linear_regression import covariance_estimation
from theorysim.theorems.linear_teachers import _covariance_bound as rows


def _split(x: claims.Instance):
    """m in 1..d-1."""
    return 1 + jnp.floor(x.split * (rows.dimension(x) - 1) * (1 - 1e-12)).astype(int)


def simulate(x: claims.Instance, key) -> tuple:
    """g, and Eq. 3 for a unit difference in the top span and for one in the bottom span."""
    g = covariance_estimation(rows.eigenvalues(x), x.delta, x.samples)
    position = jnp.arange(x.largest)

    def bound(inside):
        difference = jnp.where(inside, x.difference, 0)
        unit = difference / jnp.linalg.norm(difference)
        return rows.diagonal_bound(rows.eigenvalues(x), unit, g)[_split(x) - 1]

    real = position < rows.dimension(x)
    top, bottom = position < _split(x), real & (position >= _split(x))
    return g, bound(top), bound(bottom)


def _claims(threshold: Callable) -> tuple:
    above = claims.strict(lambda r: r.sim[0] - threshold(r))
    below = claims.strict(lambda r: threshold(r) - r.sim[0])

    top, bottom = (lambda r: r.sim[1]), (lambda r: r.sim[2])
    return (
        claims.at_least("few samples: agree at the top", top, bottom, where=above),
        claims.at_most("many samples: agree at the bottom", top, bottom, where=below),
    )


def _split_eigenvalue(r):
    return rows.eigenvalues(r.x)[_split(r.x) - 1]


def _next_eigenvalue(r):
    return rows.eigenvalues(r.x)[_split(r.x)]


def _gap(x: claims.Instance):
    """lambda_m - lambda_(m+1)."""
    return rows.eigenvalues(x)[_split(x) - 1] - rows.eigenvalues(x)[_split(x)]


theorem = claims.Theorem(
    space=rows.covariance_space(
        split=claims.Real(0, 1), difference=claims.Real(0.1, 1, shape="largest")
    ),
    simulate=simulate,
    claims=_claims(lambda r: 1.0),
    hypotheses={"lambda_m > lambda_(m+1)": claims.strict(_gap)},
    source=claims.Printed(
        "Section 4.1, below Theorem 4.2",
        "for small enough n s.t. g > 1 the bound mainly depends on ||P_(<=m) (theta_T - theta_S)||"
        "; for large enough n s.t. g < 1 it mainly depends on ||P_(>m) (theta_T - theta_S)||",
    ),
    note="g scales with the inputs, so that no number without a unit separates the regimes: of "
    "small inputs a single sample has g < 1",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("the threshold of g is lambda_m instead of 1"),
            claims=_claims(_split_eigenvalue),
            primary=True,
            note="the two coefficients 2 g^3 / lambda_m^2 and 2 g cross at g = lambda_m, not at 1",
        ),
    ),
    mutants=(
        claims.Mutant("threshold lambda_1", claims=_claims(lambda r: rows.eigenvalues(r.x)[0])),
        claims.Mutant("threshold lambda_(m+1)", claims=_claims(_next_eigenvalue)),
    ),
)
