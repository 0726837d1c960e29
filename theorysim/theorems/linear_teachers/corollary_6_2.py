"""The complexity of linear labels is at most three times the distance of the teachers.

Corollary 6.2 of Shachaf et al. (2021): sqrt(y~^T H^(-1) y~) <= 3 ||theta_T - theta_S||, where H is
the tangent Gram matrix of unit rows and y~ = X Delta. The factor 3 can be 2: H is at least X X^T /
4, since arcsin has a series of positive coefficients.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.kernels import tangent_gram
from theorysim.numerics.products import dot


def _rows(x: claims.Instance) -> Float[Array, "n d"]:
    """Unit rows, between random and clustered around one line; at most d of them, on both sides."""
    side = jnp.where(x.both_sides * x.sides < 0, -1.0, 1.0)
    rows = side[:, None] * x.centre + x.spread * x.scatter
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


def _simulate(labels: Callable) -> Callable:
    """sqrt(y~^T H^(-1) y~) of labels that are `labels(X)` times the given or the worst teacher."""

    def simulate(x: claims.Instance, key) -> tuple:
        factor = jnp.linalg.cholesky(tangent_gram(_rows(x), _rows(x)))
        whitened = solve_triangular(factor, labels(_rows(x)), lower=True)
        given = jnp.linalg.norm(dot(whitened, x.difference))
        return given, jnp.linalg.norm(whitened, ord=2)

    return simulate


def _transposed(rows: Float[Array, "n d"]) -> Float[Array, "n d"]:
    return rows.T if rows.shape[0] == rows.shape[1] else jnp.full_like(rows, jnp.nan)


def _claims(constant: float) -> tuple:
    distance = lambda r: constant * jnp.linalg.norm(r.x.difference)  # noqa: E731
    says = f"sqrt(y~^T H^(-1) y~) <= {constant:g} ||theta_T - theta_S||"
    return (
        claims.at_most("sqrt(y~ H^-1 y~)", lambda r: r.sim[0], distance, statement=says),
        claims.at_most("worst theta_T - theta_S", lambda r: r.sim[1], lambda r: constant),
    )


AS_ROWS = _simulate(lambda rows: rows)

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(4, high=128),
        n=claims.Size(4, high=128),
        scatter=claims.Gaussian("n", "d"),
        centre=claims.UnitVector("d"),
        spread=claims.Real(1e-3, 1e3, log=True),
        sides=claims.Gaussian("n"),
        both_sides=claims.Choice(0.0, 1.0),
        difference=claims.Gaussian("d"),
    ),
    simulate=_simulate(_transposed),
    claims=_claims(3.0),
    hypotheses={"n = d, so that X^T theta exists": lambda x: -1.0 * (x.n != x.d)},
    source=claims.Printed("Section 6, Corollary 6.2", "g_S(X) = X^T theta_S, g_T(X) = X^T theta_T"),
    note="samples are the rows of X (Section 3), so X^T theta is defined for n = d only and wrong",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("labels are X theta instead of X^T theta"),
            simulate=AS_ROWS,
            hypotheses={},
            primary=True,
            note="labels are X theta: with samples as rows the transposes in print are misplaced",
        ),
        claims.Reading(
            "2 for the factor 3",
            claims.Finding("the best factor"),
            simulate=AS_ROWS,
            claims=_claims(2.0),
            hypotheses={},
            note="two opposite rows attain the factor 2 in the limit",
        ),
    ),
    mutants=(claims.Mutant("half of the factor", claims=_claims(1.5)),),
)
