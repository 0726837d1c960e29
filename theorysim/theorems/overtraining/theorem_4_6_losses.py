"""The loss of a pretrained start is near that of its ideal one, by two Frobenius norms.

A line of the proof of Theorem A.24 of Springer et al. (2025): with theta the product of the factors
after pre-training and theta_hat the ideal one, which has the first n features, the difference of
|theta - A^pre|_F^2 and |theta_hat - A^pre|_F^2 is bounded by |theta - theta_hat|_F times the
operator norm of theta + theta_hat - 2 A^pre. It is the trace of a product, which the Frobenius norm
of both bounds, as in the proof of Lemma A.6, and the operator norm of one does not: two features
that are not learned, and nearly equal, add up. The flow stops anywhere between two features, which
Theorem A.1 leaves open. However close the start, features may be nearer still: with features (1,
1/2, 1/2 - 1e-5) and a distance of 1e-69 the ratio is 1.414.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import linear_modes


class Products(NamedTuple):
    """Diagonals of W_1 W_2, after pre-training and ideally."""

    real: Float[Array, " d"]
    ideal: Float[Array, " d"]


def _stop(x: claims.Instance) -> Float[Array, ""]:
    """A time between those at which features n and n + 1 are half learned, from exp(-tau)."""
    half = x.tau / (2 * x.pre)
    following = jnp.append(half[1:], 2 * half[-1])
    return half[x.n - 1] + x.between * (following - half)[x.n - 1]


def simulate(x: claims.Instance, key) -> Products:
    """Gradient flow of separate modes from W_1 = W_2 = exp(-tau) I, in closed form (eq-5-6)."""
    real = jnp.exp(linear_modes.log_growth(_stop(x)[None], x.pre, x.tau)[0])
    return Products(real, jnp.where(jnp.arange(x.d) < x.n, x.pre, 0.0))


def _losses(r: claims.Run) -> Float[Array, ""]:
    """| |theta - A^pre|_F^2 - |theta_hat - A^pre|_F^2 |."""
    loss = lambda product: jnp.sum((product - r.x.pre) ** 2)  # noqa: E731
    return jnp.abs(loss(r.sim.real) - loss(r.sim.ideal))


def _bound(order: float):
    """|theta - theta_hat|_F times a norm of theta + theta_hat - 2 A^pre, both diagonal."""

    def bound(r: claims.Run) -> Float[Array, ""]:
        real, ideal = r.sim
        return jnp.linalg.norm(real - ideal) * jnp.linalg.norm(real + ideal - 2 * r.x.pre, order)

    return bound


OPERATOR = claims.at_most("the difference of the losses", _losses, _bound(jnp.inf))
FROBENIUS = OPERATOR.against(_bound(2))

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, low=2, high=9),
        pre=claims.Spectrum("d", 0.2, 1, gap=1.01),
        n=claims.Integer(1, "d"),
        between=claims.Real(0.1, 0.9),
        tau=claims.Real(3, 12),
    ),
    simulate=simulate,
    claims=(OPERATOR,),
    source=claims.Printed(
        "proof of Theorem A.24",
        "| |theta - A^pre|_F^2 - |theta_hat - A^pre|_F^2 | <= |theta^n(0) - theta_hat^n(0)|_F "
        "|theta^n(0) + theta_hat^n(0) - 2 A^pre|_op",
    ),
    note="a trace of a product is not bounded by the operator norm of one factor and the Frobenius "
    "norm of the other",
    readings=(
        claims.corrected(
            "the Frobenius norm for the operator norm",
            claims=(FROBENIUS,),
            note="as in the proof of Lemma A.6; the 32 Gamma that follows it then needs sqrt(d)",
        ),
    ),
    mutants=(claims.Mutant("half of the bound", claims=(FROBENIUS.scaled(0.5),)),),
)
