"""Numbers of an interval whose ends are drawn as often as what lies between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.base import Cube, Sizes
from theorysim.claims.fields.real import Real

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def to_ends(u: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """Coordinates stretched about their middle: a third of them becomes 0, a third 1."""
    return jnp.clip(3 * u - 1, 0, 1)


def from_ends(t: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """Coordinates that `to_ends` takes to these; 0 and 1 are met exactly."""
    return jnp.where(t <= 0, 0, jnp.where(t >= 1, 1, (1 + t) / 3))


class Extremal(Real):
    """Numbers in `[low, high]`: each end a third of the time, else as `Real` has them.

    What is worst often has its numbers at both ends of what is allowed: curvatures 0 and L, slopes
    -1 and 1. Uniform draws never meet them.
    """

    def decode(self, u: Cube, sizes: Sizes) -> Float[Array, "*shape"]:
        return super().decode(to_ends(u), sizes)

    def encode(self, value: Float[Array | np.ndarray, "*shape"], sizes: Sizes) -> Cube:
        return from_ends(super().encode(value, sizes))

    def describe(self) -> str:
        return f"{super().describe()}, often an end"

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        from hypothesis import strategies as st

        ends = np.full(self.shape(sizes), self.low), np.full(self.shape(sizes), self.high)
        return st.sampled_from(ends) | super().strategy(sizes)
