"""Piecewise linear maps of a line that fix its origin, with slopes in an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields.arrays import interpolate, locate, round_to
from theorysim.claims.fields.base import Cube, Extent, Field, Sizes, extent
from theorysim.claims.fields.extremal import from_ends, to_ends
from theorysim.claims.fields.numbers import check_lengths, check_numbers

# Significant digits of simpler maps.
DIGITS = (1, 2, 3)


@dataclass(frozen=True)
class PiecewiseLinear(Field):
    """A map of the line with `knots` bends on either side of the origin, which it fixes.

    Its slopes are numbers of `[low, high]`, each end a third of the time; the bends are at
    distances of `[near, far]` from the origin, on a log scale. What it stands for:

    - with slopes in [mu, L], the gradient of any function of one variable in the class of mu-convex
      L-smooth ones, up to the number of bends: quadratics, Huber functions, interpolants;
    - with slopes in [-L, L], that of a smooth function that need not be convex;
    - with slopes in [0, 1], the proximal map of a closed convex function, such as a modulus or the
      indicator of an interval or a half-line;
    - with slopes in [-1, 1], a nonexpansive map.

    A value has two rows, for the positive and the negative half-line, each with the distances of
    the bends in increasing order and then the slopes from the origin outwards.
    `theorysim.numerics.piecewise_linear` evaluates and integrates it.
    """

    knots: Extent
    low: float
    high: float
    near: float = 0.01
    far: float = 1.0

    def __post_init__(self):
        check_lengths(self.knots, what="knots")
        check_numbers(low=self.low, high=self.high, near=self.near, far=self.far)
        if not self.low <= self.high or not 0 < self.near <= self.far:
            raise ValueError(
                f"slopes in [{self.low:g}, {self.high:g}], bends in [{self.near:g}, {self.far:g}]: "
                "expected low <= high and 0 < near <= far"
            )

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return (2, 2 * extent(self.knots, sizes) + 1)

    def decode(self, u: Cube, sizes: Sizes) -> Float[Array, "2 parts"]:
        knots = extent(self.knots, sizes)
        rows = u.reshape(self.shape(sizes))
        bends = interpolate(jnp.sort(rows[:, :knots], axis=1).ravel(), self.near, self.far, True)
        slopes = interpolate(to_ends(rows[:, knots:]).ravel(), self.low, self.high, False)
        return jnp.concatenate([bends.reshape(2, -1), slopes.reshape(2, -1)], axis=1)

    def encode(self, value: Float[Array | np.ndarray, "2 parts"], sizes: Sizes) -> Cube:
        knots = extent(self.knots, sizes)
        bends = locate(jnp.ravel(value[:, :knots]), self.near, self.far, True)
        slopes = from_ends(locate(jnp.ravel(value[:, knots:]), self.low, self.high, False))
        return jnp.concatenate([bends.reshape(2, -1), slopes.reshape(2, -1)], axis=1).ravel()

    def describe(self) -> str:
        return (
            f"piecewise linear map through 0: per side, {self.knots} increasing distances in "
            f"[{self.near:g}, {self.far:g}], then one slope more in [{self.low:g}, {self.high:g}]"
        )

    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        knots = extent(self.knots, sizes)
        bends, slopes = value[:, :knots], value[:, knots:]
        inside = np.all((self.near <= bends) & (bends <= self.far)) and np.all(
            (self.low <= slopes) & (slopes <= self.high)
        )
        return bool(inside and np.all(np.diff(bends, axis=1) >= 0))

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        """The same map on both sides, one slope on each, rounded entries."""
        knots = extent(self.knots, sizes)
        for row in value:
            yield np.stack([row, row])
        straight = value.copy()
        straight[:, knots:] = value[:, knots : knots + 1]
        yield straight
        for digits in DIGITS:
            yield round_to(value, digits)
