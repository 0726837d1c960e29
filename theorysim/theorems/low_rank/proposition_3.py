"""On the features of Claim 2, a Hermite activation of order p > 2 keeps the sign of h.

Proposition 3 of Dayi and Chen (2024), xi = 1: h(m) = 2p (k/(k+1))^p h~(m) with
h~(m) = sum_i lambda_i^2 c_i c^_i + O(lambda_max^2 / k), and h(m) sign(h(0)) >= |h(0)| / 2 with high
probability over c^. The proof bounds the part off the diagonal by lambda_max^2 / k^(p-2); its terms
are at most k^-1 (2/k)^(p-1), so a factor 2^(p-1) is missing there.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Integer,
    Mutant,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    at_most,
    equal,
    exists_constant,
    with_probability,
)
from theorysim.numerics import gaussian
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank.claim_2 import features
from theorysim.theorems.low_rank._problem import sign

HIGHEST = 6
LADDER = (5.0, 9.0, 17.0, 33.0)


def _problem(x: Instance, key) -> rank_one.RankOne:
    signs, student = sign(x.signs), sign(jax.random.normal(key, (x.k,)))
    rows = features(signs)
    return rank_one.from_signs(rows, x.readout, signs, student, 1.0)


def simulate(x: Instance, key):
    """h from the tangent of h_p, and h~ with its parts, for a random c^."""
    given = _problem(x, key)
    chosen = gaussian.from_coefficients(jax.nn.one_hot(x.power, HIGHEST + 1, dtype=float))
    kicks = jnp.outer(given.readout * given.teacher, given.readout * given.student)
    inner = rank_one.gram(given) + jnp.outer(given.teacher, given.student) * x.overlap
    parts = kicks * inner ** (x.power - 1)
    main = jnp.sum(jnp.square(given.readout) * given.teacher * given.student)
    grid = jnp.linspace(0.0, 1.0, 33)
    at_zero = speed(given, chosen, 0.0 * x.overlap)
    return {
        "h": speed(given, chosen, x.overlap),
        "h~": jnp.sum(parts),
        "rest": jnp.sum(parts) - main,
        "off": jnp.abs(jnp.sum(parts) - jnp.trace(parts)),
        "signed": speed(given, chosen, sign(at_zero) * grid) * sign(at_zero),
        "zero": jnp.abs(at_zero),
    }


def _largest(r):
    return jnp.max(jnp.abs(r.x.readout)) ** 2


def _prefactor(factor: float):
    return equal(
        "C1: h = 2p (k/(k+1))^p h~",
        lambda r: r.sim["h"],
        lambda r: factor * r.x.power * (r.x.k / (r.x.k + 1)) ** r.x.power * r.sim["h~"],
    )


def _off(factor):
    return at_most(
        "the part off the diagonal",
        lambda r: r.sim["off"],
        lambda r: factor(r) * _largest(r) / r.x.k ** (r.x.power - 2.0),
    )


REST = exists_constant(
    "C1: h~ - sum_i lambda_i^2 c_i c^_i = O(lambda_max^2 / k)",
    lambda r: jnp.max(jnp.abs(r.sim["rest"]), axis=0),
    lambda r: _largest(r) / r.x.k,
    over={"k": LADDER},
)


def _sign_kept(share: float):
    return with_probability(
        "C2: h keeps its sign",
        lambda r: share * r.sim["zero"][:, None],
        lambda r: r.sim["signed"],
        at_least=lambda r: 0.95,
    )


theorem = Theorem(
    space=Space(
        k=Size(17, low=2, high=40),
        readout=Real(1, 2, shape="k"),
        signs=Real(-1, 1, shape="k"),
        power=Integer(3, HIGHEST),
        overlap=Real(-1, 1),
    ),
    simulate=simulate,
    claims=(_prefactor(2), _off(lambda r: 1.0), REST, _sign_kept(0.5)),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=(
                _prefactor(2),
                _off(lambda r: 2.0 ** (r.x.power - 1)),
                REST,
                _sign_kept(0.5),
            ),
            primary=True,
            note="the factor 2^(p-1) of (2/k)^(p-1) is missing off the diagonal",
        ),
    ),
    mutants=(
        Mutant(
            "prefactor p, sign kept by 1.5 h(0)",
            claims=(_prefactor(1), _off(lambda r: 0.01), REST, _sign_kept(1.5)),
        ),
    ),
    keys=256,
    instances=32,
)
