"""Orders as monomials in sample sizes, width, scale, smallest eigenvalues and chance of failure.

An order in print follows from others where their product is at most a constant times it, whatever
the variables. No network is run.
"""

import math
from collections.abc import Callable, Mapping

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims

LARGE = (1.0, 10.0, 100.0, 1000.0)
SMALL = (1.0, 0.1, 0.01, 1e-3)
HALVES = (0.5, 0.05, 0.005, 5e-4)
LADDERS = {
    "n_p": LARGE,
    "n_q": LARGE,
    "m": (1e6, 1e12, 1e18, 1e24),
    "kappa": SMALL,
    "lam_p": HALVES,
    "lam_q": HALVES,
    "failure": HALVES,
}

Orders = tuple[Mapping[str, float], ...]
"""A sum of monomials, each by the powers of its variables."""


def order_space() -> claims.Space:
    """n_P, n_Q, m, kappa, lambda_P, lambda_Q and delta; eigenvalues are at most 1/2."""
    return claims.Space(
        n_p=claims.Real(1, 1000, log=True),
        n_q=claims.Real(1, 1000, log=True),
        m=claims.Real(1e6, 1e24, log=True),
        kappa=claims.Real(1e-3, 1, log=True),
        lam_p=claims.Real(5e-4, 0.5, log=True),
        lam_q=claims.Real(5e-4, 0.5, log=True),
        failure=claims.Real(5e-4, 0.5, log=True),
    )


def order(x: claims.Instance, **powers: float) -> Float[Array, ""]:
    """A monomial in the variables of the space."""
    return math.prod((getattr(x, n) ** power for n, power in powers.items()), start=jnp.ones(()))


def total(x: claims.Instance, orders: Orders) -> Float[Array, ""]:
    """A sum of monomials."""
    return sum((order(x, **powers) for powers in orders), start=jnp.zeros(()))


def unrestricted(x: claims.Instance) -> claims.Instance:
    """All of the space."""
    return x


def small_scale(x: claims.Instance) -> claims.Instance:
    """kappa as a share of the largest of Theorems 1 and 3, lambda_P^2 delta / (n_P^2 sqrt(n_Q))."""
    return x.replace(kappa=x.kappa * order(x, n_p=-2, n_q=-0.5, lam_p=2, failure=1))


def wide(x: claims.Instance) -> claims.Instance:
    """m times a polynomial in what Theorems 1 and 2 ask it to be polynomial in."""
    return x.replace(
        m=x.m * order(x, n_p=6, n_q=6, lam_p=-6, lam_q=-6, kappa=-6, failure=-6),
    )


def follows(
    name: str,
    product: Callable[[claims.Instance], Float[Array, ""]],
    printed: Orders,
    regime: Callable[[claims.Instance], claims.Instance] = unrestricted,
) -> claims.Claim:
    """A product is of the printed order, over every variable, in a regime of them."""
    return claims.exists_constant(
        name,
        lambda r: product(regime(r.x)),
        lambda r: total(regime(r.x), printed),
        over=LADDERS,
    )
