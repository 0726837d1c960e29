"""An integer that enters no shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim.claims.fields.base import Cube, Extent, Field, Options, Sizes, extent

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Integer(Field):
    """An integer in `low..high`, a traced value: it may enter no shape."""

    low: Extent
    high: Extent

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return ()

    def decode(self, u: Float[Array, "1"], sizes: Sizes) -> Int[Array, ""]:
        low, high = self._ends(sizes)
        steps = jnp.floor(u[0] * (high - low + 1)).astype(int)
        return low + jnp.clip(steps, 0, high - low)

    def encode(self, value: Int[Array | np.ndarray, ""], sizes: Sizes) -> Cube:
        low, high = self._ends(sizes)
        middle = (jnp.asarray(value, float) - low + 0.5) / (high - low + 1)
        return middle[None]

    def describe(self) -> str:
        return f"integer in {self.low}..{self.high}"

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        low, high = self._ends(sizes)
        return low <= int(value) <= high

    def dtype(self) -> type:
        return np.int64

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        from hypothesis import strategies as st

        return st.integers(*self._ends(sizes)).map(np.asarray)

    def box(self, sizes: Sizes) -> Options:
        low, high = self._ends(sizes)
        return Options(range(low, high + 1))

    def _ends(self, sizes: Sizes) -> tuple[int, int]:
        return extent(self.low, sizes), extent(self.high, sizes)
