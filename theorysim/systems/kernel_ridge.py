"""Ridge regression in a kernel: predictions, risk, spectral bounds, and what added layers change.

minimise ||K alpha - y||^2 + sigma alpha^T K alpha over alpha gives alpha = (K + sigma I)^(-1) y and
the residual y - K alpha = sigma (K + sigma I)^(-1) y. Where the squared error is averaged over n
inputs, n sigma takes the place of sigma; with R + lambda/2 ||u||^2, R summed,
sigma is lambda/2. Targets are what the kernel has to learn: y, or y - f0 for a model that starts at
f0. The risk is ||y - K alpha||^2, summed or averaged.

Source: Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models", NeurIPS 2025.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve
from jaxtyping import Array, Float

from theorysim.numerics.checks import when_known
from theorysim.numerics.products import dot

Gram: TypeAlias = Float[Array, "n n"]
Vector: TypeAlias = Float[Array, " n"]
Scalar: TypeAlias = Float[Array, ""]
Number: TypeAlias = float | Scalar
Normalisation: TypeAlias = Literal["sum", "mean"]
Norm: TypeAlias = Literal["operator", "frobenius"]


class Bounds(NamedTuple):
    """What lies between two numbers."""

    lower: Scalar
    upper: Scalar


def coefficients(gram: Gram, targets: Vector, sigma: Number) -> Vector:
    """alpha = (K + sigma I)^(-1) y."""
    shifted = gram + sigma * jnp.eye(gram.shape[0], dtype=gram.dtype)
    return cho_solve(cho_factor(shifted), targets)


def residual(gram: Gram, targets: Vector, sigma: Number) -> Vector:
    """y - K (K + sigma I)^(-1) y = sigma (K + sigma I)^(-1) y, free of cancellation."""
    return sigma * coefficients(gram, targets, sigma)


def risk(
    gram: Gram, targets: Vector, sigma: Number, normalisation: Normalisation = "sum"
) -> Scalar:
    """||y - K alpha||^2, summed over inputs or averaged."""
    total = jnp.sum(jnp.square(residual(gram, targets, sigma)))
    return total if normalisation == "sum" else total / targets.size


def risk_bounds(
    gram: Gram, targets: Vector, sigma: Number, normalisation: Normalisation = "sum"
) -> Bounds:
    """(sigma ||y|| / (sigma + lambda_max))^2 and (sigma ||y|| / (sigma + lambda_min))^2.

    Bounds of the summed risk; divided by n for the averaged one.
    """
    spectrum = jnp.linalg.eigvalsh(gram)
    size = jnp.sum(jnp.square(targets)) / (1 if normalisation == "sum" else targets.size)
    low, high = ((sigma / (sigma + spectrum[end])) ** 2 * size for end in (-1, 0))
    return Bounds(low, high)


def condition_number(gram: Gram, sigma: Number = 0.0) -> Scalar:
    """(lambda_max(K) + sigma) / (lambda_min(K) + sigma)."""
    spectrum = jnp.linalg.eigvalsh(gram)
    return (spectrum[-1] + sigma) / (spectrum[0] + sigma)


def relative_size(gram: Gram, added: Gram, norm: Norm = "operator") -> Scalar:
    """eta = |K^(-1/2) S K^(-1/2)|, how large an added kernel S is beside an invertible K.

    Raises:
        ValueError: where K is singular to rounding; a traced one gives NaN.
    """
    when_known(check_invertible, gram)
    spectrum, basis = jnp.linalg.eigh(gram)
    floor = spectrum.size * jnp.finfo(spectrum.dtype).eps * spectrum[-1]
    whitening = basis / jnp.sqrt(jnp.where(spectrum > floor, spectrum, jnp.nan))[None]
    whitened = jnp.abs(jnp.linalg.eigvalsh(dot(whitening.T, dot(added, whitening))))
    return jnp.max(whitened) if norm == "operator" else jnp.linalg.norm(whitened)


def risk_ratio(gram: Gram, added: Gram, targets: Vector, sigma: Number) -> Scalar:
    """R(K + S) / R(K), the change of the ridge risk by an added kernel."""
    return risk(gram + added, targets, sigma) / risk(gram, targets, sigma)


def check_sigma(sigma: float) -> None:
    """ValueError unless sigma > 0. Eager."""
    if not sigma > 0:
        raise ValueError(f"sigma = {sigma:g}: ridge regression needs sigma > 0")


def check_invertible(gram: Gram) -> None:
    """ValueError where a Gram is singular to rounding. Eager."""
    spectrum = np.linalg.eigvalsh(np.asarray(gram))
    floor = spectrum.size * np.finfo(spectrum.dtype).eps
    if not spectrum[0] > floor * spectrum[-1]:
        raise ValueError(
            f"the Gram matrix is singular: lambda_min/lambda_max = {spectrum[0] / spectrum[-1]:.3g}"
            f", needed above {floor:.3g}: remove repeated inputs or tune more parameters"
        )
