"""The setting that the statements share: a frozen network, a rank-one teacher and a student.

Rows w_i have length one, u and u^ are orthogonal to them (Assumptions 1 and 2), c and c^ are in
{+-1/sqrt(k)}^k (Assumption 3). The activation is ReLU times a number plus a polynomial.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics import gaussian
from theorysim.systems import rank_one
from theorysim.systems.rank_one import RankOne

DEGREES = 5  # Hermite coefficients of an instance, from h_0


def activation(x: claims.Instance) -> gaussian.Activation:
    """kink * ReLU + sum_p mu_p h_p: ReLU, |a|, polynomials and what lies between."""
    return gaussian.with_polynomial(gaussian.relu(), x.kink, x.mu)


def series(x: claims.Instance) -> gaussian.Activation:
    """sum_p mu_p h_p, whose Hermite series ends."""
    return gaussian.from_coefficients(x.mu)


def problem_space(**fields: claims.Field | claims.Size) -> claims.Space:
    """Random unit rows around a common one, readouts and signs of any sign, every scale."""
    given: dict[str, claims.Field | claims.Size] = {
        "k": claims.Size(3, high=64),
        "d": claims.Size(6, low=5, high=512),
        "rows": claims.Gaussian("k", "d"),
        "common": claims.Gaussian("d"),
        "closeness": claims.Real(0, 3),
        "readout": claims.Real(-2, 2, shape="k"),
        "teacher": claims.Real(-1, 1, shape="k"),
        "student": claims.Real(-1, 1, shape="k"),
        "scale": claims.Real(0.1, 10, log=True),
        "direction": claims.Gaussian("d"),
        "mu": claims.Real(-1, 1, shape=DEGREES),
        "kink": claims.Real(0, 2),
    }
    return claims.Space(**{**given, **fields})


def sign(v: Array) -> Array:
    """+1 where v >= 0, else -1."""
    return jnp.where(v >= 0, 1.0, -1.0)


def random_signs(key: PRNGKeyArray, k: int) -> Float[Array, "2 k"]:
    """Independent signs of c and of c^ (Assumption 3)."""
    return sign(jax.random.normal(key, (2, k)))


def features(x: claims.Instance) -> Float[Array, "k d"]:
    """Unit rows, the closer to each other the larger the common part."""
    return jax.vmap(rank_one.unit)(x.rows + x.closeness * x.common)


def problem(x: claims.Instance, rows: Array | None = None) -> RankOne:
    """The instance as a problem, with its own rows or with given ones."""
    rows = features(x) if rows is None else rows
    return rank_one.from_signs(rows, x.readout, sign(x.teacher), sign(x.student), x.scale)


def orthonormal(x: claims.Instance, key: PRNGKeyArray) -> RankOne:
    """Orthonormal rows, scale xi = x.xi_bar sqrt(k) and random signs."""
    teacher, student = random_signs(key, x.k)
    scale = x.xi_bar * jnp.sqrt(x.k)
    return rank_one.from_signs(jnp.eye(x.k), x.readout, teacher, student, scale)


def orthonormal_space(k: claims.Size) -> claims.Space:
    """Problems on orthonormal features with a Hermite series; signs are drawn with the keys."""
    return claims.Space(
        k=k,
        readout=claims.Real(0.1, 10, log=True, shape="k"),
        mu=claims.Real(-1, 1, shape=DEGREES),
        xi_bar=claims.Real(0.3, 2),
        overlap=claims.Real(-1, 1),
    )


def chance_over_signs(r: claims.Run) -> Float[Array, ""]:
    """1 - exp(-2k / (e xi^2)), the probability of Claim 1."""
    return 1 - jnp.exp(-2 / (jnp.e * r.x.xi_bar**2))


def truth(x: claims.Instance, rows: Array | None = None) -> Float[Array, " d"]:
    """u, a unit vector orthogonal to the rows.

    Raises:
        UsageError: where u and u^ have no room outside the rows.
    """
    if x.d < x.k + 2:
        raise claims.UsageError(
            f"k = {x.k} rows leave no two directions in d = {x.d} dimensions: "
            f"set k to at most {x.d - 2} or d to at least {x.k + 2}"
        )
    rows = features(x) if rows is None else rows
    return rank_one.unit(rank_one.outside(rows, x.direction))


def learner(x: claims.Instance, overlap: Array) -> Float[Array, " d"]:
    """u^ = m u + sqrt(1 - m^2) times a unit vector orthogonal to u and to the rows."""
    both = jnp.vstack([features(x), truth(x)])
    rest = rank_one.unit(rank_one.outside(both, x.elsewhere))
    return overlap * truth(x) + jnp.sqrt((1 - overlap) * (1 + overlap)) * rest
