"""Positive numbers, each well above the next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.arrays import round_entries, structure_tolerance
from theorysim.claims.fields.base import Cube, Extent, Field, Interval, Sizes, extent
from theorysim.claims.fields.numbers import check_interval, check_lengths, check_numbers
from theorysim.claims.fields.ordered import Ordered
from theorysim.errors import InstanceError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


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

    def __post_init__(self):
        check_lengths(self.length)
        check_interval(self.low, self.high, log=True)
        check_numbers(gap=self.gap)
        if self.gap < 1:
            raise ValueError(f"gap = {self.gap}: expected at least 1, each times the next")

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),)

    def decode(self, u: Float[Array, " length"], sizes: Sizes) -> Float[Array, " length"]:
        steps = jnp.arange(u.shape[0])[::-1]
        exponent = steps * math.log(self.gap) + jnp.sort(u)[::-1] * self._slack(sizes)
        return jnp.clip(self.low * jnp.exp(exponent).astype(u.dtype), self.low, self.high)

    def encode(self, value: Float[Array | np.ndarray, " length"], sizes: Sizes) -> Cube:
        slack = self._slack(sizes)
        steps = jnp.arange(value.shape[0])[::-1]
        exponent = jnp.log(value / self.low) - steps * math.log(self.gap)
        return jnp.clip(exponent / slack if slack > 0 else jnp.zeros_like(value), 0, 1)

    def describe(self) -> str:
        gap = f", each at least {self.gap:g} times the next" if self.gap > 1 else ""
        return f"{self.length} decreasing numbers in [{self.low:g}, {self.high:g}]{gap}"

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        inside = np.all((self.low <= value) & (value <= self.high))
        slack = 1 - structure_tolerance(value)
        return bool(inside and np.all(value[:-1] >= slack * self.gap * value[1:]))

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        return round_entries(value)

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        if self.gap > 1:
            return super().strategy(sizes)
        return Ordered(self.length, self.low, self.high).strategy(sizes)

    def box(self, sizes: Sizes) -> Interval:
        return Interval(self.low, self.high, log=True)

    def order(self, value: Float[Array, " length"]) -> Float[Array, " margins"]:
        return value[:-1] - self.gap * value[1:]

    def _slack(self, sizes: Sizes) -> float:
        length = extent(self.length, sizes)
        slack = math.log(self.high / self.low) - (length - 1) * math.log(self.gap)
        if slack < 0:
            raise InstanceError(
                f"{length} numbers, each {self.gap:g} times the next, do not fit into "
                f"[{self.low:g}, {self.high:g}]: choose a smaller {self.length}"
            )
        return slack
