"""For orthonormal features h splits into three parts; the third has the sign of m.

Eqs. 7 to 9 of Dayi and Chen (2024): T(l, 0) is k sum_ij lambda_i lambda_j c_i c^_j (l even) or
(sum_i lambda_i)^2 (l odd), T(l, s) for s >= 1 is k sum_i lambda_i^2 c_i c^_i or |lambda|^2. Part
(7) is l = s = 0, part (8) has even l and s >= 1, part (9) is the rest, whose product with m is
claimed to be positive with high probability over the signs (Claim 1 gives 1 - exp(-2k / (e xi^2))).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Real,
    Run,
    Size,
    Space,
    Theorem,
    equal,
    with_probability,
)
from theorysim.numerics.gaussian import from_coefficients
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import moments, series_coefficients, speed
from theorysim.theorems.low_rank._problem import DEGREES, sign


def simulate(x: Instance, key):
    """h(m) in closed form, T(l, s) from Gram powers, and the problem's sums, for random signs."""
    signs = sign(jax.random.normal(key, (2, x.k)))
    scale = x.xi_bar * jnp.sqrt(x.k)
    given = rank_one.from_signs(jnp.eye(x.k), x.readout, signs[0], signs[1], scale)
    chosen = from_coefficients(x.mu)
    left, right = given.readout * given.teacher, given.readout * given.student
    return {
        "h": speed(given, chosen, x.overlap),
        "moments": moments(given, DEGREES),
        "table": series_coefficients(given, chosen, DEGREES),
        "product": x.k * jnp.sum(left) * jnp.sum(right),
        "diagonal": x.k * jnp.sum(left * right),
    }


def _printed_moments(r: Run):
    """T(l, s): even l, then odd l."""
    later = jnp.arange(DEGREES) > 0
    readout = r.x.readout
    even = jnp.where(later, r.sim["diagonal"][:, None], r.sim["product"][:, None])
    odd = jnp.where(later, jnp.sum(readout**2), jnp.sum(readout) ** 2)
    return jnp.stack([even, jnp.broadcast_to(odd, even.shape)], axis=1)


def _parts(r: Run, factor: float = 1.0):
    """(7) and (8) as printed."""
    m, xi_bar = r.x.overlap, r.x.xi_bar
    first = 2 * factor * r.sim["product"] * r.x.mu[1] ** 2 * xi_bar**2 / (1 + xi_bar**2)
    orders = jnp.arange(DEGREES)
    even = jnp.where(orders % 2 == 0, m**orders, 0.0)[:, None] * (orders >= 1)
    return first + 2 * r.sim["diagonal"] * jnp.sum(r.sim["table"] * even, axis=(1, 2))


def _rest(r: Run):
    """(9): odd l, and even l > 0 with s = 0."""
    orders = jnp.arange(DEGREES)
    printed = _printed_moments(r)
    powers = r.x.overlap**orders
    odd = jnp.where(orders % 2 == 1, powers, 0.0)[:, None] * r.sim["table"] * printed[:, 1:2]
    later = (orders % 2 == 0) & (orders > 0)
    even = jnp.where(later, powers, 0.0) * r.sim["table"][..., 0] * printed[:, 0, :1]
    return 2 * (jnp.sum(odd, axis=(1, 2)) + jnp.sum(even, axis=1))


def _claims(factor: float, share: float):
    return (
        equal("T(l, s)", lambda r: r.sim["moments"], lambda r: factor * _printed_moments(r)),
        equal("h = (7) + (8) + (9)", lambda r: r.sim["h"], lambda r: _parts(r, factor) + _rest(r)),
        with_probability(
            "C1: m times (9) is not negative",
            lambda r: -share * r.x.overlap * _rest(r),
            lambda r: 0.0,
            at_least=lambda r: 1 - jnp.exp(-2 / (jnp.e * r.x.xi_bar**2)),
        ),
    )


theorem = Theorem(
    space=Space(
        k=Size(5, high=64),
        readout=Real(0.1, 10, log=True, shape="k"),
        mu=Real(-1, 1, shape=DEGREES),
        xi_bar=Real(0.3, 2),
        overlap=Real(-1, 1),
    ),
    simulate=simulate,
    claims=_claims(1.0, 1.0),
    aliases=("equation-8", "equation-9"),
    mutants=(Mutant("twice T and the opposite sign", claims=_claims(2.0, -1.0)),),
    keys=256,
)
