"""What several fields need: scales of intervals, normal quantiles, rounding, strategies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

# The normal quantile of a closed interval must be finite: eight standard deviations lie beyond any
# sample that could be drawn (probability 1e-15).
WIDEST_DEVIATION = 8.0

# Values read back from a file may differ from an exact structure (unit norm, orthogonality, order)
# by the rounding of the computation that made them; this multiple of eps * length covers sums of
# `length` products.
STRUCTURE_ULPS = 64.0

# Significant digits that are tried in place of all.
DIGITS = (1, 2, 3)


def structure_tolerance(value: np.ndarray) -> float:
    """How far a value may be from its exact structure by rounding."""
    eps = np.finfo(value.dtype).eps if value.dtype.kind == "f" else np.finfo(np.float64).eps
    return STRUCTURE_ULPS * float(eps) * max(value.size, 1)


def normal_quantile(u: Float[Array, " n"]) -> Float[Array, " n"]:
    """The standard normal quantile, cut off at both ends."""
    return jnp.clip(jax.scipy.special.ndtri(u), -WIDEST_DEVIATION, WIDEST_DEVIATION)


def interpolate(u: Float[Array, " n"], low: float, high: float, log: bool) -> Float[Array, " n"]:
    """Coordinates as numbers of an interval, whose ends are met exactly."""
    if log:
        inner = jnp.exp(math.log(low) * (1 - u) + math.log(high) * u)
        return jnp.where(u <= 0, low, jnp.where(u >= 1, high, inner))
    return low * (1 - u) + high * u


def locate(
    value: Float[Array | np.ndarray, " n"], low: float, high: float, log: bool
) -> Float[Array, " n"]:
    """The coordinates of numbers of an interval."""
    if high == low:
        return jnp.zeros_like(value)
    if log:
        value, low, high = jnp.log(value), math.log(low), math.log(high)
    return jnp.clip((value - low) / (high - low), 0, 1)


def round_to(value: np.ndarray | float, digits: int) -> np.ndarray:
    """Entries in a few significant digits."""
    value = np.asarray(value, float)
    with np.errstate(divide="ignore"):
        exponent = np.where(value == 0, 0, np.floor(np.log10(np.abs(value))))
    unit = 10.0 ** (exponent - digits + 1)
    return np.array(
        [float(f"{v:.{digits - 1}e}") for v in np.ravel(np.round(value / unit) * unit)]
    ).reshape(value.shape)


def round_entries(value: Shaped[np.ndarray, "*shape"]) -> Iterator[np.ndarray]:
    """Zeros, ones and rounded entries in place of an array of floats; nothing of other types."""
    if value.ndim and value.dtype.kind == "f":
        yield np.zeros_like(value)
        yield np.ones_like(value)
        for digits in DIGITS:
            yield round_to(value, digits)


def float_arrays(low: float, high: float, shape: tuple[int, ...]) -> SearchStrategy[np.ndarray]:
    """Arrays of floats of an interval, for property tests."""
    from hypothesis import strategies as st

    count = math.prod(shape)
    entries = st.lists(st.floats(low, high, allow_nan=False), min_size=count, max_size=count)
    return entries.map(lambda numbers: np.asarray(numbers, np.float64).reshape(shape))


def has_booleans(value: Any) -> bool:
    """Whether true or false stands among numbers, which NumPy would take for 1 and 0."""
    if isinstance(value, (list, tuple)):
        return any(map(has_booleans, value))
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_
