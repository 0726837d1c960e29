"""What the statements on the rates of Theorem 4.2 share: the bound's parts for any number of rows.

Prose below Theorem 4.2 of Shachaf et al. (2021). Measured is ||S - Sigma|| of drawn samples, from
the law of a sample covariance, which takes any number of them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linear_regression as regression


class Bound(NamedTuple):
    """g and both terms of Eq. 3 at one m."""

    g: Float[Array, ""]
    top: Float[Array, ""]
    bottom: Float[Array, ""]


def space(d: claims.Size, most_samples: int) -> claims.Space:
    """Spectra, differences of the teachers, m, delta and numbers of samples."""
    return claims.Space(
        d=d,
        samples=claims.Integer(1, most_samples),
        eigenvalues=claims.Spectrum("d", 0.01, 100),
        difference=claims.Real(-1, 1, shape="d"),
        split=claims.Real(0, 1),
        delta=claims.Real(1, 30, log=True),
    )


def estimation_error(x: claims.Instance, key: PRNGKeyArray) -> Float[Array, ""]:
    """||S - Sigma|| for normal rows: S = Sigma^(1/2) T T^T Sigma^(1/2) / n, T by Bartlett."""
    below_key, diagonal_key = jax.random.split(key)
    freedom = jnp.maximum(x.samples - jnp.arange(x.d), 1.0)
    diagonal = jnp.sqrt(2 * jax.random.gamma(diagonal_key, freedom / 2))
    triangle = jnp.tril(jax.random.normal(below_key, (x.d, x.d)), -1) + jnp.diag(diagonal)
    half = jnp.sqrt(x.eigenvalues)[:, None] * triangle
    error = dot(half, half.T) / x.samples - jnp.diag(x.eigenvalues)
    return jnp.max(jnp.abs(jnp.linalg.eigvalsh(error)))


def bound(x: claims.Instance) -> Bound:
    """With c = 1, at the m of x.split."""
    g = regression.covariance_estimation(x.eigenvalues, x.delta, x.samples)
    covariance = regression.Covariance(x.eigenvalues, jnp.eye(x.d))
    terms = regression.risk_bound(covariance, x.difference, g)
    index = jnp.minimum(jnp.floor(x.split * (x.d - 1)), x.d - 2).astype(int)
    return Bound(g, terms.top[index], terms.bottom[index])


def rates(rungs: tuple[float, ...], **exponents: float) -> tuple[claims.Claim, ...]:
    """Parts of `Bound` fall as these powers of the number of samples."""

    def rate(what: str) -> claims.Claim:
        quantity = lambda r: getattr(r.theory, what)  # noqa: E731
        return claims.scales_as(what, quantity, over={"samples": rungs}, exponent=exponents[what])

    return tuple(rate(what) for what in exponents)


PROSE = claims.Printed(
    "Section 4.1, below Theorem 4.2",
    "it depends on n^(-0.5); the term relating to the top-k span decreases like n^(-1.5), the term "
    "relating to the bottom-k span like n^(-0.5)",
)
