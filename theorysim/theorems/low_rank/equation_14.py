"""A random start is correlated enough with u.

Eq. 14 of Dayi and Chen (2024) and Section 2.2.1: for u^_0 uniform on the unit vectors orthogonal to
the features, |m_0| >= beta / sqrt(d) has probability 1 - O(beta). It depends on the features by
their rank k < d alone. That m_0 has the sign of h(0) half of the time is the symmetry of its law.
Eq. 14 prints the event with the sign of h(0) on the other side: for h(0) < 0 it is m_0 >= -beta /
sqrt(d), which has of the starts that the theorems ask for the edge alone.
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


NEEDED = claims.at_least(
    "m_0 sign(h(0)) on the event",
    lambda r: r.x.side * r.sim,
    lambda r: r.x.beta / jnp.sqrt(r.x.dimension),
    where=lambda r: r.sim - r.x.side * r.x.beta / jnp.sqrt(r.x.dimension),
)

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Integer(1, 12),
        beta=claims.Real(0.05, 0.4, log=True),
        dimension=claims.Real(16, 1024, log=True),
        side=claims.Choice(-1.0, 1.0),
    ),
    simulate=simulate,
    claims=(_small(),),
    printed="the magnitude",
    source=claims.Printed(
        "Eq. 14, Appendix B.3.1, and Section 2.2.1",
        "|m_0| >= beta / sqrt(d) with probability 1 - O(beta)",
    ),
    readings=(
        claims.Reading(
            "the event of Eq. 14",
            claims.Printed(
                "Appendix B.3.1, Eq. 14, as the start of Theorems 4 to 6 asks",
                "A = {m_0 >= sign(h(0)) beta / sqrt(d)}",
            ),
            claims=(NEEDED,),
            note="sign(h(0)) m_0 >= beta / sqrt(d) is what the theorems start from",
        ),
    ),
    mutants=(claims.Mutant("beta^2", claims=(_small(2.0),)),),
    keys=8192,
    instances=16,
    mutant_instances=16,
)
