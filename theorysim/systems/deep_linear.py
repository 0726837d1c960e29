"""Deep linear networks from 0-balanced weights: exact gradient flow without the L matrices.

The model is f(x) = <x, beta> with beta = W_1 ... W_L of scalar output, the training loss
(1/n) ||X beta - y||^2 (averaged, not halved) with labels y = X target, and beta = source at the
start. 0-balanced weights are rank-one layers of equal size, W_j = sigma u_{j-1} u_j^T, and stay so.

Source: Shachaf, Brutzkus, Globerson, "A Theoretical Analysis of Fine-tuning with Linear
Teachers", NeurIPS 2021, Section 5, Theorems 5.2 and 5.5.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.numerics.flow import integrate
from theorysim.numerics.products import dot
from theorysim.systems.deep_linear_limit import check_start
from theorysim.systems.linear_modes import mean_decay
from theorysim.systems.linear_regression import Scalar, project, row_space


class _EndToEnd(NamedTuple):
    """What drives the first layer: curvature (2/n) M^T M of M = X Q, target, fixed part, depth."""

    curvature: Float[Array, "n n"]
    target: Float[Array, " n"]
    squared_outside: Float[Array, ""]
    depth: Float[Array, ""]


def end_to_end_flow(
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    depth: Scalar,
    times: Float[Array, " times"],
    **options: Any,
) -> Float[Array, "times d"]:
    """beta(t) along the 0-balanced flow, at times[0] (where beta = source), times[1], ...

    The flow is d beta/dt = -||beta||^(2-2/L) (grad + (L-1) b b^T grad) with b = beta/||beta|| and
    grad = (2/n) X^T (X beta - y). Integrated is the first layer W_1 = a u_1^T instead:
    beta = ||a||^(L-1) a and da/dt = -||a||^(L-1) grad, so P_perp a never changes, and the n numbers
    Q^T a are all there is. `depth` may be any real number >= 1, also traced; explicit steps cost
    a time proportional to it. Options (tolerances, tolerance_scale) as for
    `numerics.flow.integrate`.
    NaN where the integration fails.

    Raises:
        ValueError: for a depth below 1, a source that is zero or not finite, and for dependent
            rows; traced ones give NaN.
    """
    check_start(source, depth)
    depth = jnp.asarray(depth, data.dtype)
    basis = row_space(data)
    reduced = dot(data, basis)
    # First layer of the source: source = ||a||^(L-1) a.
    first = source * jnp.power(jnp.linalg.norm(source), 1 / depth - 1)
    outside = project(basis, first).orthogonal
    drive = _EndToEnd(
        2 / data.shape[0] * dot(reduced.T, reduced),
        dot(basis.T, target),
        jnp.sum(jnp.square(outside)),
        jnp.where(depth >= 1, depth, jnp.nan),
    )
    inside = integrate(_first_layer_field, dot(basis.T, first), times, drive, **options)
    return _growth(inside, drive)[:, None] * (dot(inside, basis.T) + outside[None])


def _growth(inside: Float[Array, "*times n"], drive: _EndToEnd) -> Float[Array, "*times"]:
    squared = jnp.sum(jnp.square(inside), axis=-1) + drive.squared_outside
    return jnp.power(squared, (drive.depth - 1) / 2)


def _first_layer_field(inside: Float[Array, " n"], drive: _EndToEnd) -> Float[Array, " n"]:
    growth = _growth(inside, drive)
    return -growth * dot(drive.curvature, growth * inside - drive.target)


class _Overlap(NamedTuple):
    """Rates (2/n) ||source||^(-2/L) times ||X source||^2 and <X source, X target>."""

    curvature: Float[Array, ""]
    pull: Float[Array, ""]
    trainable: Float[Array, ""]


def frozen_scale_flow(
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    depth: int,
    frozen: int,
    times: Float[Array, " times"],
    **options: Any,
) -> Float[Array, " times"]:
    """c(t) of Theorem 5.5: with the first `frozen` >= 1 layers fixed, beta(t) = c(t) source.

    dc/dt = -(2K/n) ||source||^(-2/L) ||X source||^2 c^(2-2/K) (c - c*), K = depth - frozen.
    In closed form for K = 1; for K >= 2, where c stays positive, ln c is integrated. Options as for
    `numerics.flow.integrate`. Any number of samples. ValueError unless 1 <= frozen < depth.
    """
    trainable = _trainable(depth, frozen)
    if trainable == 1:
        return frozen_scale_one_layer(data, source, target, depth, times)
    overlap = _overlap(data, source, target, depth, trainable)
    start = jnp.zeros((), data.dtype)
    log_layer = integrate(_log_layer_field, start, times, overlap, **options)
    return jnp.exp(trainable * log_layer)


def frozen_scale_one_layer(
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    depth: Scalar,
    times: Float[Array, " times"],
) -> Float[Array, " times"]:
    """c(t) = c* + (1 - c*) exp(-A t) where one layer is trained; c(times[0]) = 1."""
    overlap = _overlap(data, source, target, depth, 1)
    elapsed = times - times[0]
    decay = overlap.curvature * elapsed
    return jnp.exp(-decay) + overlap.pull * elapsed * mean_decay(decay)


def _trainable(depth: int, frozen: int) -> int:
    if not 1 <= frozen < depth:
        raise ValueError(
            f"{frozen} frozen layers of {depth}: freeze at least 1 and at most depth - 1"
        )
    return depth - frozen


def _overlap(
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    depth: Scalar,
    trainable: int,
) -> _Overlap:
    length = jnp.linalg.norm(source)
    outputs = dot(data, source)
    rate = 2 / data.shape[0] * jnp.power(length, -2 / jnp.asarray(depth, data.dtype))
    return _Overlap(
        rate * jnp.sum(jnp.square(outputs)),
        rate * jnp.sum(outputs * dot(data, target)),
        jnp.asarray(trainable, data.dtype),
    )


def _log_layer_field(log_layer: Float[Array, ""], overlap: _Overlap) -> Float[Array, ""]:
    """A trained layer has grown by exp(log_layer), and c = exp(K log_layer)."""
    layer, product = jnp.exp((overlap.trainable - 2) * log_layer), overlap.trainable * log_layer
    return -layer * (overlap.curvature * jnp.exp(product) - overlap.pull)
