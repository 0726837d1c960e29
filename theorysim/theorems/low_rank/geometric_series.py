"""Two estimates of Section 3.3: a binomial series of order k^l and a power of a small cosine.

Unnumbered, Dayi and Chen (2024): sum_s C(l+s, l) (k/(k+1))^(s+1) = Theta(k^l), and
|<w_i, w_j>| <= nu implies |<w_i, w_j>|^(gamma/nu) <= e^(-gamma). The sum is k (k+1)^l, of order
k^(l+1); with nu = 1 - t, (1 - t)^(gamma/(1 - t)) is largest as t -> 0, and then far above.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from scipy.special import comb

from theorysim.claims import (
    Corrected,
    Instance,
    Integer,
    Mutant,
    Reading,
    Real,
    Space,
    Theorem,
    at_most,
    equal,
    scales_as,
    tends_to,
)
from theorysim.numerics.products import dot

TERMS = 20_000
HIGHEST = 4
# C(l+s, l), a row per l.
CHOICES = np.stack([comb(order + np.arange(TERMS), order) for order in range(HIGHEST + 1)])
RUNGS = (20.0, 40.0, 80.0, 160.0, 320.0)


def simulate(x: Instance, key):
    """The partial sum, and the power of the cosine."""
    powers = jnp.exp(-jnp.arange(1.0, TERMS + 1) * jnp.log1p(1 / x.k))
    return {
        "sum": dot(jnp.asarray(CHOICES), powers)[x.order],
        "power": (x.share * x.nu) ** (x.gamma / x.nu),
    }


PRINTED = scales_as(
    "C1: the sum over k^l",
    lambda r: r.sim["sum"][0] / r.x.k**r.x.order,
    over={"k": RUNGS},
    exponent=0,
)


def _limit(value: float):
    return tends_to(
        "the sum over k^(l+1)",
        lambda r: r.sim["sum"][0] / r.x.k ** (r.x.order + 1),
        lambda r: value,
        over={"k": RUNGS},
    )


C2 = at_most("C2: the power", lambda r: r.sim["power"], lambda r: jnp.exp(-r.x.gamma))
EXACT = equal("the sum is k (k+1)^l", lambda r: r.sim["sum"], lambda r: r.theory)


def _predict(shift: float):
    return lambda x: x.k * (x.k + shift) ** x.order


theorem = Theorem(
    space=Space(
        k=Real(1, 320, log=True),
        order=Integer(0, HIGHEST),
        nu=Real(0.001, 0.999),
        share=Real(0, 1),
        gamma=Real(0.01, 20, log=True),
    ),
    simulate=simulate,
    predict=_predict(1.0),
    claims=(PRINTED, C2),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=(
                _limit(1.0),
                EXACT,
                at_most(
                    C2.name,
                    C2.lhs,
                    lambda r: jnp.exp(r.x.gamma * jnp.log(r.x.nu) / r.x.nu),
                ),
            ),
            primary=True,
            note="the order is k^(l+1); the power is at most nu^(gamma/nu), "
            "which is e^(-gamma) only where nu log(1/nu)^-1 <= 1",
        ),
    ),
    mutants=(
        Mutant(
            "2 k^(l+1), k k^l, and twice the power of nu",
            predict=_predict(0.0),
            claims=(
                _limit(2.0),
                EXACT,
                at_most(
                    C2.name, C2.lhs, lambda r: jnp.exp(2 * r.x.gamma * jnp.log(r.x.nu) / r.x.nu)
                ),
            ),
        ),
    ),
)
