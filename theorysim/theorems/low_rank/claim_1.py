"""The terms of h that pull away from u are outweighed, with high probability over the signs.

Claim 1 of Dayi and Chen (2024), orthonormal features: the terms of the series of h with l odd, s =
1 and with l > 0 even, s = 0 add up to a number of the sign of m, with probability at least 1 -
exp(-2k / (e xi^2)) over c and c^. The main text leaves out the powers m^l, the appendix has them
and writes "l even", which lets in l = 0: the constant term, of the sign of h(0). The print names no
m: corrected, it holds for each, not for all of them in one draw of signs where xi / sqrt(k) is
large, as even terms that add to the odd ones at m pull against them at -m. Decided for activations
of degree 4 and random signs, which absorb those of the readouts; all terms are in closed form.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.rank_one_overlap import moments, series_coefficients
from theorysim.theorems.low_rank import _problem as problems

ORDERS = np.arange(problems.DEGREES)
OVERLAPS = np.array([-1, -0.5, -0.25, 0.25, 0.5, 1])


def _simulate(first: int):
    """The coefficients of m^l of those terms, with even l from `first` on, for random signs."""

    def simulate(x: claims.Instance, key) -> Float[Array, " orders"]:
        given = problems.orthonormal(x, key)
        table = series_coefficients(given, problems.series(x), problems.DEGREES)
        even, odd = moments(given, problems.DEGREES)
        of_odd = jnp.where(ORDERS % 2 == 1, table[:, 1] * odd[1], 0)
        of_even = jnp.where((ORDERS % 2 == 0) & (ORDERS >= first), table[:, 0] * even[0], 0)
        return 2 * (of_odd + of_even)

    return simulate


FROM_0, FROM_2 = _simulate(0), _simulate(2)


def _own(x: claims.Instance) -> Float[Array, " one"]:
    return jnp.atleast_1d(x.overlap)


def _claims(powers, orientation: float = 1.0, overlaps=_own):
    """The sum has the sign of orientation * m at all overlaps; it is scaled by its terms' size."""

    def signed(r: claims.Run) -> Float[Array, "keys overlaps"]:
        m = overlaps(r.x)
        terms = r.sim[:, None] * powers(m[:, None])
        size = jnp.sum(jnp.abs(terms), axis=-1)
        towards = orientation * problems.sign(m)
        return towards * jnp.sum(terms, axis=-1) / jnp.where(size > 0, size, 1)

    return (
        claims.with_probability(
            "the sum has the sign of m",
            lambda r: -signed(r),
            lambda r: 0.0,
            at_least=problems.chance_over_signs,
        ),
    )


def _powers(m: Array) -> Array:
    return m**ORDERS


WITH_POWERS = _claims(_powers)
WITHOUT_POWERS = _claims(lambda m: jnp.ones(problems.DEGREES))
FOR_ALL = _claims(_powers, overlaps=lambda x: jnp.asarray(OVERLAPS))

GIVEN = problems.orthonormal_space(claims.Size(5, low=1, high=512))

theorem = claims.Theorem(
    space=claims.Space(**{**GIVEN.sizes, **GIVEN.fields, "xi_bar": claims.Real(0.3, 5)}),
    simulate=FROM_2,
    claims=WITHOUT_POWERS,
    printed="main text",
    source=claims.Printed(
        "Claim 1, Section 3.2",
        "sign(m) (2 sum_(l odd, s=1) ... T(l, s) + 2 sum_(l > 0 even, s=0) ... T(l, s)) >= 0",
    ),
    note="without the powers m^l the odd terms are positive also where m < 0",
    readings=(
        claims.Reading(
            "appendix",
            claims.Printed(
                "Proof of Claim 1, Appendix A.4",
                "sign(m) (2 sum_(l odd, s=1) ... T(l, s) m^l + 2 sum_(l even, s=0) ... m^l) >= 0",
            ),
            simulate=FROM_0,
            claims=WITH_POWERS,
            note="l = 0 must be left out: it is the constant term, which has the sign of h(0)",
        ),
        claims.corrected(
            "the powers m^l of the appendix in the sums of the main text, l > 0, for each m",
            claims=WITH_POWERS,
            note="with the powers m^l, and even l from 2 on, the odd terms outweigh the even ones",
        ),
        claims.Reading(
            "appendix, for all m in [-1, 1]",
            claims.Printed(
                "Proof of Claim 1, Appendix A.4",
                "sign(m) (2 sum_(l odd, s=1) ... T(l, s) m^l + 2 sum_(l even, s=0) ... m^l) >= 0",
            ),
            simulate=FROM_0,
            claims=FOR_ALL,
            note="the constant term l = 0 has one sign, m has both; without it one draw still does "
            "for all m less often than is claimed, where xi / sqrt(k) is large",
        ),
        claims.Reading(
            "corrected, for all m in [-1, 1]",
            claims.Finding("whether one draw of signs does for all m once the sums are corrected"),
            claims=FOR_ALL,
            note="m = 1 and m = -1 together ask for xi_bar^2 |k sum lambda_i lambda_j c_i c^_j| <= "
            "2 |lambda|^2, of h_3, from both sides",
        ),
    ),
    mutants=(
        claims.Mutant("the powers m^l are lost", claims=WITHOUT_POWERS),
        claims.Mutant("the term l = 0 is let in", simulate=FROM_0),
        claims.Mutant("the sign of -m", claims=_claims(_powers, -1.0)),
    ),
    keys=512,
)
