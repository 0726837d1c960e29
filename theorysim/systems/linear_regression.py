"""Linear regression fine-tuned from a pretrained teacher: exact dynamics and gradient descent.

The model is f(x, w) = <x, w>, the training loss (1/n) ||X w - y||^2 (averaged, not halved) with
labels y = X target, and training starts at w = start. Samples are the rows of `data`.

Source: Shachaf, Brutzkus, Globerson, "A Theoretical Analysis of Fine-tuning with Linear
Teachers", NeurIPS 2021, Section 4.
"""

from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Num, PRNGKeyArray, Shaped

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


def population_risk(
    weights: Float[Array, "*times d"], target: Float[Array, " d"], covariance: Covariance
) -> Float[Array, "*times"]:
    """R(w) = ||Sigma^(1/2) (w - target)||^2, the expected squared error (not halved)."""
    components = dot(weights - target, covariance.eigenvectors)
    return jnp.sum(covariance.eigenvalues * jnp.square(components), axis=-1)


def row_space(data: Float[Array, "n d"]) -> Float[Array, "d n"]:
    """Orthonormal basis Q of the span of the rows, from the thin QR of X^T.

    P_par = Q Q^T is the paper's X^T (X X^T)^(-1) X. NaN where the rows are linearly dependent to
    rounding. ValueError if there are more rows than dimensions.
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
    independent = jnp.all(own > 4 * dimension * jnp.finfo(data.dtype).eps * length)
    return jnp.where(independent, basis, jnp.nan)


def project(basis: Float[Array, "d n"], vector: Float[Array, " d"]) -> Split:
    """P_par v and P_perp v, the latter orthogonal to the basis however small it is."""
    parallel = dot(basis, dot(basis.T, vector))
    orthogonal = vector - parallel
    # The first pass leaves an error of eps ||v||, which can exceed P_perp v itself.
    return Split(parallel, orthogonal - dot(basis, dot(basis.T, orthogonal)))


def limit(
    data: Float[Array, "n d"], start: Float[Array, " d"], target: Float[Array, " d"]
) -> Float[Array, " d"]:
    """Theorem 4.1, equation (1): gamma = P_perp start + P_par target."""
    basis = row_space(data)
    return project(basis, start).orthogonal + project(basis, target).parallel


def gradient_flow(
    data: Float[Array, "n d"],
    start: Float[Array, " d"],
    target: Float[Array, " d"],
    times: Float[Array, " times"],
) -> Path:
    """Exact gradient flow of the loss; any data, also rank deficient; times may be infinite."""
    modes = _modes(data)
    rates = 2 * jnp.square(modes.singular_values) / data.shape[0]
    # A mode of rate zero never moves, also not after infinite time.
    log_size = -jnp.where(rates > 0, times[:, None] * jnp.where(rates > 0, rates, 1), 0)
    # 1 - exp by expm1, so that slow modes keep their digits.
    shares = Contraction(jnp.exp(log_size), -jnp.expm1(log_size))
    return _path(modes, shares, data, start, target)


def gradient_descent(
    data: Float[Array, "n d"],
    start: Float[Array, " d"],
    target: Float[Array, " d"],
    learning_rate: Scalar,
    steps: Num[Array, " times"],
) -> Path:
    """Exact gradient descent after each of the given numbers of steps; any data.

    w(t) = target + (I - (2 eta/n) X^T X)^t (start - target), mode by mode.
    """
    modes = _modes(data)
    shrink = 2 * learning_rate * jnp.square(modes.singular_values) / data.shape[0]
    shares = contraction(shrink, jnp.asarray(steps)[:, None])
    return _path(modes, shares, data, start, target)


def train(
    data: Float[Array, "n d"],
    labels: Float[Array, " n"],
    start: Float[Array, " d"],
    learning_rate: Scalar,
    steps: int,
    *,
    every: int = 1,
) -> Float[Array, "records d"]:
    """Weights along real gradient descent of the loss; the start, then every `every` steps."""
    objective = partial(loss, data=data, labels=labels)
    return descend(objective, start, optax.sgd(learning_rate), steps, every=every)


def largest_learning_rate(data: Float[Array, "n d"]) -> Float[Array, ""]:
    """n / sigma_max(X)^2: gradient descent converges for every smaller learning rate."""
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


def covariance_error(data: Float[Array, "n d"], covariance: Covariance) -> Float[Array, ""]:
    """Spectral norm of (1/n) X^T X - Sigma."""
    scaled = covariance.eigenvectors * covariance.eigenvalues
    difference = dot(data.T, data) / data.shape[0] - dot(scaled, covariance.eigenvectors.T)
    return jnp.max(jnp.abs(jnp.linalg.eigvalsh(difference)))


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


def sample_rows(
    key: PRNGKeyArray,
    covariance: Covariance,
    samples: int,
    entries: Literal["gaussian", "rademacher"] = "gaussian",
) -> Float[Array, "samples d"]:
    """Independent centred rows z diag(eigenvalues)^(1/2) V^T, z of independent unit entries."""
    draw = {"gaussian": jax.random.normal, "rademacher": jax.random.rademacher}[entries]
    roots = jnp.sqrt(covariance.eigenvalues)
    entries_drawn = draw(key, (samples, roots.size), dtype=roots.dtype)
    return dot(entries_drawn * roots, covariance.eigenvectors.T)


def check_data(data: Shaped[ArrayLike, "n d"]) -> None:
    """ValueError unless the rows are finite and linearly independent (Assumption 3.1). Eager."""
    rows = np.asarray(data)
    if rows.ndim != 2 or not np.all(np.isfinite(rows)):
        raise ValueError(
            f"data of shape {rows.shape} must be a finite matrix with one sample per row"
        )
    samples, dimension = rows.shape
    if samples > dimension:
        raise ValueError(
            f"{samples} samples exceed the dimension {dimension}, so X X^T is singular: "
            f"use at most {dimension} samples"
        )
    sizes = np.linalg.svd(rows, compute_uv=False)
    floor = dimension * np.finfo(sizes.dtype).eps
    if not sizes[-1] > floor * sizes[0]:
        raise ValueError(
            f"X X^T is singular: sigma_min/sigma_max = {sizes[-1] / max(sizes[0], 1e-300):.3g}, "
            f"needed above {floor:.3g}: remove dependent or zero rows"
        )


def check_learning_rate(data: Float[Array, "n d"], learning_rate: float) -> None:
    """ValueError unless 0 < learning_rate < n / sigma_max^2. Eager."""
    largest = float(largest_learning_rate(data))
    if not 0 < learning_rate < largest:
        raise ValueError(
            f"learning rate {learning_rate:.6g} is outside (0, n/sigma_max^2) = "
            f"(0, {largest:.6g}), where gradient descent converges: use a smaller one"
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
    residual = shares.left * modes.singular_values * components
    return Path(
        start + dot(shares.gained * components, modes.directions.T),
        jnp.sum(jnp.square(residual), axis=-1) / data.shape[0],
    )
