"""Linear regression fine-tuned from a pretrained teacher: exact dynamics and gradient descent.

The model is f(x, w) = <x, w>, the training loss (1/n) ||X w - y||^2 (averaged, not halved) with
labels y = X target, and training starts at w = start. Samples are the rows of `data`.

Source: Shachaf, Brutzkus, Globerson, "A Theoretical Analysis of Fine-tuning with Linear
Teachers", NeurIPS 2021, Section 4.
"""

from functools import partial
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Num

from theorysim.numerics.checks import check_learning_rate, check_outcome, when_known
from theorysim.numerics.contraction import Contraction, contraction
from theorysim.numerics.descent import descend
from theorysim.numerics.products import dot

Scalar: TypeAlias = float | Num[Array, ""]


class Covariance(NamedTuple):
    """V diag(eigenvalues) V^T, eigenvalues in decreasing order, V's columns orthonormal."""

    eigenvalues: Float[Array, " d"]
    eigenvectors: Float[Array, "d d"]


class Split(NamedTuple):
    """A vector's parts inside the row space of the data and orthogonal to it."""

    parallel: Float[Array, " d"]
    orthogonal: Float[Array, " d"]


class Path(NamedTuple):
    """Weights and training loss along a run."""

    weights: Float[Array, "times d"]
    train_loss: Float[Array, " times"]


class BoundTerms(NamedTuple):
    """The two terms of the risk bound of Theorem 4.2 for every split index m = 1..d."""

    top: Float[Array, " d"]
    bottom: Float[Array, " d"]


class _Modes(NamedTuple):
    """Nonzero singular values of the data (zero where rounding), right singular vectors."""

    singular_values: Float[Array, " k"]
    directions: Float[Array, "d k"]


def loss(
    weights: Float[Array, " d"], data: Float[Array, "n d"], labels: Float[Array, " n"]
) -> Float[Array, ""]:
    """Training loss (1/n) ||X w - y||^2."""
    return jnp.mean(jnp.square(dot(data, weights) - labels))


def row_space(data: Float[Array, "n d"]) -> Float[Array, "d n"]:
    """Orthonormal basis Q of the span of the rows, from the thin QR of X^T.

    P_par = Q Q^T is the paper's X^T (X X^T)^(-1) X.

    Raises:
        ValueError: for more rows than dimensions, and for rows that are linearly dependent to
            rounding or not finite; the basis of traced ones is NaN.
    """
    samples, dimension = data.shape
    if samples > dimension:
        raise ValueError(
            f"{samples} samples exceed the dimension {dimension}, so X X^T is singular: "
            f"use at most {dimension} samples"
        )
    basis, triangle = jnp.linalg.qr(data.T)
    # A row depends on the rows before it if nothing of its own length is left on the diagonal.
    own, length = jnp.abs(jnp.diagonal(triangle)), jnp.linalg.norm(triangle, axis=0)
    independent = own > 4 * dimension * jnp.finfo(data.dtype).eps * length
    when_known(_check_rows, independent)
    return jnp.where(jnp.all(independent), basis, jnp.nan)


def _check_rows(independent: Bool[Array, " n"]) -> None:
    if not bool(jnp.all(independent)):
        raise ValueError(
            f"X X^T is singular: row {int(jnp.argmin(independent))} of the data is not finite or "
            "depends on the rows before it: remove dependent or zero rows"
        )


def project(basis: Float[Array, "d n"], vector: Float[Array, " d"]) -> Split:
    """P_par v and P_perp v, the latter orthogonal to the basis however small it is."""
    parallel = dot(basis, dot(basis.T, vector))
    orthogonal = vector - parallel
    # The first pass leaves an error of eps ||v||, which can exceed P_perp v itself.
    return Split(parallel, orthogonal - dot(basis, dot(basis.T, orthogonal)))


def gradient_descent(
    data: Float[Array, "n d"],
    start: Float[Array, " d"],
    target: Float[Array, " d"],
    learning_rate: Scalar,
    steps: Num[Array, " times"],
) -> Path:
    """Exact gradient descent after each of the given numbers of steps; any data.

    w(t) = target + (I - (2 eta/n) X^T X)^t (start - target), mode by mode.

    Raises:
        ValueError: where the learning rate is past its limit so far that numbers overflow.
    """
    modes = _modes(data)
    shrink = 2 * learning_rate * jnp.square(modes.singular_values) / data.shape[0]
    shares = contraction(shrink[None], jnp.asarray(steps)[:, None])
    path = _path(modes, shares, data, start, target)
    check_outcome(path, learning_rate, largest_learning_rate, data)
    return path


def train(
    data: Float[Array, "n d"],
    labels: Float[Array, " n"],
    start: Float[Array, " d"],
    learning_rate: Scalar,
    steps: int,
    *,
    every: int = 1,
) -> Float[Array, "records d"]:
    """Weights along real gradient descent of the loss; the start, then every `every` steps.

    Raises:
        ValueError: unless 0 < learning_rate < `largest_learning_rate`, where both are known.
    """
    check_learning_rate(learning_rate, largest_learning_rate, data)
    objective = partial(loss, data=data, labels=labels)
    return descend(objective, start, optax.sgd(learning_rate), steps, every=every)


def largest_learning_rate(data: Float[Array, "n d"]) -> Float[Array, ""]:
    """2/lambda_max = n / sigma_max(X)^2: gradient descent converges for smaller learning rates."""
    return data.shape[0] / jnp.square(jnp.linalg.norm(data, ord=2))


def covariance_estimation(
    eigenvalues: Float[Array, " d"],
    delta: Scalar,
    samples: Scalar,
    constant: Scalar = 1.0,
) -> Float[Array, ""]:
    """Theorem 4.2: g = c lambda_1 max(sqrt(r/n), r/n, sqrt(delta/n), delta/n), r = tr/lambda_1.

    `eigenvalues` in decreasing order. The paper's constant c > 0 has no printed value.
    """
    largest = eigenvalues[0]
    ratio = jnp.maximum(jnp.sum(eigenvalues) / largest, delta) / samples
    return constant * largest * jnp.maximum(jnp.sqrt(ratio), ratio)


def risk_bound(
    covariance: Covariance, difference: Float[Array, " d"], estimation: Scalar
) -> BoundTerms:
    """Theorem 4.2, equation (3): 2 g^3 ||P_{<=m} D||^2 / lambda_m^2 and 2 g ||P_{>m} D||^2.

    `difference` D = target - start, `estimation` g. Infinite where lambda_m = 0.
    """
    squares = jnp.square(dot(difference, covariance.eigenvectors))
    top = jnp.cumsum(squares)
    bottom = jnp.append(jnp.cumsum(squares[:0:-1])[::-1], jnp.zeros((), squares.dtype))
    positive = covariance.eigenvalues > 0
    # Divided before it is squared: lambda_m^(-2) alone overflows for small eigenvalues.
    scaled = estimation * jnp.sqrt(top) / jnp.where(positive, covariance.eigenvalues, 1)
    return BoundTerms(
        jnp.where(positive, 2 * estimation * jnp.square(scaled), jnp.inf), 2 * estimation * bottom
    )


def _modes(data: Float[Array, "n d"]) -> _Modes:
    _, sizes, rows = jnp.linalg.svd(data, full_matrices=False)
    floor = max(data.shape) * jnp.finfo(data.dtype).eps * sizes[0]
    return _Modes(jnp.where(sizes > floor, sizes, 0), rows.T)


def _path(
    modes: _Modes,
    shares: Contraction,
    data: Float[Array, "n d"],
    start: Float[Array, " d"],
    target: Float[Array, " d"],
) -> Path:
    components = dot(modes.directions.T, target - start)
    residual = shares.left * (modes.singular_values * components)[None]
    return Path(
        start[None] + dot(shares.gained * components[None], modes.directions.T),
        jnp.sum(jnp.square(residual), axis=-1) / data.shape[0],
    )
