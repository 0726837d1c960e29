"""A rotation or a reflection."""

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


@dataclass(frozen=True)
class Orthogonal(Field):
    """An orthogonal matrix, Haar distributed; both signs of the determinant occur.

    Decoded through the QR decomposition of a Gaussian matrix with the signs of the diagonal of R
    moved into Q, which makes the law Haar.
    """

    length: Extent

    def __post_init__(self):
        check_lengths(self.length, least=1)

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (extent(self.length, sizes),) * 2

    def decode(self, u: Cube, sizes: Sizes) -> Float[Array, "length length"]:
        gaussian = normal_quantile(u).reshape(self.shape(sizes))
        q, r = jnp.linalg.qr(gaussian)
        return q * jnp.where(jnp.diagonal(r) < 0, -1, 1).astype(q.dtype)

    def encode(self, value: Float[Array | np.ndarray, "length length"], sizes: Sizes) -> Cube:
        return jax.scipy.special.ndtr(jnp.ravel(value))

    def describe(self) -> str:
        return f"orthogonal {self.length} x {self.length} matrix"

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        defect = np.abs(value.T @ value - np.eye(value.shape[0])).max(initial=0.0)
        return bool(defect <= structure_tolerance(value))

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        """The identity, a reflection, the exchange of rows."""
        yield np.eye(len(value))
        yield np.diag([*np.ones(len(value) - 1), -1.0])
        yield np.eye(len(value))[::-1].copy()

    def normalised(self, entries: np.ndarray) -> np.ndarray:
        """Gram and Schmidt on the rows."""
        rows: list[np.ndarray] = []
        for row in entries:
            for earlier in rows:
                row = row - np.sum(row * earlier) * earlier
            rows.append(row / np.sqrt(np.sum(row * row)))
        return np.stack(rows)
