"""The law of P_perp on the plane of two teachers for normal samples, and one drawn row by row.

Section 5.1 of Shachaf et al. (2021), for inputs N(0, I). Both risks of Theorem 5.4 depend on the
2 x 2 matrix U, the compression of P_par to the plane of the teachers. U = C^(-1/2) A C^(-T/2) with
independent A ~ Wishart_2(n), B ~ Wishart_2(d - n) and C = A + B, so any n and d cost the same.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics.products import dot

FEW_ROWS = 4


class Compression(NamedTuple):
    """P_par and P_perp restricted to the plane; their sum is the identity."""

    parallel: Float[Array, "2 2"]
    orthogonal: Float[Array, "2 2"]


class Risks(NamedTuple):
    """R(beta) of infinite depth (Eq. 7) and R(gamma) of one layer (Eq. 2), Sigma = I."""

    deep: Float[Array, ""]
    shallow: Float[Array, ""]


def plane_space() -> claims.Space:
    """Counts of samples and of further dimensions, and teachers by angle and norms."""
    return claims.Space(
        samples=claims.Real(1, 1e5, log=True),
        rest=claims.Real(0.5, 1e5, log=True),
        angle=claims.Real(0, jnp.pi),
        source_norm=claims.Real(0.3, 3, log=True),
        target_norm=claims.Real(0.3, 3, log=True),
        epsilon=claims.Real(0.1, 32, log=True),
    )


def counts(x: claims.Instance) -> tuple[Array, Array]:
    """n and d - n."""
    return jnp.floor(x.samples), jnp.floor(x.rest)


def has_plane(x: claims.Instance) -> Array:
    """Margin of d >= 2."""
    return jnp.add(*counts(x)) - 2


def teachers(x: claims.Instance) -> tuple[Float[Array, "2"], Float[Array, "2"]]:
    """theta_S and theta_T in coordinates of their plane."""
    direction = jnp.stack([jnp.cos(x.angle), jnp.sin(x.angle)])
    return x.source_norm * jnp.array([1.0, 0.0]), x.target_norm * direction


def risks(x: claims.Instance, plane: Compression) -> Risks:
    """Both risks for a draw of the projections."""
    source, target = teachers(x)
    ratio = jnp.sqrt(dot(target, plane.parallel, target) / dot(source, plane.parallel, source))
    errors = target - ratio * source, target - source
    return Risks(*(dot(error, plane.orthogonal, error) for error in errors))


def from_wishart(
    key: PRNGKeyArray, samples: Float[Array, ""], rest: Float[Array, ""]
) -> Compression:
    """A draw of the compression for `samples` rows in dimension samples + rest >= 2."""
    inner, outer = (_wishart(k, m) for k, m in zip(jax.random.split(key), (samples, rest)))
    root = jnp.linalg.cholesky(inner + outer)

    def between(matrix: Float[Array, "2 2"]) -> Float[Array, "2 2"]:
        half = solve_triangular(root, matrix, lower=True)
        return solve_triangular(root, half.T, lower=True)

    return Compression(between(inner), between(outer))


def from_rows(key: PRNGKeyArray, samples: Float[Array, ""], rest: Float[Array, ""]) -> Compression:
    """The same from normal rows, for at most FEW_ROWS samples and as many further dimensions."""
    shape = (FEW_ROWS, 2 * FEW_ROWS)
    real = jnp.arange(FEW_ROWS) < samples
    rows = jnp.where(jnp.arange(2 * FEW_ROWS) < samples + rest, jax.random.normal(key, shape), 0)
    rows = jnp.where(real[:, None], rows, 0)
    gram = dot(rows, rows.T) + jnp.diag(jnp.where(real, 0.0, 1.0))
    root = jnp.linalg.cholesky(gram)
    plane = solve_triangular(root, rows[:, :2], lower=True)
    parallel = dot(plane.T, plane)
    return Compression(parallel, jnp.eye(2) - parallel)


def _wishart(key: PRNGKeyArray, freedom: Float[Array, ""]) -> Float[Array, "2 2"]:
    """Bartlett's triangle; a chi-square without degrees of freedom is zero."""
    below_key, diagonal_key = jax.random.split(key)
    degrees = jnp.stack([freedom, freedom - 1])
    chi_square = 2 * jax.random.gamma(diagonal_key, jnp.maximum(degrees, 1) / 2)
    diagonal = jnp.sqrt(jnp.where(degrees > 0, chi_square, 0))
    below = jnp.where(freedom > 0, jax.random.normal(below_key), 0)
    triangle = jnp.diag(diagonal) + below * jnp.array([[0.0, 0.0], [1.0, 0.0]])
    return dot(triangle, triangle.T)
