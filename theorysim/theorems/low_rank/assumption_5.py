"""Activations that the theorems admit: slopes, Hermite coefficients, moments of differences.

Assumption 5 of Dayi and Chen (2024): (1) |s'(a)| <= b + c |a|^q; (2) |mu_p| <= C p^(-1 - rho) for
some rho > 0; (3) (E|s(g_1) - s(g_2)|^p)^(1/p) <= C_p (E|g_1 - g_2|^2p)^(1/2p) for correlated
Gaussians. Section 2.1 says that Lipschitz activations and polynomials have all of it. Decided for
ReLU, |a|, an erf and random polynomials of degree 4: (1) with q = 3 as |a| grows, (2) with rho =
1/4, which ReLU and |a| have and no more (`proposition-2` takes it), (3) for p = 1, 2, 4 as the
correlation tends to 1, where it could fail: the sign function has not got it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import erf
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import from_coefficients
from theorysim.theorems.low_rank._recovery import even, odd

ORDERS = (8.0, 16.0, 32.0, 64.0, 128.0)
GAPS = (1e-1, 1e-2, 1e-3, 1e-4)  # 1 - correlation
FAR = (4.0, 16.0, 64.0, 256.0)
POWERS = (1, 2, 4)
SAMPLES = 4096


class Outcome(NamedTuple):
    """|mu_p| of ReLU and |a|; |s'(a)|; roots of moments of s(g_1) - s(g_2) over those of g_1 - g_2.

    Slopes and moments are those of every activation, and moments of every power.
    """

    decay: Float[Array, "2"]
    slope: Float[Array, " activations"]
    moments: Float[Array, "activations powers"]


def _activations(x: claims.Instance) -> list:
    return [jax.nn.relu, jnp.abs, erf, from_coefficients(x.mu).value]


def _ratios(values: Array, apart: Array) -> Float[Array, " powers"]:
    """(E|values|^p)^(1/p) / (E|apart|^2p)^(1/2p) over samples."""

    def moment(of: Array, power: int) -> Array:
        return jnp.mean(jnp.abs(of) ** power) ** (1 / power)

    return jnp.stack([moment(values, p) / moment(apart, 2 * p) for p in POWERS])


def _simulate(activations):
    def simulate(x: claims.Instance, key) -> Outcome:
        last, given = int(ORDERS[-1]), activations(x)
        decay = jnp.abs(jnp.stack([s().coefficients(last + 1)[x.order] for s in (odd, even)]))
        slope = jnp.abs(jnp.stack([jax.grad(lambda a, s=s: s(a))(x.far) for s in given]))
        first, second = jax.random.normal(key, (2, SAMPLES))
        apart = jnp.sqrt(x.gap * (2 - x.gap)) * second - x.gap * first
        moments = jnp.stack([_ratios(s(first + apart) - s(first), apart) for s in given])
        return Outcome(decay, slope, moments)

    return simulate


def _claims(rho: float, q: float = 3.0):
    return (
        claims.exists_constant(
            "1: |s'(a)| <= b + c |a|^q",
            lambda r: r.sim.slope,
            lambda r: 1 + r.x.far**q,
            over={"far": FAR},
        ),
        claims.exists_constant(
            "2: |mu_p| <= C p^(-1 - rho)",
            lambda r: r.sim.decay,
            lambda r: r.x.order ** (-1.0 - rho),
            over={"order": ORDERS},
        ),
        claims.exists_constant(
            "3: moments of differences",
            lambda r: r.sim.moments,
            lambda r: 1.0,
            over={"gap": GAPS},
        ),
    )


theorem = claims.Theorem(
    space=claims.Space(
        order=claims.Integer(1, int(ORDERS[-1])),
        far=claims.Real(1, FAR[-1], log=True),
        gap=claims.Real(GAPS[-1], GAPS[0], log=True),
        mu=claims.Real(-1, 1, shape=5),
    ),
    simulate=_simulate(_activations),
    claims=_claims(0.25),
    source=claims.Printed(
        "Assumption 5, Section 2.1",
        "|sigma'(a)| <= b + c |a|^q; |mu_p(sigma)| <= C_sigma p^(-1 - rho), rho > 0; "
        "(E|sigma(g_1) - sigma(g_2)|^p)^(1/p) <= C_(p,sigma) (E|g_1 - g_2|^2p)^(1/2p)",
    ),
    mutants=(
        claims.Mutant("rho = 1; q = 2", claims=_claims(1.0, 2.0)),
        claims.Mutant("the sign function", simulate=_simulate(lambda x: [jnp.sign])),
    ),
    instances=16,
)
