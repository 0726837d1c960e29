"""Exact gradient flow of a two-layer linear network from a balanced start, for all times.

The loss is ||W_1 W_2 - A||_F^2 (not halved) and the flow

    dW_1/dt = -2 (W_1 W_2 - A) W_2^T,    dW_2/dt = -2 W_1^T (W_1 W_2 - A)

from a start with W_1^T W_1 = W_2 W_2^T, which then holds for ever. With Q = [W_1; W_2^T] and
F = [[0, A], [A^T, 0]] it reads dQ/dt = 2 F Q - Q Q^T Q and is solved by

    Q(t) = e^(2Ft) Q_0 G,    G G^T = P^(-1),    P(t) = I + 2 int_0^t Q_0^T e^(4Fs) Q_0 ds.

How it is evaluated. With A = U S V^T the rows of (U^T W_1 + V^T W_2^T) / sqrt 2 grow at the rates
2 S, all others fall. The hidden space gets a basis made of the growing rows, the fastest first, so
that the i-th has no component beyond the i-th basis vector. A row that depends on faster ones
makes none: rounding would let it grow out of a saddle that the flow never leaves. In this basis
P = T^T T, and one QR factorisation finds the triangular T with every growth factor taken relative
to a faster one. The factors themselves are e^(2Ft) Q_0 T^(-1) up to a rotation of the hidden space,
which neither the product nor the Grams see.

Source: Springer et al. (2025), Eqs. 5 and 6. The Riccati solution for Q Q^T is that of Braun et
al., "Exact learning dynamics of deep linear networks with prior knowledge", NeurIPS 2022.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from theorysim.numerics.checks import when_known
from theorysim.numerics.products import dot
from theorysim.systems.linear_modes import mean_decay
from theorysim.systems.two_layer_linear import Factors


class Decomposition(NamedTuple):
    """A = left diag(singular_values) right^T, orthonormal columns, values >= 0 and decreasing."""

    left: Float[Array, "m k"]
    singular_values: Float[Array, " k"]
    right: Float[Array, "n k"]


class BalancedPath(NamedTuple):
    """W_1 W_2, W_1 W_1^T and W_2^T W_2 at each time."""

    product: Float[Array, "times m n"]
    left_gram: Float[Array, "times m m"]
    right_gram: Float[Array, "times n n"]


class _Basis(NamedTuple):
    """Orthonormal rows; which candidate made each, and how much of it was left."""

    vectors: Float[Array, "r r"]
    source: Int[Array, " r"]
    residual: Float[Array, " r"]


class _Start(NamedTuple):
    """The start in eigenvectors of F (rows) and in the basis of the hidden space (columns).

    Growing rows are divided by the amplitude of the column, which may be as small as exp(-tau).
    """

    growing: Float[Array, "k r"]
    falling: Float[Array, "rows r"]
    rates: Float[Array, " k"]
    fall_rates: Float[Array, " rows"]
    column_rates: Float[Array, " r"]
    log_amplitude: Float[Array, " r"]


def decompose(target: Float[Array, "m n"]) -> Decomposition:
    """Thin singular value decomposition."""
    left, values, right = jnp.linalg.svd(target, full_matrices=False)
    return Decomposition(left, values, right.T)


def balanced_flow(
    first: Float[Array, "m r"],
    second: Float[Array, "r n"],
    target: Float[Array, "m n"] | Decomposition,
    times: Float[Array, " times"],
) -> BalancedPath:
    """Product and Gram blocks of the flow at any times >= 0 after the balanced start at time 0.

    Give the target as a `Decomposition` where its singular vectors are known. The negative part of
    a symmetric target, for example, is never learned from the identity; computed singular vectors
    show this only up to rounding over the gaps between the singular values.

    Raises:
        ValueError: for a start that is not balanced to rounding, singular values that are negative
            or not in decreasing order, and negative times; traced ones give NaN.
    """
    start, known = Factors(first, second), _decomposition(target)
    when_known(_check_start, start)
    when_known(_check_values, known.singular_values)
    when_known(_check_times, times)
    rotated = _rotate(start, known)

    def grams(time: Float[Array, ""]) -> BalancedPath:
        w1, w2 = _gauge(rotated, known, time)
        return BalancedPath(dot(w1, w2), dot(w1, w1.T), dot(w2.T, w2))

    return _where(_is_valid(start, known, times), jax.vmap(grams)(times))


def imbalance(first: Float[Array, "m r"], second: Float[Array, "r n"]) -> Float[Array, ""]:
    """||W_1^T W_1 - W_2 W_2^T||_F / (||W_1||_F^2 + ||W_2||_F^2): zero for a balanced start."""
    entries = jnp.concatenate([first.ravel(), second.ravel()])
    norm = _row_norms(entries[None, :])[0]
    first, second = (weights / jnp.where(norm > 0, norm, 1) for weights in (first, second))
    return jnp.linalg.norm(dot(first.T, first) - dot(second, second.T))


def _check_start(start: Factors) -> None:
    found, limit = float(imbalance(*start)), _rounding(start.first)
    if not found <= limit:
        raise ValueError(
            f"the start is not balanced: ||W_1^T W_1 - W_2 W_2^T|| / (||W_1||^2 + ||W_2||^2) = "
            f"{found:.3g} exceeds {limit:.3g}: integrate such a start with numerics.flow"
        )


def _check_values(values: Float[Array, " k"]) -> None:
    if not bool(_are_ordered(values)):
        raise ValueError(
            f"singular values {values} are not decreasing and >= 0: sort them, with their vectors"
        )


def _check_times(times: Float[Array, " times"]) -> None:
    if not bool(jnp.all(times >= 0)):
        raise ValueError(f"time {float(jnp.min(times)):.6g} is before the start at time 0")


def _are_ordered(values: Float[Array, " k"]) -> Bool[Array, ""]:
    return jnp.all(values[1:] <= values[:-1]) & (values[-1] >= 0)


def _rounding(matrix: Float[Array, "m r"]) -> float:
    """Relative rounding error of products with the matrix, with room for that of their making."""
    return 64 * max(matrix.shape) * float(jnp.finfo(matrix.dtype).eps)


def _decomposition(target: Float[Array, "m n"] | Decomposition) -> Decomposition:
    return target if isinstance(target, Decomposition) else decompose(target)


def _is_valid(
    start: Factors, known: Decomposition, times: Float[Array, " times"]
) -> Bool[Array, " times"]:
    is_ordered = _are_ordered(known.singular_values)
    is_balanced = imbalance(*start) <= _rounding(start.first)
    return (times >= 0) & is_ordered & is_balanced


def _where(valid: Bool[Array, " times"], path: Any) -> Any:
    return jax.tree.map(lambda x: jnp.where(valid[:, None, None], x, jnp.nan), path)


def _rotate(start: Factors, known: Decomposition) -> _Start:
    left, rates, right = known
    first, second = dot(left.T, start.first), dot(right.T, start.second.T)
    growing, opposite = (first + second) / 2**0.5, (first - second) / 2**0.5
    # What lies outside the singular vectors: nothing unless A is rectangular.
    rest = [
        weights - dot(vectors, inside)
        for weights, vectors, inside in (
            (start.first, left, first),
            (start.second.T, right, second),
        )
        if vectors.shape[0] > rates.size
    ]
    falling = jnp.concatenate([opposite, *rest])
    scale = _row_norms(jnp.concatenate([first, second], axis=1))
    basis = _greedy_basis(growing / jnp.where(scale > 0, scale, 1)[:, None])
    index = jnp.minimum(basis.source, rates.size - 1)
    is_growing = basis.source < rates.size
    amplitude = jnp.where(is_growing, basis.residual * scale[index], 1)
    reached = basis.source[None, :] <= jnp.arange(rates.size)[:, None]
    return _Start(
        growing=jnp.where(reached, dot(growing, basis.vectors.T) / amplitude[None, :], 0),
        falling=dot(falling, basis.vectors.T),
        rates=rates,
        fall_rates=jnp.pad(rates, (0, len(falling) - len(rates))),
        column_rates=jnp.where(is_growing, rates[index], 0),
        log_amplitude=jnp.log(amplitude),
    )


def _row_norms(rows: Float[Array, "n r"]) -> Float[Array, " n"]:
    """Euclidean norms, also of rows whose squares underflow."""
    largest = jnp.max(jnp.abs(rows), axis=1)
    unit = jnp.where(largest > 0, largest, 1)
    squares = jnp.sum(jnp.square(rows / unit[:, None]), axis=1)
    return largest * jnp.sqrt(jnp.where(largest > 0, squares, 1))


def _greedy_basis(rows: Float[Array, "k r"]) -> _Basis:
    """Gram-Schmidt through the rows, dependent ones left out, completed by unit vectors.

    Rows have at most unit length, and rounding errors of unit scale.
    """
    count, width = rows.shape
    candidates = jnp.concatenate([rows, jnp.eye(width, dtype=rows.dtype)])
    floor = _rounding(rows)

    def add(found: Array, j: Array) -> tuple[Array, Array]:
        rest = candidates[j]
        for _ in range(2):  # once leaves a part along the others, if little else is left
            rest = rest - dot(found.T, dot(found, rest))
        square = jnp.sum(jnp.square(rest))
        is_new = square > floor**2
        residual = jnp.sqrt(jnp.where(is_new, square, 1))
        found = found.at[j].set(jnp.where(is_new, rest / residual, 0))
        return found, jnp.where(is_new, residual, 0)

    found, residual = jax.lax.scan(add, jnp.zeros_like(candidates), jnp.arange(count + width))
    source = jnp.argsort(residual == 0, stable=True)[:width]
    return _Basis(found[source], source, residual[source])


def _gauge(start: _Start, known: Decomposition, time: Float[Array, ""]) -> Factors:
    """The factors at one time in the triangular gauge, e^(2Ft) Q_0 T^(-1)."""
    # Columns that have grown beyond one are scaled back to it, so that nothing overflows.
    log_column = 2 * start.column_rates * time + start.log_amplitude
    slower = jnp.maximum(start.column_rates[None, :] - start.rates[:, None], 0)
    growing = start.growing * jnp.exp(jnp.minimum(log_column, 0)[None, :] - 2 * slower * time)
    scale = jnp.exp(-jnp.maximum(log_column, 0))
    falling = start.falling * scale[None, :]

    triangle = jnp.linalg.qr(
        jnp.concatenate(
            [
                _root_of_integral(start.rates, time)[:, None] * growing,
                _root_of_integral(start.fall_rates, time)[:, None] * falling,
                jnp.diag(scale),
            ]
        ),
        mode="r",
    )
    triangle = jnp.where(jnp.diagonal(triangle) < 0, -1, 1)[:, None] * triangle
    fallen = jnp.exp(-2 * start.fall_rates * time)[:, None] * falling
    gauged = jax.lax.linalg.triangular_solve(
        triangle, jnp.concatenate([growing, fallen]), left_side=False, lower=False
    )
    return _assemble(gauged, known)


def _root_of_integral(rates: Float[Array, " k"], time: Float[Array, ""]) -> Float[Array, " k"]:
    """sqrt(2 int_0^t e^(-4 rate s) ds), with a derivative in the rate also at t = 0."""
    return jnp.sqrt(2 * time) * jnp.sqrt(mean_decay(4 * rates * time))


def _assemble(gauged: Float[Array, "rows r"], known: Decomposition) -> Factors:
    """Rows in eigenvectors of F back to W_1 and W_2."""
    left, values, right = known
    growing, opposite, rest = jnp.split(gauged, [values.size, 2 * values.size])
    first = dot(left, (growing + opposite) / 2**0.5)
    second = dot(right, (growing - opposite) / 2**0.5)
    if len(left) > values.size:
        first, rest = first + rest[: len(left)], rest[len(left) :]
    if len(right) > values.size:
        second = second + rest
    return Factors(first, second.T)
