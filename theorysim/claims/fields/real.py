"""Numbers of an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.arrays import float_arrays, interpolate, locate, round_entries
from theorysim.claims.fields.base import Cube, Extent, Field, Interval, Sizes, extent
from theorysim.claims.fields.numbers import check_interval, check_lengths

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


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
        check_interval(low, high, log)
        check_lengths(*(shape if isinstance(shape, tuple) else (shape,)))
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        object.__setattr__(self, "log", log)
        object.__setattr__(self, "shape_of", shape if isinstance(shape, tuple) else (shape,))

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(extent(s, sizes) for s in self.shape_of)

    def decode(self, u: Cube, sizes: Sizes) -> Float[Array, "*shape"]:
        return interpolate(u, self.low, self.high, self.log).reshape(self.shape(sizes))

    def encode(self, value: Float[Array | np.ndarray, "*shape"], sizes: Sizes) -> Cube:
        return locate(jnp.ravel(value), self.low, self.high, self.log)

    def describe(self) -> str:
        return f"real in [{self.low:g}, {self.high:g}]" + (", log scale" if self.log else "")

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return bool(np.all((self.low <= value) & (value <= self.high)))

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        return round_entries(value)

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        return float_arrays(self.low, self.high, self.shape(sizes))

    def box(self, sizes: Sizes) -> Interval:
        return Interval(self.low, self.high, self.log)
