"""What rank-one fine-tuning does to the overlap m = <u^, u>, for Gaussian inputs.

On the population, spherical gradient flow moves m alone: dm/ds = h(m) (1 - m^2), where

    h(m) = (2 scale^2 / A) sum_ij readout_i readout_j c_i c^_j tangent(r_ij(m)),
    r_ij(m) = (G_ij + scale^2 c_i c^_j m) / A,

with the activation's tangent E[s'(a) s'(b)]. Lengths, loss and A are those of
`theorysim.systems.rank_one`. In the coordinate artanh(m) the flow is d artanh(m) / ds = h, which
keeps the digits of 1 - m.

Source: Dayi, Chen, arXiv 2411.15385, Proposition 1 and Appendix A.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy import special

from theorysim.numerics.flow import integrate
from theorysim.numerics.gaussian import Activation, truncation_error
from theorysim.systems.rank_one import RankOne, gram, square_length

# Gauss-Legendre nodes of the hitting time; the integrand 1/h(tanh x) is smooth in x.
NODES = 200


class Series(NamedTuple):
    """h(m) by its first Hermite coefficients, and a bound on what they leave out."""

    value: Float[Array, "*times"]
    truncation: Float[Array, "*times"]


def _pairs(problem: RankOne, times: int) -> tuple[Float[Array, "*ones k k"], ...]:
    """G_ij, lambda_i lambda_j and scale^2 c_i c^_j, with so many axes of times in front."""
    readouts = jnp.outer(problem.readout, problem.readout)
    kicks = jnp.square(problem.scale) * jnp.outer(problem.teacher, problem.student)
    matrices = (gram(problem), readouts, kicks)
    return tuple(jnp.expand_dims(matrix, tuple(range(times))) for matrix in matrices)


def correlations(problem: RankOne, m: Float[Array, "*times"]) -> Float[Array, "*times k k"]:
    """<v_i, v^_j> = (G_ij + scale^2 c_i c^_j m) / A."""
    cosines, _, kicks = _pairs(problem, m.ndim)
    return (cosines + kicks * m[..., None, None]) / square_length(problem)


def speed(
    problem: RankOne, activation: Activation, m: Float[Array, "*times"]
) -> Float[Array, "*times"]:
    """h(m) in closed form."""
    _, readouts, kicks = _pairs(problem, m.ndim)
    slopes = activation.tangent(correlations(problem, m))
    return 2 / square_length(problem) * jnp.sum(readouts * kicks * slopes, axis=(-2, -1))


def moments(problem: RankOne, orders: int) -> Float[Array, "2 orders"]:
    """T(l, s) of Proposition 1 for s < orders; row 0 for even l, row 1 for odd l.

    Odd l: |sum_i readout_i w_i^{(x) s}|^2. Even l: k <sum_i readout_i c_i w_i^{(x) s},
    sum_i readout_i c^_i w_i^{(x) s}>. An inner product of s-fold tensor powers is G_ij^s.
    """
    k = problem.readout.shape[0]
    readouts = jnp.outer(problem.readout, problem.readout)
    signed = k * readouts * jnp.outer(problem.teacher, problem.student)
    exponents = jnp.arange(orders, dtype=readouts.dtype)
    powers = gram(problem)[None] ** exponents[:, None, None]
    terms = (signed[None] * powers, readouts[None] * powers)
    return jnp.stack([jnp.sum(term, (1, 2)) for term in terms])


def series_coefficients(
    problem: RankOne, activation: Activation, orders: int
) -> Float[Array, "orders orders"]:
    """The summand of Proposition 1 without T(l, s) m^l and the factor 2, at entry (l, s).

    (scale^2/k)^(l+1) C(l+s, l) (l+s+1) mu_(l+s+1)^2 A^-(l+s+1), zero where l + s >= orders.
    """
    a = square_length(problem)
    left, right = np.meshgrid(np.arange(orders), np.arange(orders), indexing="ij")
    order = np.minimum(left + right, orders - 1)
    binomial = np.where(left + right < orders, special.comb(left + right, left), 0)
    squares = jnp.square(activation.coefficients(orders + 1))[order + 1]
    weight = jnp.asarray(binomial * (order + 1), squares.dtype) * squares
    # (scale^2/k)^(l+1) A^-(l+s+1) = (1 - 1/A)^(l+1) A^-s
    share = jnp.square(problem.scale) / problem.readout.shape[0] / a
    return weight * share ** jnp.asarray(left + 1, a.dtype) * a ** jnp.asarray(-right, a.dtype)


def speed_series(
    problem: RankOne, activation: Activation, m: Float[Array, "*times"], orders: int
) -> Series:
    """h(m) as Proposition 1 prints it, cut off after mu_orders, with the truncation error."""
    parity = jnp.arange(orders) % 2
    table = series_coefficients(problem, activation, orders) * moments(problem, orders)[parity]
    value = 2 * jnp.polyval(jnp.sum(table, axis=1)[::-1], m)
    _, readouts, kicks = _pairs(problem, m.ndim)
    left_out = truncation_error(activation, orders + 1, correlations(problem, m))
    bound = jnp.sum(jnp.abs(readouts * kicks) * left_out, axis=(-2, -1))
    return Series(value, 2 / square_length(problem) * bound)


def population_loss(
    problem: RankOne, activation: Activation, m: Float[Array, "*times"]
) -> Float[Array, "*times"]:
    """E (f* - f^)^2 = sum_ij readout_i readout_j (dual(v_i, v_j) + dual(v^_i, v^_j) - 2 dual(v_i,
    v^_j)); its slope in m is -h(m)."""
    _, readouts, _ = _pairs(problem, m.ndim)
    ones = jnp.ones_like(m)
    teacher, student = (
        correlations(problem._replace(teacher=c, student=c), ones)
        for c in (problem.teacher, problem.student)
    )
    crossed = correlations(problem, m)
    dual = activation.dual
    return jnp.sum(readouts * (dual(teacher) + dual(student) - 2 * dual(crossed)), axis=(-2, -1))


def overlap_flow(
    problem: RankOne,
    activation: Activation,
    start: Any,
    times: Float[Array, " times"],
    *,
    tolerance_scale: Any = 1.0,
) -> Float[Array, " times"]:
    """artanh(m) along the population's gradient flow from m = tanh(start)."""

    def field(angle: Array, _: Any) -> Array:
        return speed(problem, activation, jnp.tanh(angle))

    return integrate(field, jnp.asarray(start), times, tolerance_scale=tolerance_scale)


def hitting_time(
    problem: RankOne, activation: Activation, start: Any, end: Any
) -> Float[Array, ""]:
    """Time from m = start to m = end: the integral of dm / (h(m) (1 - m^2)), by quadrature.

    Infinite where h has a zero or points away on the way, as seen at the nodes.
    """
    first, last = jnp.arctanh(jnp.asarray(start)), jnp.arctanh(jnp.asarray(end))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    angles = first + (last - first) * (jnp.asarray(nodes) + 1) / 2
    h = speed(problem, activation, jnp.tanh(angles))
    towards = h * jnp.sign(last - first) > 0
    time = (last - first) / 2 * jnp.sum(weights / jnp.where(towards, h, 1))
    return jnp.where(jnp.all(towards), time, jnp.inf)


def keeps_sign(problem: RankOne, activation: Activation, points: int = 101) -> Float[Array, ""]:
    """min over m of h(sign(h(0)) m) sign(h(0)) / |h(0)| on a grid of [0, 1] (Condition 3: >= 1/2).

    NaN where h(0) vanishes to rounding.
    """
    grid = jnp.linspace(0.0, 1.0, points)
    at_zero = speed(problem, activation, jnp.zeros(()))
    ratio = speed(problem, activation, jnp.sign(at_zero) * grid) / at_zero
    return jnp.where(is_zero(problem, activation, at_zero), jnp.nan, jnp.min(ratio))


def is_zero(problem: RankOne, activation: Activation, h: Float[Array, ""]) -> Bool[Array, ""]:
    """Whether h is 0 to rounding: below 1e-12 of the largest value its terms allow."""
    _, readouts, kicks = _pairs(problem, 0)
    largest = 2 / square_length(problem) * jnp.sum(jnp.abs(readouts * kicks))
    return jnp.abs(h) <= 1e-12 * largest * activation.tangent(jnp.ones_like(h))
