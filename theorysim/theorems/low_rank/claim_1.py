"""The terms of h that pull away from u are outweighed, with high probability over the signs.

Claim 1 of Dayi and Chen (2024), orthonormal features: the terms of the series of h with l odd, s =
1 and with l > 0 even, s = 0 add up to a number of the sign of m, with probability at least 1 -
exp(-2k / (e xi^2)) over c and c^. The main text leaves out the powers m^l. Decided for activations
of degree 4 and random signs, all terms in closed form.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Space,
    Theorem,
    with_probability,
)
from theorysim.numerics.gaussian import from_coefficients
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import moments, series_coefficients
from theorysim.theorems.low_rank._problem import DEGREES, sign


def simulate(x: Instance, key):
    """The coefficients of m^l of those terms, for random signs."""
    signs = sign(jax.random.normal(key, (2, x.k)))
    scale = x.xi_bar * jnp.sqrt(x.k)
    given = rank_one.from_signs(jnp.eye(x.k), x.readout, signs[0], signs[1], scale)
    table = series_coefficients(given, from_coefficients(x.mu), DEGREES)
    even, odd = moments(given, DEGREES)
    orders = jnp.arange(DEGREES)
    of_odd = jnp.where(orders % 2 == 1, table[:, 1] * odd[1], 0)
    of_even = jnp.where((orders % 2 == 0) & (orders > 0), table[:, 0] * even[0], 0)
    return 2 * (of_odd + of_even)


def _value(power):
    """The sum at m, signed by m and scaled by its size."""

    def value(r: Run):
        terms = r.sim * power(r.x.overlap, jnp.arange(DEGREES))
        size = jnp.sum(jnp.abs(terms), axis=-1)
        return sign(r.x.overlap) * jnp.sum(terms, axis=-1) / jnp.where(size > 0, size, 1)

    return value


def _claims(power, factor: float = 1.0):
    return (
        with_probability(
            "the sum has the sign of m",
            lambda r: -_value(power)(r),
            lambda r: 0.0,
            at_least=lambda r: 1 - jnp.exp(-2 * factor / (jnp.e * r.x.xi_bar**2)),
        ),
    )


def _powers(m, orders):
    return m**orders


theorem = Theorem(
    space=Space(
        k=Size(5, low=1, high=512),
        readout=Real(0.1, 10, log=True, shape="k"),
        mu=Real(-1, 1, shape=DEGREES),
        xi_bar=Real(0.3, 2),
        overlap=Real(-1, 1),
    ),
    simulate=simulate,
    claims=_claims(lambda m, orders: jnp.ones(DEGREES)),
    printed="main text",
    readings=(
        Reading(
            "appendix",
            Printed("", ""),
            claims=_claims(_powers),
            primary=True,
            note="without the powers m^l the odd terms are positive also where m < 0",
        ),
    ),
    mutants=(Mutant("probability for all m < 0", claims=_claims(lambda m, o: (-m) ** o, 50.0)),),
    keys=512,
)
