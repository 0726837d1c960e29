"""The Hermite coefficients of the activation fall faster than 1/p.

Assumption 5.2 of Dayi and Chen (2024): |mu_p| <= C p^(-1 - rho) for some rho > 0. A polynomial has
no coefficients beyond its degree; ReLU and the absolute value have rho = 1/4 and no more, which
`proposition-2` takes. Its parts 1 and 3 ask for a derivative of polynomial growth and for moments
of differences; a Lipschitz activation has both.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank._recovery import even, odd

ORDERS = (8.0, 16.0, 32.0, 64.0, 128.0)


def simulate(x: claims.Instance, key) -> Float[Array, "2"]:
    """|mu_p| of ReLU and of the absolute value."""
    last = int(ORDERS[-1])
    return jnp.abs(jnp.stack([s().coefficients(last + 1)[x.order] for s in (odd, even)]))


def _decay(rho: float):
    return (
        claims.exists_constant(
            "|mu_p| <= C p^(-1 - rho)",
            lambda r: r.sim,
            lambda r: r.x.order ** (-1.0 - rho),
            over={"order": ORDERS},
        ),
    )


theorem = claims.Theorem(
    space=claims.Space(order=claims.Integer(1, int(ORDERS[-1]))),
    simulate=simulate,
    claims=_decay(0.25),
    source=claims.Printed(
        "Assumption 5, Section 2.1", "|mu_p(sigma)| <= C_sigma p^(-1 - rho), rho > 0"
    ),
    mutants=(claims.Mutant("rho = 1", claims=_decay(1.0)),),
)
