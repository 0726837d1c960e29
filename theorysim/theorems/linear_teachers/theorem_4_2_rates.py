"""The two terms of the risk bound decay as powers of the number of samples.

Prose below Theorem 4.2 of Shachaf et al. (2021): g depends on n as n^(-0.5), the term of the top
span decreases like n^(-1.5), that of the bottom span like n^(-0.5). With fewer samples than the
effective rank or than delta, g decays as 1/n. Measured is ||S - Sigma|| of drawn samples, from the
law of a sample covariance, which takes any number of them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linear_regression as regression

MANY = (1e3, 1e4, 1e5, 1e6)
FEW = (1, 2, 4, 8)


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """||S - Sigma|| for normal rows: S = Sigma^(1/2) T T^T Sigma^(1/2) / n, T by Bartlett."""
    below_key, diagonal_key = jax.random.split(key)
    freedom = jnp.maximum(x.samples - jnp.arange(x.d), 1.0)
    diagonal = jnp.sqrt(2 * jax.random.gamma(diagonal_key, freedom / 2))
    triangle = jnp.tril(jax.random.normal(below_key, (x.d, x.d)), -1) + jnp.diag(diagonal)
    half = jnp.sqrt(x.eigenvalues)[:, None] * triangle
    error = dot(half, half.T) / x.samples - jnp.diag(x.eigenvalues)
    return jnp.max(jnp.abs(jnp.linalg.eigvalsh(error)))


class Bound(NamedTuple):
    """g and both terms of Eq. 3 at one m."""

    g: Float[Array, ""]
    top: Float[Array, ""]
    bottom: Float[Array, ""]


def predict(x: claims.Instance) -> Bound:
    g = regression.covariance_estimation(x.eigenvalues, x.delta, x.samples)
    covariance = regression.Covariance(x.eigenvalues, jnp.eye(x.d))
    terms = regression.risk_bound(covariance, x.difference, g)
    index = jnp.minimum(jnp.floor(x.split * (x.d - 1)), x.d - 2).astype(int)
    return Bound(g, terms.top[index], terms.bottom[index])


def _rates(rungs: tuple[float, ...], **exponents: float) -> tuple:
    def rate(what: str):
        quantity = lambda r: getattr(r.theory, what)  # noqa: E731
        return claims.scales_as(what, quantity, over={"samples": rungs}, exponent=exponents[what])

    return tuple(rate(what) for what in exponents)


def _few(x: claims.Instance):
    """n up to the last rung is at most the effective rank or delta."""
    rank = jnp.sum(x.eigenvalues) / x.eigenvalues[0]
    return jnp.maximum(rank, x.delta) - FEW[-1]


FEW_SAMPLES = {"n <= max(effective rank, delta)": _few}
MEASURED = claims.scales_as(
    "measured |S - Sigma|", lambda r: r.mean(r.sim), over={"samples": MANY}, exponent=-0.5
)

PROSE = claims.Printed(
    "Section 4.1, below Theorem 4.2",
    "the term relating to the top-k span decreases like n^(-1.5), the term relating to the "
    "bottom-k span like n^(-0.5)",
)

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(6, low=2, high=64),
        samples=claims.Integer(1, 10**6),
        eigenvalues=claims.Spectrum("d", 0.01, 100),
        difference=claims.Real(-1, 1, shape="d"),
        split=claims.Real(0, 1),
        delta=claims.Real(1, 30, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=(*_rates(MANY, g=-0.5, top=-1.5, bottom=-0.5), MEASURED),
    source=PROSE,
    printed="many samples",
    readings=(
        claims.Reading(
            "few samples",
            PROSE,
            claims=_rates(FEW, g=-0.5, top=-1.5, bottom=-0.5),
            hypotheses=FEW_SAMPLES,
            note="the rates are printed for every n, and hold for more samples than the effective "
            "rank and delta",
        ),
        claims.Reading(
            "few samples, corrected",
            claims.Corrected("the rates 1/n, 1/n^3 and 1/n for few samples"),
            claims=_rates(FEW, g=-1, top=-3, bottom=-1),
            hypotheses=FEW_SAMPLES,
            note="while r / n or delta / n exceeds 1, g decays as 1 / n and its cube as 1 / n^3",
        ),
    ),
    mutants=(
        claims.Mutant("the two spans swapped", claims=_rates(MANY, g=-0.5, top=-0.5, bottom=-1.5)),
        claims.Mutant(
            "g at the rate 1 / n", claims=(*_rates(MANY, g=-1.0), MEASURED.with_exponent(-1.0))
        ),
    ),
    keys=64,
    instances=16,
)
