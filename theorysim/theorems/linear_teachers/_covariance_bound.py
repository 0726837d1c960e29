"""What the statements around Theorem 4.2 share: the input law, drawn samples, the risk bound.

Section 4 of Shachaf et al. (2021). Sigma is diagonal without loss of generality, since rows are
drawn as Sigma^(1/2) z. The number of samples n and the dimension d = n + surplus are traced: rows
behind the n-th and eigenvalues behind the d-th are zero.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics import random
from theorysim.numerics.products import dot
from theorysim.systems import linear_regression as regression

MOST_SAMPLES = 8
MOST_SURPLUS = 8


class Drawn(NamedTuple):
    """What one draw of the samples decides."""

    error: Float[Array, ""]
    """||(1/n) X^T X - Sigma||"""
    risk: Float[Array, ""]
    """R(gamma) by Theorem 4.1"""
    unseen: Float[Array, "largest largest"]
    """Sigma^(1/2) P_perp"""


def covariance_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Input laws, sample numbers and teachers' differences; `parts` add to them or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "largest": claims.Size(MOST_SAMPLES + MOST_SURPLUS, low=MOST_SAMPLES + MOST_SURPLUS),
        "samples": claims.Integer(1, MOST_SAMPLES),
        "surplus": claims.Integer(1, MOST_SURPLUS),
        "spectrum": claims.Spectrum("largest", 1e-2, 1),
        "scale": claims.Real(1e-2, 1e2, log=True),
        "delta": claims.Real(1, 4),
    }
    return claims.Space(**{**shared, **parts})


def law_fields() -> dict[str, claims.Field]:
    """Fields of the rows' law and of the difference of the teachers."""
    return {
        "uniform": claims.Choice(0.0, 1.0),
        "difference": claims.Real(-1, 1, shape="largest"),
        "tilt": claims.Choice(-1.0, 0.0, 1.0),
    }


def dimension(x: claims.Instance) -> Array:
    """d, above n."""
    return x.samples + x.surplus


def eigenvalues(x: claims.Instance) -> Float[Array, " largest"]:
    """The eigenvalues of Sigma in decreasing order, zeros behind the d-th."""
    return jnp.where(jnp.arange(x.largest) < dimension(x), x.scale * x.spectrum, 0)


def difference(x: claims.Instance) -> Float[Array, " largest"]:
    """theta_T - theta_S, tilted towards the top (1) or the bottom (-1) eigenvectors."""
    tilted = x.difference * x.spectrum**x.tilt
    return jnp.where(jnp.arange(x.largest) < dimension(x), tilted, 0)


def bound_terms(x: claims.Instance, size: Float[Array, "..."] | float) -> regression.BoundTerms:
    """The two terms of Eq. 3 with `size` in the place of g, for m = 1..d; zeros behind."""
    diagonal = regression.Covariance(eigenvalues(x), jnp.eye(x.largest))
    terms = regression.risk_bound(diagonal, difference(x), size)
    return jax.tree.map(lambda term: jnp.where(eigenvalues(x) > 0, term, 0), terms)


def total(terms: regression.BoundTerms) -> Float[Array, " d"]:
    """The right side of Eq. 3."""
    return terms.top + terms.bottom


def diagonal_bound(
    eigenvalues: Float[Array, " d"], difference: Float[Array, " d"], size: Float[Array, ""]
) -> Float[Array, " m"]:
    """The right side of Eq. 3 for a diagonal Sigma, with `size` in the place of g, for every m."""
    diagonal = regression.Covariance(eigenvalues, jnp.eye(eigenvalues.size))
    return total(regression.risk_bound(diagonal, difference, size))


def standard_entries(x: claims.Instance, key: PRNGKeyArray) -> Float[Array, "rows largest"]:
    """Independent centred entries of unit variance, normal or uniform."""
    normal_key, uniform_key = jax.random.split(key)
    shape, side = (MOST_SAMPLES, x.largest), 3**0.5
    normal = random.normal(normal_key, shape)
    uniform = jax.random.uniform(uniform_key, shape, minval=-side, maxval=side)
    return jnp.where(x.uniform > 0, uniform, normal)


def drawn(x: claims.Instance, key: PRNGKeyArray) -> Drawn:
    """What rows of independent entries decide."""
    return draw_rows(x, standard_entries(x, key))


def admitted(r: claims.Run) -> Float[Array, " m"]:
    """m <= d, so that lambda_m > 0."""
    return dimension(r.x) - 1 - jnp.arange(r.x.largest)


def draw_rows(x: claims.Instance, entries: Float[Array, "rows largest"]) -> Drawn:
    """The samples Sigma^(1/2) z and what they decide."""
    real = jnp.arange(MOST_SAMPLES) < x.samples
    roots = jnp.sqrt(eigenvalues(x))
    rows = jnp.where(real[:, None], entries * roots, 0)
    error = dot(rows.T, rows) / x.samples - jnp.diag(eigenvalues(x))
    gram = dot(rows, rows.T) + x.scale * jnp.diag(jnp.where(real, 0.0, 1.0))
    seen = dot(rows.T, jnp.linalg.solve(gram, rows))
    unseen = roots[:, None] * (jnp.eye(x.largest) - seen)
    return Drawn(
        jnp.max(jnp.abs(jnp.linalg.eigvalsh(error))),
        jnp.sum(jnp.square(dot(unseen, difference(x)))),
        unseen,
    )
