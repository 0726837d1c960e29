"""Independent normal numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.arrays import (
    WIDEST_DEVIATION,
    float_arrays,
    normal_quantile,
    round_entries,
)
from theorysim.claims.fields.base import Cube, Extent, Field, Sizes, extent
from theorysim.claims.fields.numbers import check_lengths, check_numbers

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Gaussian(Field):
    """Independent centred normal numbers with standard deviation `scale`, of any shape."""

    shape_of: tuple[Extent, ...]
    scale: float

    def __init__(self, *shape: Extent, scale: float = 1.0):
        check_lengths(*shape)
        check_numbers(scale=scale)
        if scale <= 0:
            raise ValueError(f"scale = {scale}: expected a standard deviation above 0")
        object.__setattr__(self, "shape_of", shape)
        object.__setattr__(self, "scale", float(scale))

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(extent(s, sizes) for s in self.shape_of)

    def decode(self, u: Cube, sizes: Sizes) -> Float[Array, "*shape"]:
        return (self.scale * normal_quantile(u)).reshape(self.shape(sizes))

    def encode(self, value: Float[Array | np.ndarray, "*shape"], sizes: Sizes) -> Cube:
        return jax.scipy.special.ndtr(jnp.ravel(value) / self.scale)

    def describe(self) -> str:
        return f"normal with standard deviation {self.scale:g}"

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return True

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        return round_entries(value)

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        widest = WIDEST_DEVIATION * self.scale
        return float_arrays(-widest, widest, self.shape(sizes))
