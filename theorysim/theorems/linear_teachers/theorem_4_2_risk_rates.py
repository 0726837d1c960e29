"""The risk itself falls faster in the number of samples than the two terms of its bound.

Below Theorem 4.2 of Shachaf et al. (2021) the terms of Eq. 3 decrease like n^(-1.5) and n^(-0.5).
Here the risk is drawn, for normal rows with one large eigenvalue, a fixed effective rank of Sigma
and a fixed ratio of d - n to n, so that g falls as n^(-0.5): it falls as n^(-2) for a difference of
the teachers along the top eigenvector and as n^(-1) outside of it. The law of the risk is that of
theorem-4.2-spiked, whose Eq. 3 it must obey.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian
from theorysim.theorems.linear_teachers import theorem_4_2_spiked as spiked

MANY = (1e3, 1e4, 1e5, 1e6)


class Risks(NamedTuple):
    """R(gamma) / lambda_1 for a unit difference of the teachers in either span."""

    top: Float[Array, "*keys"]
    bottom: Float[Array, "*keys"]


def simulate(x: claims.Instance, key) -> Risks:
    """For one draw of the samples."""
    samples, rest = jnp.floor(x.samples), jnp.ceil(x.rest_share * x.samples)
    plane, level = gaussian.from_wishart(key, samples, rest), x.tail / (samples + rest - 1)
    angles = jnp.zeros(()), jnp.full((), jnp.pi / 2)
    return Risks(*(spiked.risk(plane, level, angle) for angle in angles))


def _rate(what: str, exponent: float, relation: str) -> claims.Claim:
    return claims.scales_as(
        f"risk of the {what} span",
        lambda r: r.mean(getattr(r.sim, what)),
        over={"samples": MANY},
        exponent=exponent,
        relation=relation,
    )


def _rates(top: float, bottom: float, relation: str = "at_most") -> tuple[claims.Claim, ...]:
    return _rate("top", top, relation), _rate("bottom", bottom, relation)


theorem = claims.Theorem(
    space=claims.Space(
        samples=claims.Real(1e3, 1e6, log=True),
        rest_share=claims.Real(0.1, 10, log=True),
        tail=claims.Real(0.1, 10, log=True),
    ),
    simulate=simulate,
    claims=_rates(-1.5, -0.5),
    source=claims.Finding("whether the risk falls as fast as the two terms of Eq. 3"),
    printed="at least as fast as the bound",
    note="one large eigenvalue and a fixed effective rank; with other spectra g need not fall",
    readings=(
        claims.Reading(
            "measured",
            claims.Finding("how fast it falls"),
            claims=_rates(-2.0, -1.0, "equal"),
            note="half a power faster than either term of the bound",
        ),
    ),
    mutants=(claims.Mutant("a power of n more", claims=_rates(-2.5, -1.5)),),
    keys=256,
    instances=16,
)
