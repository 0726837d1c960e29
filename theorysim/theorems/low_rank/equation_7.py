"""For orthonormal features h splits into three parts; the third has the sign of m.

Eqs. 7 to 9 of Dayi and Chen (2024): T(l, 0) is k sum_ij lambda_i lambda_j c_i c^_j (l even) or
(sum_i lambda_i)^2 (l odd), T(l, s) for s >= 1 is k sum_i lambda_i^2 c_i c^_i or |lambda|^2. Part
(7) is l = s = 0, part (8) has even l and s >= 1, part (9) is the rest, whose product with m is
claimed to be positive with high probability over the signs (Claim 1 gives 1 - exp(-2k / (e xi^2)),
for each m), which asks for m != 0 and an activation beyond h_1.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.rank_one_overlap import moments, series_coefficients, speed
from theorysim.theorems.low_rank import _problem as problems

ORDERS = np.arange(problems.DEGREES)  # of l, and of s


class Parts(NamedTuple):
    """h(m) in closed form, T(l, s) for even and for odd l, the series' factors, sums of signs.

    `product` is k sum_ij lambda_i lambda_j c_i c^_j, `diagonal` k sum_i lambda_i^2 c_i c^_i.
    """

    h: Float[Array, ""]
    moments: Float[Array, "2 s"]
    table: Float[Array, "l s"]
    product: Float[Array, ""]
    diagonal: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Parts:
    """For random signs."""
    given, chosen = problems.orthonormal(x, key), problems.series(x)
    left, right = given.readout * given.teacher, given.readout * given.student
    return Parts(
        speed(given, chosen, x.overlap),
        moments(given, problems.DEGREES),
        series_coefficients(given, chosen, problems.DEGREES),
        x.k * jnp.sum(left) * jnp.sum(right),
        x.k * jnp.sum(left * right),
    )


def _printed_moments(r: claims.Run) -> Float[Array, "keys 2 s"]:
    readout = r.x.readout
    even = jnp.where(ORDERS > 0, r.sim.diagonal[:, None], r.sim.product[:, None])
    odd = jnp.where(ORDERS > 0, jnp.sum(readout**2), jnp.sum(readout) ** 2)
    return jnp.stack([even, jnp.broadcast_to(odd, even.shape)], axis=1)


def _first_parts(r: claims.Run):
    """(7) and (8) as printed."""
    m, xi_bar = r.x.overlap, r.x.xi_bar
    first = 2 * r.sim.product * r.x.mu[1] ** 2 * xi_bar**2 / (1 + xi_bar**2)
    even = jnp.where(ORDERS % 2 == 0, m**ORDERS, 0.0)[:, None] * (ORDERS >= 1)
    return first + 2 * r.sim.diagonal * jnp.sum(r.sim.table * even, axis=(1, 2))


def _rest(r: claims.Run):
    """(9): odd l, and even l > 0 with s = 0."""
    printed, powers = _printed_moments(r), r.x.overlap**ORDERS
    odd = jnp.where(ORDERS % 2 == 1, powers, 0.0)[:, None] * r.sim.table * printed[:, 1:2]
    later = (ORDERS % 2 == 0) & (ORDERS > 0)
    even = jnp.where(later, powers, 0.0) * r.sim.table[..., 0] * printed[:, 0, :1]
    return 2 * (jnp.sum(odd, axis=(1, 2)) + jnp.sum(even, axis=1))


def _outward(orientation: float):
    def misses(r: claims.Run):
        """1 where the product is not positive, which 0 is not."""
        return jnp.where(orientation * r.x.overlap * _rest(r) > 0, 0.0, 1.0)

    return claims.with_probability(
        "C1: m times (9) is positive",
        misses,
        lambda r: 0.5,
        at_least=problems.chance_over_signs,
        statement="for each m",
    )


MOMENTS = claims.equal("T(l, s)", lambda r: r.sim.moments, _printed_moments)
SUM = claims.equal("h = (7) + (8) + (9)", lambda r: r.sim.h, lambda r: _first_parts(r) + _rest(r))

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(5, high=64),
        readout=claims.Real(-10, 10, shape="k"),
        mu=claims.Real(-1, 1, shape=problems.DEGREES),
        xi_bar=claims.Real(0.3, 2),
        overlap=claims.Real(-1, 1),
    ),
    simulate=simulate,
    claims=(MOMENTS, SUM, _outward(1.0)),
    hypotheses={
        "m != 0": claims.strict(lambda x: jnp.abs(x.overlap)),
        "mu_p != 0 for some p >= 2": claims.strict(lambda x: jnp.max(jnp.abs(x.mu[2:]))),
    },
    source=claims.Printed(
        "Eqs. 7 to 9, Section 3.2", "h(m) = (7) + (8) + h~(m) (9), where h~(m) m > 0"
    ),
    aliases=("equation-8", "equation-9"),
    mutants=(
        claims.Mutant(
            "even and odd l swapped",
            claims=(MOMENTS.against(lambda r: _printed_moments(r)[:, ::-1]),),
        ),
        claims.Mutant("part (8) is lost", claims=(SUM.against(_rest),)),
        claims.Mutant("m times (9) is not positive", claims=(_outward(-1.0),)),
    ),
    keys=256,
)
