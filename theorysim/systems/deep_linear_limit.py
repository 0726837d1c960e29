"""Where fine-tuning takes a deep linear network: Theorem 5.2 of "linear teachers" in exact form.

A 0-balanced depth-L linear network with scalar output starts at the end-to-end vector `source`
and is trained by gradient flow on n < d samples of `target`. Its limit is
k_L P_perp source + P_par target, where the coefficient k_L = x^(1 - 1/L) comes from the one scalar
x = ||limit|| / ||source||, the positive root of x^2 = c_perp^2 x^(2 - 2/L) + tau^2.

Source: Shachaf, Brutzkus, Globerson, "A Theoretical Analysis of Fine-tuning with Linear
Teachers", NeurIPS 2021, Theorem 5.2, equations (5) and (6).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optimistix as optx
from jaxtyping import Array, Float

from theorysim.numerics.checks import are_finite, when_known
from theorysim.systems.linear_regression import Scalar, project, row_space


class Alignment(NamedTuple):
    """Lengths relative to ||source||; source_parallel^2 + source_orthogonal^2 = 1."""

    source_parallel: Float[Array, ""]
    """c_par = ||P_par source|| / ||source||"""
    source_orthogonal: Float[Array, ""]
    """c_perp = ||P_perp source|| / ||source||"""
    target_parallel: Float[Array, ""]
    """tau = ||P_par target|| / ||source||"""


def alignment(
    data: Float[Array, "n d"], source: Float[Array, " d"], target: Float[Array, " d"]
) -> Alignment:
    """Lengths of the teachers' parts inside and outside the row space of the data.

    Raises:
        ValueError: as `linear_regression.row_space`, and for a source that is zero or not finite;
            traced ones give NaN.
    """
    check_start(source, 1)
    basis = row_space(data)
    inside, outside = (jnp.linalg.norm(part) for part in project(basis, source))
    length = jnp.hypot(inside, outside)
    target_inside = jnp.linalg.norm(project(basis, target).parallel)
    return Alignment(inside / length, outside / length, target_inside / length)


def log_norm_ratio(lengths: Alignment, depth: Scalar) -> Float[Array, ""]:
    """u = ln(||limit of beta|| / ||source||); depth is a real number >= 1 or infinite.

    The root in u of c_par^2 - c_perp^2 expm1(-2u/L) - tau^2 exp(-2u) = 0, which increases in u.
    For tau = 0, where x = 0 solves the equation too, this is the root x = c_perp^L that the flow
    reaches; for c_perp = tau = 0, where nothing is left of the source, u is -inf. Derivatives of
    every order follow from the implicit function theorem.

    Raises:
        ValueError: for a depth below 1; a traced one gives NaN.
    """
    when_known(_check_depth, depth)
    depth = jnp.asarray(depth, lengths.source_parallel.dtype)
    vanishes = (lengths.source_orthogonal == 0) & (lengths.target_parallel == 0)
    # There is no bracket at -inf: another root stands in for it, so that derivatives stay finite.
    lengths = lengths._replace(target_parallel=jnp.where(vanishes, 1, lengths.target_parallel))
    lower, upper = (jax.lax.stop_gradient(end) for end in _bracket(lengths, depth))
    precision = float(jnp.finfo(depth.dtype).eps)
    # Far more halvings than digits: they end when the bracket has shrunk to two neighbours.
    found = optx.root_find(
        _norm_equation,
        optx.Bisection(rtol=precision, atol=0.0, flip=False),
        0.5 * (lower + upper),
        (lengths, depth),
        options={"lower": lower, "upper": upper},
        max_steps=96,
        throw=False,
    )
    return jnp.where(depth >= 1, jnp.where(vanishes, -jnp.inf, found.value), jnp.nan)


def source_coefficient(lengths: Alignment, depth: Scalar) -> Float[Array, ""]:
    """k_L = x^(1 - 1/L), the factor of P_perp source in equation (5); 1 at depth 1."""
    power = 1 - 1 / jnp.asarray(depth, lengths[0].dtype)
    log_ratio = log_norm_ratio(lengths, depth)
    none_to_the_zeroth = jnp.isneginf(log_ratio) & (power == 0)
    return jnp.exp(power * jnp.where(none_to_the_zeroth, 0, log_ratio))


def infinite_depth_coefficient(lengths: Alignment) -> Float[Array, ""]:
    """tau / c_par = ||P_par target|| / ||P_par source||, the factor in equation (6)."""
    return lengths.target_parallel / lengths.source_parallel


def log_coefficient_gap(lengths: Alignment, depth: Scalar) -> Float[Array, ""]:
    """ln(k_L / k_infinity), with all its digits also where the two agree to rounding.

    With v = ln(x_L / x_infinity) the scalar equation reads
    c_par^2 expm1(-2v) + c_perp^2 expm1(-2 (v + ln x_infinity) / L) = 0, free of cancellation;
    Newton's step in v repairs what the subtraction of the two logarithms lost.
    """
    depth = jnp.asarray(depth, lengths.source_parallel.dtype)
    infinite = jnp.log(infinite_depth_coefficient(lengths))
    inside, outside = jnp.square(lengths.source_parallel), jnp.square(lengths.source_orthogonal)

    def equation(gap: Float[Array, ""]) -> Float[Array, ""]:
        shrunk = jnp.expm1(-2 * (gap + infinite) / depth)
        return inside * jnp.expm1(-2 * gap) + outside * shrunk

    gap = log_norm_ratio(lengths, depth) - infinite
    for _ in range(2):
        gap = gap - equation(gap) / jax.grad(equation)(gap)
    return gap - (gap + infinite) / depth


def limit(
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    depth: Scalar,
) -> Float[Array, " d"]:
    """Theorem 5.2, equation (5): the limit of the end-to-end vector at the given depth.

    Raises:
        ValueError: naming the first hypothesis that known numbers violate: as `alignment` and
            `log_norm_ratio`; for a depth above 1 with no part of the source outside the data, where
            the flow can end in the saddle at zero.
    """
    lengths = alignment(data, source, target)
    when_known(_check_limit, lengths, data, depth)
    coefficient = source_coefficient(lengths, depth)
    return _combine(data, source, target, coefficient)


def infinite_depth_limit(
    data: Float[Array, "n d"], source: Float[Array, " d"], target: Float[Array, " d"]
) -> Float[Array, " d"]:
    """Theorem 5.2, equation (6): the limit in time, then in depth.

    Raises:
        ValueError: as `limit`, and where no part of source or target is inside the data.
    """
    lengths = alignment(data, source, target)
    when_known(_check_limit, lengths, data, jnp.inf)
    coefficient = infinite_depth_coefficient(lengths)
    return _combine(data, source, target, coefficient)


def _combine(
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    coefficient: Float[Array, ""],
) -> Float[Array, " d"]:
    basis = row_space(data)
    return coefficient * project(basis, source).orthogonal + project(basis, target).parallel


def check_start(source: Float[Array, " d"], depth: Scalar) -> None:
    """ValueError for a source that is zero or not finite, or a depth below 1, where known."""
    when_known(_check_depth, depth)
    when_known(_check_source, source)


def _check_source(source: Float[Array, " d"]) -> None:
    if not are_finite(source):
        raise ValueError("the source is not finite: use a finite nonzero source")
    if not bool(jnp.any(source != 0)):
        raise ValueError("the source is zero, a saddle of the loss: use a nonzero source")


def _check_depth(depth: Scalar) -> None:
    if not depth >= 1:
        raise ValueError(f"depth {depth} is below 1: use at least one layer")


def _check_limit(lengths: Alignment, data: Float[Array, "n d"], depth: Scalar) -> None:
    if depth > 1:
        _check_length(lengths.source_orthogonal, data, "P_perp source", "fewer samples")
    if depth == jnp.inf:
        _check_length(lengths.source_parallel, data, "P_par source", "a finite depth")
        _check_length(lengths.target_parallel, data, "P_par target", "a finite depth")


def _check_length(
    length: Float[Array, ""], data: Float[Array, "n d"], name: str, remedy: str
) -> None:
    floor = 4 * data.shape[1] * float(jnp.finfo(data.dtype).eps)
    if not length > floor:
        raise ValueError(
            f"||{name}||/||source|| = {float(length):.3g} is not above {floor:.3g} with "
            f"{data.shape[0]} samples in dimension {data.shape[1]}, where the limit is degenerate: "
            f"use {remedy} or teachers with such a part"
        )


def _norm_equation(
    log_ratio: Float[Array, ""], args: tuple[Alignment, Float[Array, ""]]
) -> Float[Array, ""]:
    (inside, outside, reached), depth = args
    shrunk = jnp.square(outside) * jnp.expm1(-2 * log_ratio / depth)
    return jnp.square(inside) - shrunk - jnp.square(reached * jnp.exp(-log_ratio))


def _bracket(
    lengths: Alignment, depth: Float[Array, ""]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The root lies between 0 and ln(tau/c_par); the rest keeps both ends finite.

    x^2 >= c_perp^2 x^(2-2/L) bounds it from below also for tau = 0, and
    (x^(2/L) - 1)^L <= tau^2 for x >= 1 from above also for c_par = 0.
    """
    inside, outside, reached = lengths
    infinite = jnp.log(reached) - jnp.log(inside)
    log_outside = jnp.where(
        inside < outside, 0.5 * jnp.log1p(-jnp.square(inside)), jnp.log(outside)
    )
    highest = 0.5 * depth * jnp.log1p(jnp.power(reached, 2 / depth))
    lower = jnp.maximum(jnp.minimum(0, infinite), depth * log_outside)
    return lower, jnp.maximum(0, jnp.minimum(infinite, highest))
