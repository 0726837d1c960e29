"""One of several numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.base import Cube, Field, Options, Sizes
from theorysim.claims.fields.numbers import check_numbers

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True)
class Choice(Field):
    """One of several numbers."""

    options: tuple[float, ...]

    def __init__(self, *options: float):
        if not options:
            raise ValueError("expected numbers, as in Choice(0, 1), not ()")
        for option in options:
            check_numbers(option=option)
        object.__setattr__(self, "options", tuple(options))

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return ()

    def decode(self, u: Float[Array, "1"], sizes: Sizes) -> Float[Array, ""]:
        index = jnp.clip(jnp.floor(u[0] * len(self.options)).astype(int), 0, len(self.options) - 1)
        return jnp.asarray(self.options, u.dtype)[index]

    def encode(self, value: Float[Array | np.ndarray, ""], sizes: Sizes) -> Cube:
        distance = jnp.abs(jnp.asarray(self.options) - value)
        return ((jnp.argmin(distance) + 0.5) / len(self.options))[None]

    def describe(self) -> str:
        return "one of " + ", ".join(f"{option:g}" for option in self.options)

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        return float(value) in self.options

    def is_exact(self) -> bool:
        return all(float(option).is_integer() for option in self.options)

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        from hypothesis import strategies as st

        return st.sampled_from(self.options).map(lambda option: np.asarray(option, np.float64))

    def box(self, sizes: Sizes) -> Options:
        return Options(tuple(float(option) for option in self.options))
