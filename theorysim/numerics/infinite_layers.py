"""Layers of infinitely wide networks, as maps of the kernels of what they read.

Layers map the kernels of what they read to those of what they write. Dense layers and convolutions
add up independent Gaussians. With K the covariance of what is read, per channel, T its tangent
kernel, and (u, u') Gaussian with covariance K,

    Dense:          K -> K' = sigma_w^2 K + sigma_b^2,          T -> sigma_w^2 T + K',
    activation s:   K -> E[s(u) s(u')],                         T -> E[s'(u) s'(u')] T.

Convolutions first average K and T over the filter, at both positions at once. `Flatten` averages
them over equal positions, `GlobalAveragePooling` over all pairs of positions.

Near parallel inputs E[s'(u) s'(u')] of ReLU is 1/2 - theta/(2 pi), and theta from a covariance has
half of the digits, at every depth anew. So layers also map

    apart = |u| |u'| - K >= 0,     together = |u| |u'| + K >= 0,     |u|^2 = E[u^2],

without subtracting anything that is alike, which keeps theta = 2 arctan sqrt(apart / together).
Sums of independent parts, of lengths |u_i|, |u'_i|, have for apart (and the same for together)

    apart = sum_i apart_i + |u| |u'| sum_i (|u_i|/|u| - |u'_i|/|u'|)^2 / 2.

On the diagonal, apart is exactly 0. The kink there, and that of antipodal inputs, contributes no
derivative. ReLU has slope 0 at inputs that are exactly zero.

Source: Jacot, Gabriel, Hongler, NeurIPS 2018 (NTK); Lee et al., ICLR 2018 (NNGP); Novak et al.,
ICLR 2019, and Arora et al., NeurIPS 2019 (convolutions); Cho, Saul, NeurIPS 2009 (ReLU); Williams,
NeurIPS 1996 (erf).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorysim.numerics.kernels import arc_cosine


class Pair(NamedTuple):
    """Two inputs, at equal positions (*positions) or at all pairs (*positions *positions)."""

    covariance: Array
    apart: Array
    together: Array
    tangent: Array


class Sides(NamedTuple):
    """What belongs to the one input and to the other, in shapes that broadcast to the pair's."""

    left: Array
    right: Array

    @property
    def product(self) -> Array:
        return self.left * self.right


@dataclass(frozen=True)
class Dense:
    """y = sqrt(weight_variance / fan_in) W x + sqrt(bias_variance) b; at every position alike."""

    weight_variance: Any = 1.0
    bias_variance: Any = 0.0

    def lengths(self, lengths: Array) -> Array:
        weight, bias = self._variances(lengths.dtype)
        return root(weight * jnp.square(lengths) + bias)

    def pair(self, pair: Pair, before: Sides, after: Sides) -> Pair:
        weight, bias = self._variances(pair.covariance.dtype)
        one = jnp.ones((), weight.dtype)
        turns = weight * _turn(before, after) + bias * _turn(Sides(one, one), after)
        excess = after.product * turns / 2
        covariance = weight * pair.covariance + bias
        return Pair(
            covariance,
            weight * pair.apart + excess,
            weight * pair.together + 2 * bias + excess,
            weight * pair.tangent + covariance,
        )

    def _variances(self, dtype: Any) -> tuple[Array, Array]:
        return jnp.asarray(self.weight_variance, dtype), jnp.asarray(self.bias_variance, dtype)


@dataclass(frozen=True)
class Convolution:
    """`Dense` that reads the channels at the positions under a filter; it keeps their number.

    fan_in = channels times prod(filter). The filter reaches (size - 1) // 2 positions back and
    size // 2 ahead, as "SAME" does; past the ends are zeros, or the other end ("periodic").
    """

    filter: tuple[int, ...]
    weight_variance: Any = 1.0
    bias_variance: Any = 0.0
    padding: str = "zeros"


@dataclass(frozen=True)
class Relu:
    """max(u, 0), after `Dense` or `Convolution`."""

    def lengths(self, lengths: Array) -> Array:
        return lengths * math.sqrt(0.5)

    def pair(self, pair: Pair, before: Sides, after: Sides) -> Pair:
        theta, opening = _angles(pair)
        covariance = before.product * arc_cosine(opening) / (2 * pi)
        return Pair(
            covariance,
            pair.apart / 2 - before.product * arc_cosine(theta) / (2 * pi),
            before.product / 2 + covariance,
            opening / (2 * pi) * pair.tangent,
        )


@dataclass(frozen=True)
class Erf:
    """erf(u), the error function of u itself, after `Dense` or `Convolution`."""

    def lengths(self, lengths: Array) -> Array:
        square = 2 * jnp.square(lengths)
        return root(2 / pi * jnp.arctan2(square, jnp.sqrt(1 + 2 * square)))

    def pair(self, pair: Pair, before: Sides, after: Sides) -> Pair:
        # (1 + 2|u|^2)(1 + 2|u'|^2) - 4 K^2, without a difference
        square = _base(before) + 4 * pair.apart * pair.together
        turned = pair._replace(
            covariance=-pair.covariance, apart=pair.together, together=pair.apart
        )
        return Pair(
            2 / pi * jnp.arctan2(2 * pair.covariance, jnp.sqrt(square)),
            _erf_apart(pair, before, after),
            _erf_apart(turned, before, after),  # erf is odd
            4 / pi * pair.tangent / jnp.sqrt(square),
        )


@dataclass(frozen=True)
class Flatten:
    """All positions become channels."""

    def lengths(self, lengths: Array) -> Array:
        return root(jnp.mean(jnp.square(lengths)))

    def pair(self, pair: Pair, before: Sides, after: Sides) -> Pair:
        excess = after.product * jnp.mean(_turn(before, after)) / 2
        return _widened(jax.tree.map(jnp.mean, pair), excess)


@dataclass(frozen=True)
class GlobalAveragePooling:
    """Every channel becomes its mean over the positions; no activation may follow.

    The angle between two means is not determined by those between positions to full accuracy.
    """

    def lengths(self, lengths: Array) -> Array:
        return jnp.zeros((), lengths.dtype)

    def pair(self, pair: Pair, before: Sides, after: Sides) -> Pair:
        # Nothing that follows asks for lengths or angles.
        nothing = after.product
        return Pair(jnp.mean(pair.covariance), nothing, nothing, jnp.mean(pair.tangent))


Layer: TypeAlias = Dense | Convolution | Relu | Erf | Flatten | GlobalAveragePooling
LINEAR, ACTIVATIONS = (Dense, Convolution), (Relu, Erf)


@dataclass(frozen=True)
class Slide:
    """The mean over a filter along one axis of positions: parts of a convolution's sum."""

    size: int
    periodic: bool
    left_axis: int
    right_axis: int

    def lengths(self, lengths: Array) -> Array:
        parts = [jnp.square(part) for part in self._parts(lengths, {self.left_axis})]
        return root(sum(parts[1:], parts[0]) / self.size)

    def pair(self, pair: Pair, before: Sides, after: Sides) -> Pair:
        left = self._parts(before.left, {self.left_axis})
        right = self._parts(before.right, {self.right_axis})
        turns = [_turn(Sides(*part), after) for part in zip(left, right, strict=True)]
        excess = after.product * sum(turns[1:], turns[0]) / (2 * self.size)
        axes = {self.left_axis, self.right_axis}

        def mean(array: Array) -> Array:
            parts = self._parts(array, axes)
            return sum(parts[1:], parts[0]) / self.size

        return _widened(Pair(*map(mean, pair)), excess)

    def _parts(self, array: Array, axes: set[int]) -> list[Array]:
        """What each place of the filter sees: the array shifted along all axes at once."""
        back = (self.size - 1) // 2
        return [self._shifted(array, shift - back, axes) for shift in range(self.size)]

    def _shifted(self, array: Array, shift: int, axes: set[int]) -> Array:
        for axis in axes:
            length = array.shape[axis]
            if self.periodic:
                array = jnp.roll(array, -shift, axis)
            else:
                width = [(0, 0)] * array.ndim
                width[axis] = (max(-shift, 0), max(shift, 0))
                padded, start = jnp.pad(array, width), max(shift, 0)
                array = jax.lax.slice_in_dim(padded, start, start + length, axis=axis)
        return array


def _turn(part: Sides, whole: Sides) -> Array:
    """The square of how much the share of a part differs between the sides."""
    return jnp.square(part.left / nonzero(whole.left) - part.right / nonzero(whole.right))


def _widened(pair: Pair, excess: Array) -> Pair:
    return pair._replace(apart=pair.apart + excess, together=pair.together + excess)


def _angles(pair: Pair) -> tuple[Array, Array]:
    """theta and pi - theta, each to full relative accuracy; pi and 0 where a side is zero."""
    apart, together = root(pair.apart), root(pair.together)
    apart = jnp.where((apart == 0) & (together == 0), 1, apart)
    return 2 * jnp.arctan2(apart, together), 2 * jnp.arctan2(together, apart)


def _erf_apart(pair: Pair, before: Sides, after: Sides) -> Array:
    """|v| |v'| - E[v v'] of v = erf(u).

    (|v|^2 + |v'|^2) / 2 - E[v v'] is 2/pi times what E[v v'] loses since u, u' are not parallel, a
    difference of two arctangents, plus what it loses since their lengths p, q differ. The latter is
    half of asin(2pp/(1+2pp)) - 2 asin(2pq/c) + asin(2qq/(1+2qq)), the solid angle of the square
    [q, p]^2 sqrt(2) at distance 1, twice that of a triangle.
    """
    p, q, product = before.left, before.right, before.product
    base = jnp.sqrt(_base(before))
    full = jnp.sqrt(_base(before) + 4 * pair.apart * pair.together)
    sine = pair.apart * (8 * product * pair.together / (full + base) + 2 * base)
    turned = jnp.arctan2(sine, base * full + 4 * product * pair.covariance)

    far, near = jnp.sqrt(1 + 4 * p * p), jnp.sqrt(1 + 4 * q * q)
    corners = far * base * near + (1 + 4 * product) * base
    corners += (1 + 2 * product + 2 * q * q) * far + (1 + 2 * product + 2 * p * p) * near
    stretched = 2 * jnp.arctan2(2 * jnp.square(p - q), corners)
    return 2 / pi * (turned + stretched) - jnp.square(after.left - after.right) / 2


def _base(lengths: Sides) -> Array:
    return 1 + 2 * jnp.square(lengths.left) + 2 * jnp.square(lengths.right)


def root(squares: Array) -> Array:
    """The square root, with derivative zero at zero; roundings below zero count as zero."""
    positive = squares > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squares, 1)), 0)


def nonzero(lengths: Array) -> Array:
    """Lengths to divide by: what has none is divided by one."""
    return jnp.where(lengths == 0, 1, lengths)
