"""Decreasing numbers of an interval."""

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
class Ordered(Field):
    """`length` numbers of `[low, high]` in decreasing order; ties are reachable."""

    length: Extent
    low: float
    high: float
    log: bool = False

    def __post_init__(self):
        check_lengths(self.length)
        check_interval(self.low, self.high, self.log)

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),)

    def decode(self, u: Float[Array, " length"], sizes: Sizes) -> Float[Array, " length"]:
        return interpolate(jnp.sort(u)[::-1], self.low, self.high, self.log)

    def encode(self, value: Float[Array | np.ndarray, " length"], sizes: Sizes) -> Cube:
        return locate(value, self.low, self.high, self.log)

    def describe(self) -> str:
        return f"{self.length} decreasing numbers in [{self.low:g}, {self.high:g}]"

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        inside = np.all((self.low <= value) & (value <= self.high))
        return bool(inside and np.all(np.diff(value) <= 0))

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        return round_entries(value)

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        unordered = float_arrays(self.low, self.high, self.shape(sizes))
        return unordered.map(lambda entries: np.sort(entries)[::-1].copy())

    def box(self, sizes: Sizes) -> Interval:
        return Interval(self.low, self.high, self.log)

    def order(self, value: Float[Array, " length"]) -> Float[Array, " margins"]:
        return value[:-1] - value[1:]
