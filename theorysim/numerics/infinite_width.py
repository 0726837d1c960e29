"""Infinite-width kernels, NNGP and NTK, of networks given as a list of layers.

    kernels = infinite_kernels([Dense(2.0, 0.1), Relu(), Dense(1.0)], inputs)
    kernels.nngp, kernels.tangent  # (n, n) each

The network has the NTK parameterisation: a layer of fan-in f is y = sigma_w/sqrt(f) W x + sigma_b b
with all entries of W and b standard Gaussian, f the channels that it reads times the size of its
filter. As all hidden widths grow, the outputs become independent Gaussian processes with covariance
`nngp`, E[f(x) f(x')] of one output, and the tangent kernel J(x) J(x')^T of one output, neither
halved nor averaged, becomes `tangent`; between different outputs both vanish.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import pi
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num

from theorysim.numerics.checks import when_known
from theorysim.numerics.kernels import arc_cosine

BLOCK_BYTES = 2**28
"""Pairs of inputs are computed in blocks that take about this much memory, beside the results."""

_COPIES = 12  # of an array over pairs, that a block holds at once


class Kernels(NamedTuple):
    """The kernels of one output; rows are the inputs, columns the others."""

    nngp: Float[Array, "n m"]
    tangent: Float[Array, "n m"]


class _Pair(NamedTuple):
    """Two inputs, at equal positions (*positions) or at all pairs (*positions *positions)."""

    covariance: Array
    apart: Array
    together: Array
    tangent: Array


class _Sides(NamedTuple):
    """What belongs to the one input and to the other, in shapes that broadcast to the pair's."""

    left: Array
    right: Array

    @property
    def product(self) -> Array:
        return self.left * self.right


class _Signal(NamedTuple):
    """An input: its values over their length at every position, and the lengths by layer."""

    directions: Array
    lengths: list[Array]


@dataclass(frozen=True)
class Dense:
    """y = sqrt(weight_variance / fan_in) W x + sqrt(bias_variance) b; at every position alike."""

    weight_variance: Any = 1.0
    bias_variance: Any = 0.0

    def lengths(self, lengths: Array) -> Array:
        weight, bias = self._variances(lengths.dtype)
        return _root(weight * jnp.square(lengths) + bias)

    def pair(self, pair: _Pair, before: _Sides, after: _Sides) -> _Pair:
        weight, bias = self._variances(pair.covariance.dtype)
        one = jnp.ones((), weight.dtype)
        turns = weight * _turn(before, after) + bias * _turn(_Sides(one, one), after)
        excess = after.product * turns / 2
        covariance = weight * pair.covariance + bias
        return _Pair(
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

    def pair(self, pair: _Pair, before: _Sides, after: _Sides) -> _Pair:
        theta, opening = _angles(pair)
        covariance = before.product * arc_cosine(opening) / (2 * pi)
        return _Pair(
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
        return _root(2 / pi * jnp.arctan2(square, jnp.sqrt(1 + 2 * square)))

    def pair(self, pair: _Pair, before: _Sides, after: _Sides) -> _Pair:
        # (1 + 2|u|^2)(1 + 2|u'|^2) - 4 K^2, without a difference
        square = _base(before) + 4 * pair.apart * pair.together
        turned = pair._replace(
            covariance=-pair.covariance, apart=pair.together, together=pair.apart
        )
        return _Pair(
            2 / pi * jnp.arctan2(2 * pair.covariance, jnp.sqrt(square)),
            _erf_apart(pair, before, after),
            _erf_apart(turned, before, after),  # erf is odd
            4 / pi * pair.tangent / jnp.sqrt(square),
        )


@dataclass(frozen=True)
class Flatten:
    """All positions become channels."""

    def lengths(self, lengths: Array) -> Array:
        return _root(jnp.mean(jnp.square(lengths)))

    def pair(self, pair: _Pair, before: _Sides, after: _Sides) -> _Pair:
        excess = after.product * jnp.mean(_turn(before, after)) / 2
        return _widened(jax.tree.map(jnp.mean, pair), excess)


@dataclass(frozen=True)
class GlobalAveragePooling:
    """Every channel becomes its mean over the positions; no activation may follow.

    The angle between two means is not determined by those between positions to full accuracy.
    """

    def lengths(self, lengths: Array) -> Array:
        return jnp.zeros((), lengths.dtype)

    def pair(self, pair: _Pair, before: _Sides, after: _Sides) -> _Pair:
        # Nothing that follows asks for lengths or angles.
        nothing = after.product
        return _Pair(jnp.mean(pair.covariance), nothing, nothing, jnp.mean(pair.tangent))


Layer: TypeAlias = Dense | Convolution | Relu | Erf | Flatten | GlobalAveragePooling
_LINEAR, _ACTIVATIONS = (Dense, Convolution), (Relu, Erf)


def infinite_kernels(
    layers: Sequence[Layer],
    inputs: Num[Array, "n *shape"],
    others: Num[Array, "m *shape"] | None = None,
) -> Kernels:
    """NNGP and tangent kernel of an infinitely wide network, for all pairs of inputs.

        layers = [
            Convolution((3, 3), 2.0), Relu(),
            Convolution((3, 3), 2.0), Relu(),
            GlobalAveragePooling(), Dense(),
        ]
        nngp, tangent = infinite_kernels(layers, images, others)

    It costs as much as all pairs, each with all channels: of inputs, times positions, and times
    positions again with `GlobalAveragePooling`. Memory beyond the result is about `BLOCK_BYTES`.

    Args:
        layers: from `theorysim.numerics.infinite_width`; the last one is the readout, a `Dense`.
            Variances may be traced.
        inputs: floating-point (n, channels), or with positions (n, length, channels),
            (n, height, width, channels).
        others: inputs x' of the columns; the same ones unless given.

    Returns:
        Two (n, m) Gram matrices, of the precision of the inputs.

    Raises:
        ValueError: for layers that do not fit together or to the inputs, for variances that are
            negative or not finite.
    """
    inputs = jnp.asarray(inputs)
    others = None if others is None else jnp.asarray(others)
    _check_inputs(inputs, others)
    _check_layers(list(layers), inputs.ndim - 2)
    return _compiled_kernels(*_split(layers), inputs, others)


def _split(layers: Sequence[Layer]) -> tuple[tuple[Layer, ...], list[tuple[Any, Any]]]:
    """Layers without their variances, which are hashable, and the variances.

    Layers as trees would be one: JAX 0.10 takes trees of dataclasses of different types for equal,
    and runs the program of the one for the other.
    """
    forms = tuple(
        replace(layer, weight_variance=None, bias_variance=None)
        if isinstance(layer, _LINEAR)
        else layer
        for layer in layers
    )
    linear = [layer for layer in layers if isinstance(layer, _LINEAR)]
    return forms, [(layer.weight_variance, layer.bias_variance) for layer in linear]


def _joined(forms: Sequence[Layer], variances: Sequence[tuple[Any, Any]]) -> list[Layer]:
    rest = iter(variances)
    return [
        replace(form, **dict(zip(("weight_variance", "bias_variance"), next(rest), strict=True)))
        if isinstance(form, _LINEAR)
        else form
        for form in forms
    ]


@partial(jax.jit, static_argnums=0)
def _compiled_kernels(
    forms: tuple[Layer, ...], variances: list[tuple[Any, Any]], inputs: Array, others: Array | None
) -> Kernels:
    layers = _joined(forms, variances)
    joint = any(isinstance(layer, GlobalAveragePooling) for layer in layers)
    steps = _steps(layers, inputs.ndim - 2, joint)
    left = _signals(steps, inputs)
    right = left if others is None else _signals(steps, others)
    # Gradients recompute a block instead of keeping all.
    entry = jax.checkpoint(partial(_entry, steps, joint))
    rows, columns = _block(inputs, inputs if others is None else others, joint)
    return _map(lambda x: _map(lambda y: entry(x, y), right, columns), left, rows)


def _entry(steps: list[Any], joint: bool, left: _Signal, right: _Signal) -> Kernels:
    """The kernels of one pair of inputs, two numbers."""
    sides = [_sides(x, y, joint) for x, y in zip(left.lengths, right.lengths, strict=True)]
    pair = _first(left.directions, right.directions, sides[0], joint)
    for step, before, after in zip(steps, sides, sides[1:], strict=False):
        pair = step.pair(pair, before, after)
    return Kernels(pair.covariance, pair.tangent)


def _first(left: Array, right: Array, lengths: _Sides, joint: bool) -> _Pair:
    """The inputs, as a pair; channels are the last axis."""
    if joint:
        ones = (1,) * (left.ndim - 1)
        left = left.reshape(*left.shape[:-1], *ones, left.shape[-1])
        right = right.reshape(*ones, *right.shape)
    apart = lengths.product * jnp.mean(jnp.square(left - right), axis=-1) / 2
    together = lengths.product * jnp.mean(jnp.square(left + right), axis=-1) / 2
    return _Pair((together - apart) / 2, apart, together, jnp.zeros_like(apart))


def _signals(steps: list[Any], inputs: Float[Array, "n *shape"]) -> _Signal:
    """The inputs with their lengths at every layer, alike whether they are rows or columns."""
    channels = inputs.shape[-1]
    norms = _root(jnp.sum(jnp.square(inputs), axis=-1))
    # Dividing a unit input by its rounded length would cost the relative accuracy of small angles.
    unit = jnp.abs(norms - 1) <= channels * jnp.finfo(inputs.dtype).eps
    lengths = [jnp.where(unit, 1, norms) / math.sqrt(channels)]
    for step in steps:
        lengths.append(jax.vmap(step.lengths)(lengths[-1]))
    return _Signal(inputs / _nonzero(lengths[0])[..., None], lengths)


@dataclass(frozen=True)
class _Slide:
    """The mean over a filter along one axis of positions: parts of a convolution's sum."""

    size: int
    periodic: bool
    left_axis: int
    right_axis: int

    def lengths(self, lengths: Array) -> Array:
        parts = [jnp.square(part) for part in self._parts(lengths, {self.left_axis})]
        return _root(sum(parts[1:], parts[0]) / self.size)

    def pair(self, pair: _Pair, before: _Sides, after: _Sides) -> _Pair:
        left = self._parts(before.left, {self.left_axis})
        right = self._parts(before.right, {self.right_axis})
        turns = [_turn(_Sides(*part), after) for part in zip(left, right, strict=True)]
        excess = after.product * sum(turns[1:], turns[0]) / (2 * self.size)
        axes = {self.left_axis, self.right_axis}

        def mean(array: Array) -> Array:
            parts = self._parts(array, axes)
            return sum(parts[1:], parts[0]) / self.size

        return _widened(_Pair(*map(mean, pair)), excess)

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


def _steps(layers: Sequence[Layer], positions: int, joint: bool) -> list[Any]:
    """Layers, with each convolution as means along its axes and a dense layer."""
    steps = []
    for layer in layers:
        if isinstance(layer, Convolution):
            periodic, apart = layer.padding == "periodic", positions if joint else 0
            for axis, size in enumerate(layer.filter):
                steps.append(_Slide(size, periodic, axis, axis + apart))
            layer = Dense(layer.weight_variance, layer.bias_variance)
        steps.append(layer)
    return steps


def _sides(left: Array, right: Array, joint: bool) -> _Sides:
    if not joint:
        return _Sides(left, right)
    ones = (1,) * left.ndim
    return _Sides(left.reshape(left.shape + ones), right.reshape(ones + right.shape))


def _turn(part: _Sides, whole: _Sides) -> Array:
    """The square of how much the share of a part differs between the sides."""
    return jnp.square(part.left / _nonzero(whole.left) - part.right / _nonzero(whole.right))


def _widened(pair: _Pair, excess: Array) -> _Pair:
    return pair._replace(apart=pair.apart + excess, together=pair.together + excess)


def _angles(pair: _Pair) -> tuple[Array, Array]:
    """theta and pi - theta, each to full relative accuracy; pi and 0 where a side is zero."""
    apart, together = _root(pair.apart), _root(pair.together)
    apart = jnp.where((apart == 0) & (together == 0), 1, apart)
    return 2 * jnp.arctan2(apart, together), 2 * jnp.arctan2(together, apart)


def _erf_apart(pair: _Pair, before: _Sides, after: _Sides) -> Array:
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


def _base(lengths: _Sides) -> Array:
    return 1 + 2 * jnp.square(lengths.left) + 2 * jnp.square(lengths.right)


def _root(squares: Array) -> Array:
    """The square root, with derivative zero at zero; roundings below zero count as zero."""
    positive = squares > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, squares, 1)), 0)


def _nonzero(lengths: Array) -> Array:
    return jnp.where(lengths == 0, 1, lengths)


def _map(function: Callable[[Any], Any], rows: Any, size: int) -> Any:
    """The function of every row, `size` rows at once."""
    if size >= jax.tree.leaves(rows)[0].shape[0]:
        return jax.vmap(function)(rows)
    return jax.lax.map(function, rows, batch_size=size)


def _block(inputs: Array, others: Array, joint: bool) -> tuple[int, int]:
    """How many rows and columns to compute at once."""
    cells = math.prod(inputs.shape[1:-1]) ** (2 if joint else 1)
    pair = cells * (inputs.shape[-1] + _COPIES) * inputs.dtype.itemsize
    columns = max(1, min(others.shape[0], BLOCK_BYTES // pair))
    return max(1, BLOCK_BYTES // (pair * columns)), columns


def _check_inputs(inputs: Array, others: Array | None) -> None:
    for found in (inputs,) if others is None else (inputs, others):
        if found.ndim < 2 or 0 in found.shape[1:]:
            raise ValueError(
                f"inputs of shape {found.shape}: pass (n, channels), or (n, *positions, channels) "
                "for convolutions"
            )
        if not jnp.issubdtype(found.dtype, jnp.floating):
            raise ValueError(f"inputs of type {found.dtype}: pass floating-point numbers")
    if others is not None and (inputs.shape[1:], inputs.dtype) != (others.shape[1:], others.dtype):
        raise ValueError(
            f"inputs of {inputs.dtype}{inputs.shape} and others of {others.dtype}{others.shape}: "
            "pass the same type and shape but for the first axis"
        )


def _check_layers(layers: list[Any], positions: int) -> None:
    """One error for the first layer that does not fit; `positions` is their number of axes."""
    pooled, previous = False, None
    for number, layer in enumerate(layers, 1):
        place = f"layer {number}, {type(layer).__name__}: "
        if not isinstance(layer, Layer):
            raise ValueError(f"{place}no layer; choose from {Layer}")
        if isinstance(layer, _LINEAR):
            when_known(partial(_check_variances, place), layer.weight_variance, layer.bias_variance)
        if isinstance(layer, _ACTIVATIONS):
            if pooled or not isinstance(previous, _LINEAR):
                raise ValueError(f"{place}{_misplaced(previous, pooled)}")
        elif not isinstance(layer, Dense) and positions == 0:
            raise ValueError(
                f"{place}there are no positions; pass inputs (n, *positions, channels) and put it "
                "before Flatten or GlobalAveragePooling"
            )
        if isinstance(layer, Convolution):
            _check_convolution(place, layer, positions)
        if isinstance(layer, Flatten | GlobalAveragePooling):
            positions, pooled = 0, isinstance(layer, GlobalAveragePooling)
        previous = layer
    if not isinstance(previous, Dense):
        raise ValueError(
            f"the last layer is {type(previous).__name__ if layers else 'missing'}: end with the "
            "readout, Dense()"
        )
    if positions:
        raise ValueError(
            f"{positions} axes of positions reach the readout: put Flatten() or "
            "GlobalAveragePooling() before it"
        )


def _misplaced(previous: Any, pooled: bool) -> str:
    if pooled:
        return "an activation after GlobalAveragePooling is not supported; put it before"
    after = "the inputs" if previous is None else type(previous).__name__
    return f"an activation directly after {after} is not supported; put Dense between them"


def _check_variances(place: str, weight: Any, bias: Any) -> None:
    for name, value in (("weight_variance", weight), ("bias_variance", bias)):
        if jnp.ndim(value) or not (jnp.isfinite(value) and value >= 0):
            raise ValueError(f"{place}{name} = {value}; pass one finite number, 0 or more")


def _check_convolution(place: str, layer: Convolution, positions: int) -> None:
    sizes = layer.filter
    whole = isinstance(sizes, tuple) and all(isinstance(s, int) and s > 0 for s in sizes)
    if not whole or len(sizes) != positions:
        raise ValueError(
            f"{place}filter = {sizes}; pass a tuple of sizes, 1 or more, one for each of the "
            f"{positions} axes of positions"
        )
    if layer.padding not in ("zeros", "periodic"):
        raise ValueError(f"{place}padding = {layer.padding!r}; choose 'zeros' or 'periodic'")
