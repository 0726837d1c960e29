"""On the features of Claim 2, a Hermite activation of order p > 2 keeps the sign of h.

Proposition 3 of Dayi and Chen (2024), xi = 1: h(m) = 2p (k/(k+1))^p h~(m) with
h~(m) = sum_i lambda_i^2 c_i c^_i + O(lambda_max^2 / k), and h(m) sign(h(0)) >= |h(0)| / 2 with high
probability over c^, read as 0.95. The proof bounds the part off the diagonal by lambda_max^2 /
k^(p-2); its terms are at most k^-1 (2/k)^(p-1), so a factor 2^(p-1) is missing there.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import from_coefficients
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank.claim_2 import features

HIGHEST = 6
LADDER = (5.0, 9.0, 17.0, 33.0)


class Speed(NamedTuple):
    """For a random c^: h and h~, what is left of h~ without its main term and off the diagonal.

    Then h(m) sign(h(0)) where m h(0) >= 0, and |h(0)|.
    """

    h: Float[Array, ""]
    reduced: Float[Array, ""]
    rest: Float[Array, ""]
    off: Float[Array, ""]
    signed: Float[Array, " overlaps"]
    zero: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Speed:
    """h from the tangent of h_p, h~ as printed."""
    signs = jnp.where(x.signs >= 0, 1.0, -1.0)
    student = jnp.where(jax.random.normal(key, (x.k,)) >= 0, 1.0, -1.0)
    given = rank_one.from_signs(features(signs), x.readout, signs, student, 1.0)
    hermite = from_coefficients(jax.nn.one_hot(x.power, HIGHEST + 1, dtype=float))
    kicks = jnp.outer(given.readout * given.teacher, given.readout * given.student)
    inner = rank_one.gram(given) + jnp.outer(given.teacher, given.student) * x.overlap
    parts = kicks * inner ** (x.power - 1)
    main = jnp.sum(jnp.square(given.readout) * given.teacher * given.student)
    at_zero = speed(given, hermite, 0.0 * x.overlap)
    side = jnp.where(at_zero >= 0, 1.0, -1.0)
    return Speed(
        speed(given, hermite, x.overlap),
        jnp.sum(parts),
        jnp.sum(parts) - main,
        jnp.abs(jnp.sum(parts) - jnp.trace(parts)),
        speed(given, hermite, side * jnp.linspace(0.0, 1.0, 33)) * side,
        jnp.abs(at_zero),
    )


def _largest(r: claims.Run):
    return jnp.max(jnp.abs(r.x.readout)) ** 2


def _off(constant):
    return claims.at_most(
        "the part off the diagonal",
        lambda r: r.sim.off,
        lambda r: constant(r.x) * _largest(r) / r.x.k ** (r.x.power - 2.0),
    )


def _rest(power):
    return claims.exists_constant(
        "C1: h~ - sum_i lambda_i^2 c_i c^_i = O(lambda_max^2 / k)",
        lambda r: jnp.max(jnp.abs(r.sim.rest), axis=0),
        lambda r: _largest(r) / r.x.k ** power(r.x),
        over={"k": LADDER},
    )


def _sign_kept(share: float):
    return claims.with_probability(
        "C2: h keeps its sign",
        lambda r: share * r.sim.zero[:, None],
        lambda r: r.sim.signed,
        at_least=lambda r: 0.95,
    )


PREFACTOR = claims.equal(
    "C1: h = 2p (k/(k+1))^p h~",
    lambda r: r.sim.h,
    lambda r: 2 * r.x.power * (r.x.k / (r.x.k + 1)) ** r.x.power * r.sim.reduced,
)
AS_PRINTED = _off(lambda x: 1.0)

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(17, low=2, high=40),
        readout=claims.Real(1, 2, shape="k"),
        signs=claims.Real(-1, 1, shape="k"),
        power=claims.Integer(3, HIGHEST),
        overlap=claims.Real(-1, 1),
    ),
    simulate=simulate,
    claims=(PREFACTOR, AS_PRINTED, _rest(lambda x: 1.0), _sign_kept(0.5)),
    source=claims.Printed(
        "Proposition 3 and its proof, Section 3.5",
        "h(m) = 2p (k/(k+1))^p h~(m); the part off the diagonal <= lambda_max^2 / k^(p-2)",
    ),
    note="the factor 2^(p-1) of (2/k)^(p-1) is missing off the diagonal",
    readings=(
        claims.corrected(
            "2^(p-1) lambda_max^2 / k^(p-2) for lambda_max^2 / k^(p-2)",
            claims=(
                PREFACTOR,
                _off(lambda x: 2.0 ** (x.power - 1)),
                _rest(lambda x: 1.0),
                _sign_kept(0.5),
            ),
            note="terms off the diagonal are at most (2/k)^(p-1) / k",
        ),
    ),
    mutants=(
        claims.Mutant("p for 2p", claims=(PREFACTOR.scaled(0.5),)),
        claims.Mutant("without 2^(p-1), as printed", claims=(AS_PRINTED,)),
        claims.Mutant(
            "1/k^(p-2) for 1/k; 2 |h(0)| for |h(0)| / 2",
            claims=(_rest(lambda x: x.power - 2.0), _sign_kept(2.0)),
        ),
    ),
    keys=256,
    instances=32,
)
