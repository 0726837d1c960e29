"""The risk bound where it says something: one large eigenvalue and many samples.

Theorem 4.2 of Shachaf et al. (2021), Eq. 3 at m = 1, for normal rows whose covariance has one large
and otherwise equal eigenvalues. No risk exceeds lambda_1 ||theta_T - theta_S||^2, so Eq. 3 is
judged where it is below that: theorem-4.2, with up to eight samples, never comes there. The risk is
Theorem 4.1's (checked there). It depends on P_perp in the plane of the top eigenvector and the rest
of Delta, whose law for equal eigenvalues theorem-5.4-rows checks: X = Z D with Z of equal ones, and
with G = Z_2^T M^(-1) Z_2 of the plane's two columns and the others' M, P_perp is (I + G)^(-1) for Z
and (I + D G D)^(-1) for X.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian

# A value of the printed constant c, whose existence is all that the paper states.
ENOUGH = 1.0


def _difference(angle: Float[Array, ""]) -> Float[Array, "2"]:
    """theta_T - theta_S, of length 1: its parts along the top eigenvector and outside of it."""
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def risk(
    plane: gaussian.Compression, level: Float[Array, ""], angle: Float[Array, ""]
) -> Float[Array, ""]:
    """R(gamma) / lambda_1, from the projections of equal eigenvalues."""
    ((first, mixed), (_, second)) = plane.orthogonal
    # (I + D G D)^-1 of the P_perp of equal eigenvalues, (I + G)^-1, free of cancellation.
    left = plane.parallel[0, 0] + level * first
    across = jnp.sqrt(level) * mixed / left
    outside = jnp.array(
        [
            [level * first / left, across],
            [across, second + (1 - level) * jnp.square(mixed) / left],
        ]
    )
    kept = dot(outside, _difference(angle))
    return level * jnp.sum(_difference(angle) * kept) + (1 - level) * jnp.square(kept[0])


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """R(gamma) / lambda_1 for drawn samples."""
    return risk(gaussian.from_wishart(key, *gaussian.counts(x)), x.level, x.angle)


def _size(x: claims.Instance) -> Float[Array, ""]:
    """g / lambda_1 with c = 1."""
    samples, rest = gaussian.counts(x)
    rank = 1 + (samples + rest - 1) * x.level
    shares = jnp.stack([rank, x.delta]) / samples
    return jnp.max(jnp.maximum(shares, jnp.sqrt(shares)))


def _predict(power: float = 3.0, swapped: bool = False) -> Callable:
    """Eq. 3 over lambda_1; mutants have another power of g, or the two spans swapped."""

    def predict(x: claims.Instance) -> Float[Array, ""]:
        g = ENOUGH * _size(x)
        top, bottom = jnp.square(_difference(x.angle)[:: -1 if swapped else 1])
        return 2 * g**power * top + 2 * g * bottom

    return predict


EQ_3 = claims.with_probability(
    "Eq. 3 below lambda_1 |D|^2, c = 1",
    lambda r: r.sim,
    lambda r: r.theory,
    at_least=lambda r: 1 - jnp.exp(-r.x.delta),
    where=lambda r: 1 - r.theory,
)

theorem = claims.Theorem(
    space=claims.Space(
        samples=claims.Real(1, 1e5, log=True),
        rest=claims.Real(1, 1e5, log=True),
        level=claims.Real(1e-6, 1, log=True),
        angle=claims.Real(0, jnp.pi),
        delta=claims.Real(1, 4),
    ),
    simulate=simulate,
    predict=_predict(),
    claims=(EQ_3,),
    source=claims.Printed(
        "Section 4.1, Theorem 4.2, Eq. 3",
        "with probability at least 1 - e^(-delta): R(gamma) <= 2 g^3 ||P_top (theta_T - "
        "theta_S)||^2 / lambda_m^2 + 2 g ||P_bottom (theta_T - theta_S)||^2",
    ),
    printed="one large eigenvalue, m = 1",
    note="Eq. 3 at m = 1; the other m, and other laws, are in theorem-4.2, where it is vacuous",
    mutants=(
        claims.Mutant("the two spans swapped", predict=_predict(swapped=True)),
        claims.Mutant("g^5 for g^3", predict=_predict(power=5.0)),
    ),
    keys=512,
    instances=64,
)
