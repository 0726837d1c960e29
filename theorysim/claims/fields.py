"""Fields of an instance: each decodes points of the closed unit cube and checks given values.

A field of `count` coordinates maps `[0, 1]^count` onto its values. Both ends of every coordinate
are reachable, because counterexamples sit at boundaries. `encode` is a right inverse:
`decode(encode(v)) == v` up to rounding. A length or a bound may be an integer or the name of a
size of the space.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from theorysim.errors import InstanceError

Sizes = Mapping[str, int]
Extent = int | str
Cube = Float[Array, " count"]

# The normal quantile of a closed interval must be finite: eight standard deviations lie beyond any
# sample that could be drawn (probability 1e-15).
WIDEST_DEVIATION = 8.0

# Values read back from a file may differ from an exact structure (unit norm, orthogonality, order)
# by the rounding of the computation that made them; this multiple of eps * length covers sums of
# `length` products.
STRUCTURE_ULPS = 64.0


def extent(of: Extent, sizes: Sizes) -> int:
    """The number that an integer or the name of a size stands for."""
    return sizes[of] if isinstance(of, str) else of


def _structure_tolerance(value: np.ndarray) -> float:
    eps = np.finfo(value.dtype).eps if value.dtype.kind == "f" else np.finfo(np.float64).eps
    return STRUCTURE_ULPS * float(eps) * max(value.size, 1)


def _normal_quantile(u: Shaped[Array, " n"]) -> Shaped[Array, " n"]:
    return jnp.clip(jax.scipy.special.ndtri(u), -WIDEST_DEVIATION, WIDEST_DEVIATION)


def _interpolate(u: Array, low: float, high: float, log: bool) -> Array:
    if log:
        inner = jnp.exp(math.log(low) * (1 - u) + math.log(high) * u)
        return jnp.where(u <= 0, low, jnp.where(u >= 1, high, inner))
    return low * (1 - u) + high * u


def _locate(value: Array, low: float, high: float, log: bool) -> Array:
    if high == low:
        return jnp.zeros_like(value)
    if log:
        value, low, high = jnp.log(value), math.log(low), math.log(high)
    return jnp.clip((value - low) / (high - low), 0, 1)


class Field(abc.ABC):
    """One named part of an instance."""

    @abc.abstractmethod
    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """Shape of a value."""

    def count(self, sizes: Sizes) -> int:
        """Number of unit-cube coordinates that a value takes."""
        return math.prod(self.shape(sizes))

    @abc.abstractmethod
    def decode(self, u: Cube, sizes: Sizes) -> Array:
        """The value at a point of the closed unit cube."""

    @abc.abstractmethod
    def encode(self, value: Array, sizes: Sizes) -> Cube:
        """A point of the unit cube that decodes to `value`."""

    @abc.abstractmethod
    def describe(self) -> str:
        """The values that belong, in words."""

    @abc.abstractmethod
    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        """Whether a finite value of the right shape belongs to the field."""

    def check(self, name: str, value: Any, sizes: Sizes) -> np.ndarray:
        """`value` as an array, if it belongs to the field.

        Raises:
            InstanceError: naming the field, what is expected and what arrived.
        """
        try:
            array = np.asarray(value, dtype=self._dtype())
        except (TypeError, ValueError, OverflowError):
            raise InstanceError(
                f"{name}: expected {self.describe()}, but {_excerpt(value)} is no array of numbers"
            ) from None
        if array.shape != self.shape(sizes):
            raise InstanceError(
                f"{name}: expected shape {self.shape(sizes)} ({self.describe()}), "
                f"but a value of shape {array.shape} arrived"
            )
        if not np.all(np.isfinite(array)):
            raise InstanceError(
                f"{name}: expected {self.describe()}, but {_excerpt(value)} arrived"
            )
        if not np.array_equal(array, np.asarray(value)) or not self._belongs(array, sizes):
            raise InstanceError(
                f"{name}: expected {self.describe()}, but {_excerpt(value)} arrived"
            )
        return array

    def _dtype(self) -> type:
        return np.float64


def _excerpt(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True)
class Real(Field):
    """Numbers in `[low, high]`, uniform or (`log=True`) log-uniform, of any shape."""

    low: float
    high: float
    log: bool = False
    shape_of: tuple[Extent, ...] = ()

    def __init__(
        self, low: float, high: float, *, log: bool = False, shape: Extent | tuple[Extent, ...] = ()
    ):
        if not low <= high or (log and low <= 0):
            raise ValueError(f"no interval [{low}, {high}]" + (" on a log scale" if log else ""))
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        object.__setattr__(self, "log", log)
        object.__setattr__(self, "shape_of", shape if isinstance(shape, tuple) else (shape,))

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(extent(s, sizes) for s in self.shape_of)

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        return _interpolate(u, self.low, self.high, self.log).reshape(self.shape(sizes))

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        return _locate(jnp.ravel(value), self.low, self.high, self.log)

    def describe(self) -> str:
        return f"real in [{self.low:g}, {self.high:g}]" + (", log scale" if self.log else "")

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return bool(np.all((self.low <= value) & (value <= self.high)))


@dataclass(frozen=True)
class Integer(Field):
    """An integer in `low..high`, a traced value: it may enter no shape."""

    low: Extent
    high: Extent

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return ()

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        low, high = extent(self.low, sizes), extent(self.high, sizes)
        steps = jnp.floor(u[0] * (high - low + 1)).astype(int)
        return low + jnp.clip(steps, 0, high - low)

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        low, high = extent(self.low, sizes), extent(self.high, sizes)
        middle = (jnp.asarray(value, float) - low + 0.5) / (high - low + 1)
        return middle[None]

    def describe(self) -> str:
        return f"integer in {self.low}..{self.high}"

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return extent(self.low, sizes) <= int(value) <= extent(self.high, sizes)

    def _dtype(self) -> type:
        return np.int64


@dataclass(frozen=True)
class Choice(Field):
    """One of several numbers."""

    options: tuple[float, ...]

    def __init__(self, *options: float):
        object.__setattr__(self, "options", tuple(options))

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return ()

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        index = jnp.clip(jnp.floor(u[0] * len(self.options)).astype(int), 0, len(self.options) - 1)
        return jnp.asarray(self.options, u.dtype)[index]

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        distance = jnp.abs(jnp.asarray(self.options) - value)
        return ((jnp.argmin(distance) + 0.5) / len(self.options))[None]

    def describe(self) -> str:
        return "one of " + ", ".join(f"{option:g}" for option in self.options)

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return float(value) in self.options


@dataclass(frozen=True)
class Ordered(Field):
    """`length` numbers of `[low, high]` in decreasing order; ties are reachable."""

    length: Extent
    low: float
    high: float
    log: bool = False

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),)

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        return _interpolate(jnp.sort(u)[::-1], self.low, self.high, self.log)

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        return _locate(value, self.low, self.high, self.log)

    def describe(self) -> str:
        return f"{self.length} decreasing numbers in [{self.low:g}, {self.high:g}]"

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        inside = np.all((self.low <= value) & (value <= self.high))
        return bool(inside and np.all(np.diff(value) <= 0))


@dataclass(frozen=True)
class Spectrum(Field):
    """`length` positive numbers of `[low, high]`, each at least `gap` times the next.

    The order and the gap are built into the decoding (nothing is rejected): the slack that the
    gaps leave on the log scale is shared out by sorted coordinates. `gap > 1` separates strictly.
    """

    length: Extent
    low: float
    high: float
    gap: float = 1.0

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),)

    def _slack(self, sizes: Sizes) -> float:
        length = extent(self.length, sizes)
        slack = math.log(self.high / self.low) - (length - 1) * math.log(self.gap)
        if slack < 0:
            raise InstanceError(
                f"{length} numbers, each {self.gap:g} times the next, do not fit into "
                f"[{self.low:g}, {self.high:g}]: choose a smaller {self.length}"
            )
        return slack

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        steps = jnp.arange(u.shape[0])[::-1]
        exponent = steps * math.log(self.gap) + jnp.sort(u)[::-1] * self._slack(sizes)
        return jnp.clip(self.low * jnp.exp(exponent).astype(u.dtype), self.low, self.high)

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        slack = self._slack(sizes)
        steps = jnp.arange(value.shape[0])[::-1]
        exponent = jnp.log(value / self.low) - steps * math.log(self.gap)
        return jnp.clip(exponent / slack if slack > 0 else jnp.zeros_like(value), 0, 1)

    def describe(self) -> str:
        gap = f", each at least {self.gap:g} times the next" if self.gap > 1 else ""
        return f"{self.length} decreasing numbers in [{self.low:g}, {self.high:g}]{gap}"

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        inside = np.all((self.low <= value) & (value <= self.high))
        slack = 1 - _structure_tolerance(value)
        return bool(inside and np.all(value[:-1] >= slack * self.gap * value[1:]))


@dataclass(frozen=True)
class Gaussian(Field):
    """Independent centred normal numbers with standard deviation `scale`, of any shape."""

    shape_of: tuple[Extent, ...]
    scale: float

    def __init__(self, *shape: Extent, scale: float = 1.0):
        object.__setattr__(self, "shape_of", shape)
        object.__setattr__(self, "scale", float(scale))

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(extent(s, sizes) for s in self.shape_of)

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        return (self.scale * _normal_quantile(u)).reshape(self.shape(sizes))

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        return jax.scipy.special.ndtr(jnp.ravel(value) / self.scale)

    def describe(self) -> str:
        return f"normal with standard deviation {self.scale:g}"

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return True


@dataclass(frozen=True)
class UnitVector(Field):
    """A vector of length one, uniform on the sphere. The cube's centre decodes to e_1."""

    length: Extent

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),)

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        direction = _normal_quantile(u)
        square = jnp.sum(direction**2)
        first = jnp.zeros_like(direction).at[0].set(1.0)
        norm = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        return jnp.where(square > 0, direction / norm, first)

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        return jax.scipy.special.ndtr(value)

    def describe(self) -> str:
        return f"unit vector of length {self.length}"

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return abs(float(np.linalg.norm(value)) - 1) <= _structure_tolerance(value)


@dataclass(frozen=True)
class Orthogonal(Field):
    """An orthogonal matrix, Haar distributed; both signs of the determinant occur.

    Decoded through the QR decomposition of a Gaussian matrix with the signs of the diagonal of R
    moved into Q, which makes the law Haar.
    """

    length: Extent

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),) * 2

    def decode(self, u: Cube, sizes: Sizes) -> Array:
        gaussian = _normal_quantile(u).reshape(self.shape(sizes))
        q, r = jnp.linalg.qr(gaussian)
        return q * jnp.where(jnp.diagonal(r) < 0, -1, 1).astype(q.dtype)

    def encode(self, value: Array, sizes: Sizes) -> Cube:
        return jax.scipy.special.ndtr(jnp.ravel(value))

    def describe(self) -> str:
        return f"orthogonal {self.length} x {self.length} matrix"

    def _belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        defect = np.abs(value.T @ value - np.eye(value.shape[0])).max(initial=0.0)
        return bool(defect <= _structure_tolerance(value))
