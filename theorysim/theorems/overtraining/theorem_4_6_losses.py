"""The loss of a pretrained start is near that of its ideal one, by two Frobenius norms.

A line of the proof of Theorem A.24 of Springer et al. (2025): with theta the product of the factors
after pre-training and theta_hat the ideal one, which has the first n features, the difference of
|theta - A^pre|_F^2 and |theta_hat - A^pre|_F^2 is bounded by |theta - theta_hat|_F times the
operator norm of theta + theta_hat - 2 A^pre. It is the trace of a product, which the Frobenius norm
of both bounds, as in the proof of Lemma A.6, and the operator norm of one does not: two features
that are not learned, and nearly equal, add up.

All of Assumption A.21 is met as printed: every stage comes as near to its ideal as item 5 asks, at
the stage times and at the time between two features at which the line is tried. Starts are so near
then that their distance may underflow: both sides are divided by its largest entry. Under the
corrected items the two features that add up would have to be so near that a later stage would come
too late; what is left of the excess is exponentially small, and below rounding.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage

SIZES = a_21.AS_PRINTED


class Products(NamedTuple):
    """Diagonals: (theta - theta_hat) over its largest entry, and theta + theta_hat - 2 A^pre."""

    apart: Float[Array, " d"]
    middle: Float[Array, " d"]


class State(NamedTuple):
    """Diagonals of the flow at a time: theta, log |theta - theta_hat|, and that of the factors."""

    product: Float[Array, " d"]
    log_apart: Float[Array, " d"]
    log_apart_factors: Float[Array, " d"]


def _learned(x: claims.Instance) -> Float[Array, " d"]:
    return jnp.arange(x.d) < x.n


def _time(x: claims.Instance) -> Float[Array, ""]:
    """A time between those at which features n and n + 1 are half learned."""
    half = SIZES.tau(x) / (2 * stage.pre_spectrum(x))
    following = jnp.append(half[1:], 2 * half[-1])
    return half[x.n - 1] + x.between * (following - half)[x.n - 1]


def _state(x: claims.Instance) -> State:
    """Gradient flow of separate modes from W_1 = W_2 = sqrt(sigma_1) exp(-tau) I (eq-5-6).

    A mode of theta is sigma / (1 + exp(a)), a = 2 tau - 4 sigma t + log(sigma / sigma_1 - e^-2tau).
    """
    sigma, tau = stage.pre_spectrum(x), SIZES.tau(x)
    a = 2 * tau - 4 * sigma * _time(x) + jnp.log(sigma / sigma[0] - jnp.exp(-2 * tau))
    log_product = jnp.log(sigma) - jax.nn.softplus(a)
    log_missing = jnp.log(sigma) - jax.nn.softplus(-a)
    roots = jnp.sqrt(sigma) + jnp.exp(log_product / 2)
    return State(
        jnp.exp(log_product),
        jnp.where(_learned(x), log_missing, log_product),
        jnp.where(_learned(x), log_missing - jnp.log(roots), log_product / 2),
    )


def _is_near(x: claims.Instance) -> Float[Array, ""]:
    """Margin of item 5 at the time of the line, in orders of magnitude."""
    distance = jax.nn.logsumexp(2 * _state(x).log_apart_factors) / 2
    return (SIZES.log_start(x, SIZES.steps(x)) - distance) / a_21.LOG_10


def simulate(x: claims.Instance, key) -> Products:
    """The state of the flow beside the ideal one."""
    state, sigma = _state(x), stage.pre_spectrum(x)
    ideal = jnp.where(_learned(x), sigma, 0.0)
    apart = jnp.exp(state.log_apart - jnp.max(state.log_apart))
    return Products(jnp.where(_learned(x), -apart, apart), state.product + ideal - 2 * sigma)


def _losses(r: claims.Run) -> Float[Array, ""]:
    """| |theta - A^pre|_F^2 - |theta_hat - A^pre|_F^2 |, a trace of a product."""
    return jnp.abs(jnp.sum(r.sim.apart * r.sim.middle))


def _bound(order: float):
    """|theta - theta_hat|_F times a norm of theta + theta_hat - 2 A^pre, both diagonal."""

    def bound(r: claims.Run) -> Float[Array, ""]:
        return jnp.linalg.norm(r.sim.apart) * jnp.linalg.norm(r.sim.middle, order)

    return bound


OPERATOR = claims.at_most("the difference of the losses", _losses, _bound(jnp.inf))
FROBENIUS = OPERATOR.against(_bound(2))

theorem = claims.Theorem(
    space=stage.stage_space(
        scale=claims.Real(0.1, 100, log=True),
        pre=claims.Spectrum("d", 0.005, 1, gap=1.005),
        n=claims.Integer(1, "d"),
        between=claims.Real(0.01, 0.99, log=True),
    ),
    assumes=(SIZES.assumption(),),
    hypotheses={**stage.APART, "A.21.5, log10 start, at this time": _is_near},
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
