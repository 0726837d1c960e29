"""What a certificate asks of the fields of a space: all that depends on their kinds.

A box ranges over real numbers, enumerates options, and takes one value of any other field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from theorysim.claims.fields import (
    Choice,
    Field,
    Integer,
    Ordered,
    Orthogonal,
    Real,
    Spectrum,
    UnitVector,
    extent,
)


@dataclass(frozen=True)
class RealRange:
    """Real numbers in an interval; with a `gap`, each is at least `gap` times the next.

    `log` bisects at geometric means.
    """

    low: float
    high: float
    log: bool
    gap: float | None = None


def real_range(field: Field) -> RealRange | None:
    """The range of a field of real numbers, on which a box has coordinates."""
    if isinstance(field, Spectrum):
        return RealRange(field.low, field.high, True, field.gap)
    if isinstance(field, Ordered):
        return RealRange(field.low, field.high, field.log, 1.0)
    return RealRange(field.low, field.high, field.log) if isinstance(field, Real) else None


def options(field: Field, sizes: Mapping[str, int]) -> list[int] | list[float] | None:
    """The values of a field that has few enough of them for a box to enumerate."""
    if isinstance(field, Integer):
        return list(range(extent(field.low, sizes), extent(field.high, sizes) + 1))
    return [float(option) for option in field.options] if isinstance(field, Choice) else None


def structure(field: Field) -> Callable[[np.ndarray], np.ndarray] | None:
    """What makes printed numbers, as an array of balls, a value of the field exactly."""
    if isinstance(field, Orthogonal):
        return _orthonormalise
    return _normalise if isinstance(field, UnitVector) else None


def _normalise(vector: np.ndarray) -> np.ndarray:
    return vector / np.sum(vector * vector).sqrt()


def _orthonormalise(matrix: np.ndarray) -> np.ndarray:
    rows: list[np.ndarray] = []
    for row in matrix:
        for earlier in rows:
            row = row - np.sum(row * earlier) * earlier
        rows.append(_normalise(row))
    return np.stack(rows)
