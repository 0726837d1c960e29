"""A direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.arrays import normal_quantile, structure_tolerance
from theorysim.claims.fields.base import Cube, Extent, Field, Sizes, extent
from theorysim.claims.fields.numbers import check_lengths

# So many unit vectors along an axis are tried in place of another one.
AXES = 16


@dataclass(frozen=True)
class UnitVector(Field):
    """A vector of length one, uniform on the sphere. The cube's centre decodes to e_1."""

    length: Extent

    def __post_init__(self):
        check_lengths(self.length, least=1)

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),)

    def decode(self, u: Float[Array, " length"], sizes: Sizes) -> Float[Array, " length"]:
        direction = normal_quantile(u)
        square = jnp.sum(direction**2)
        first = jnp.zeros_like(direction).at[0].set(1.0)
        norm = jnp.sqrt(jnp.where(square > 0, square, 1.0))
        return jnp.where(square > 0, direction / norm, first)

    def encode(self, value: Float[Array | np.ndarray, " length"], sizes: Sizes) -> Cube:
        return jax.scipy.special.ndtr(value)

    def describe(self) -> str:
        return f"unit vector of length {self.length}"

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return abs(float(np.linalg.norm(value)) - 1) <= structure_tolerance(value)

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        return iter(np.eye(len(value))[:AXES])

    def normalised(self, entries: np.ndarray) -> np.ndarray:
        return entries / np.sqrt(np.sum(entries * entries))
