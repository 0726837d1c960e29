"""What a device can do at most, measured: operations a second, and bytes of memory a second."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from benchmarks.race import compiled, device, in_turns
from theorysim.numerics.products import dot


class Roofline(NamedTuple):
    """Operations a second of a large matrix product, bytes a second of a large copy."""

    device: str
    dtype: str
    operations: float
    bytes: float

    def share(self, seconds: float, operations: float, moved: float) -> float:
        """Which part of what is possible some work reached.

        Args:
            seconds: what it took.
            operations: of floating point.
            moved: bytes that it must read and write.
        """
        return max(operations / self.operations, moved / self.bytes) / seconds


def measure(dtype: str, quick: bool) -> Roofline:
    """The roofline of the default device for numbers of a type."""
    side, length = (256, 10**6) if quick else (8192, 2**28)

    def product(matrix: Array) -> Array:
        return dot(matrix, matrix)

    def copy(vector: Array) -> Array:
        return -vector

    matrix = jnp.full((side, side), 1 / side, dtype)
    vector = jnp.ones(length, dtype)
    contenders: list[Any] = [
        compiled("product", product, matrix, work=2 * side**3),
        compiled("copy", copy, vector, work=2 * vector.nbytes),
    ]
    operations, moved = (1 / min(times) for times in in_turns(contenders))
    return Roofline(device(), dtype, operations, moved)


def accelerator() -> str:
    """The device that is no CPU, which programs run on where there is one; empty without."""
    return "" if jax.default_backend() == "cpu" else device()
