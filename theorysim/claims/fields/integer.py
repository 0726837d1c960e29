"""An integer that enters no shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim.claims.fields.base import Cube, Extent, Field, Options, Sizes, extent
from theorysim.claims.fields.numbers import check_interval
from theorysim.errors import InstanceError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Integer(Field):
    """An integer in `low..high`, a traced value: it may enter no shape."""

    low: Extent
    high: Extent

    def __post_init__(self):
        for name in ("low", "high"):
            end = getattr(self, name)
            if isinstance(end, bool) or not isinstance(end, (int, np.integer, str)):
                raise ValueError(
                    f"{name} = {end!r}: expected an integer, the name of a size, or a formula of "
                    "sizes; other numbers are a Real(low, high)"
                )
        if not isinstance(self.low, str) and not isinstance(self.high, str):
            check_interval(self.low, self.high)

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        self._ends(sizes)
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
        low, high = extent(self.low, sizes), extent(self.high, sizes)
        if low > high:
            raise InstanceError(
                f"no integer in {self.low}..{self.high} at {dict(sizes)}: narrow the sizes, or "
                "choose other ends"
            )
        return low, high
