"""A random start is correlated enough with u, and on the right side half of the time.

Eq. 14 of Dayi and Chen (2024) and Section 2.2.1: for u^_0 uniform on the unit vectors orthogonal to
the features, |m_0| >= beta / sqrt(d) has probability 1 - O(beta), and m_0 has the sign of h(0) with
probability 1/2. Neither depends on the features but through their rank k < d.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.random import chi_square

BETAS, DIMENSIONS = (0.4, 0.2, 0.1, 0.05), (16.0, 64.0, 256.0, 1024.0)


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """m_0: a coordinate of a uniform unit vector in d - k dimensions."""
    along, rest = jax.random.split(key)
    normal = jax.random.normal(along)
    return normal / jnp.sqrt(normal**2 + chi_square(rest, x.dimension - x.k - 1))


def _small(power: float = 1.0) -> claims.Claim:
    def chance(r: claims.Run):
        return jnp.mean(jnp.abs(r.sim) < r.x.beta / jnp.sqrt(r.x.dimension), axis=0)

    return claims.exists_constant(
        "|m_0| < beta / sqrt(d) is rare",
        chance,
        lambda r: r.x.beta**power,
        over={"beta": BETAS, "dimension": DIMENSIONS},
    )


SIDE = claims.equal(
    "the chance of the right sign",
    lambda r: r.mean(jnp.where(r.sim > 0, 1.0, 0.0)),
    lambda r: 0.5,
)

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Integer(1, 12),
        beta=claims.Real(0.05, 0.4, log=True),
        dimension=claims.Real(16, 1024, log=True),
    ),
    simulate=simulate,
    claims=(_small(), SIDE),
    source=claims.Printed(
        "Eq. 14, Appendix B.3.1, and Section 2.2.1",
        "|m_0| >= beta / sqrt(d) with probability 1 - O(beta); the sign condition with 1/2",
    ),
    mutants=(
        claims.Mutant("beta^2; a chance of 0.6", claims=(_small(2.0), SIDE.against(lambda r: 0.6))),
    ),
    keys=8192,
    instances=16,
    mutant_instances=16,
)
