"""Infinite-width kernels, NNGP and NTK, of networks given as a list of layers.

    kernels = infinite_kernels([Dense(2.0, 0.1), Relu(), Dense(1.0)], inputs)
    kernels.nngp, kernels.tangent  # (n, n) each

The network has the NTK parameterisation: a layer of fan-in f is y = sigma_w/sqrt(f) W x + sigma_b b
with all entries of W and b standard Gaussian, f the channels that it reads times the size of its
filter. As all hidden widths grow, the outputs become independent Gaussian processes with covariance
`nngp`, E[f(x) f(x')] of one output, and the tangent kernel J(x) J(x')^T of one output, neither
halved nor averaged, becomes `tangent`; between different outputs both vanish.

Source: Jacot, Gabriel, Hongler, NeurIPS 2018 (NTK); Lee et al., ICLR 2018 (NNGP); Novak et al.,
ICLR 2019, and Arora et al., NeurIPS 2019 (convolutions); Cho, Saul, NeurIPS 2009 (ReLU); Williams,
NeurIPS 1996 (erf).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Num

from theorysim.numerics.infinite_checks import check_inputs, check_layers
from theorysim.numerics.infinite_layers import (
    LINEAR,
    Convolution,
    Dense,
    Erf,
    Flatten,
    GlobalAveragePooling,
    Layer,
    Pair,
    Relu,
    Sides,
    Slide,
    nonzero,
    root,
)

__all__ = [
    "Convolution",
    "Dense",
    "Erf",
    "Flatten",
    "GlobalAveragePooling",
    "Kernels",
    "Relu",
    "infinite_kernels",
]

BLOCK_BYTES = 2**28
"""Pairs of inputs are computed in blocks that take about this much memory, beside the results."""

_COPIES = 12  # of an array over pairs, that a block holds at once


class Kernels(NamedTuple):
    """The kernels of one output; rows are the inputs, columns the others."""

    nngp: Float[Array, "n m"]
    tangent: Float[Array, "n m"]


class _Signal(NamedTuple):
    """An input: its values over their length at every position, and the lengths by layer."""

    directions: Array
    lengths: list[Array]


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
    check_inputs(inputs, others)
    check_layers(list(layers), inputs.ndim - 2)
    return _compiled_kernels(*_split(layers), inputs, others)


def _split(layers: Sequence[Layer]) -> tuple[tuple[Layer, ...], list[tuple[Any, Any]]]:
    """Layers without their variances, which are hashable, and the variances.

    Layers as trees would be one: JAX 0.10 takes trees of dataclasses of different types for equal,
    and runs the program of the one for the other.
    """
    forms = tuple(
        replace(layer, weight_variance=None, bias_variance=None)
        if isinstance(layer, LINEAR)
        else layer
        for layer in layers
    )
    linear = [layer for layer in layers if isinstance(layer, LINEAR)]
    return forms, [(layer.weight_variance, layer.bias_variance) for layer in linear]


def _joined(forms: Sequence[Layer], variances: Sequence[tuple[Any, Any]]) -> list[Layer]:
    rest = iter(variances)
    return [
        replace(form, **dict(zip(("weight_variance", "bias_variance"), next(rest), strict=True)))
        if isinstance(form, LINEAR)
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


def _first(left: Array, right: Array, lengths: Sides, joint: bool) -> Pair:
    """The inputs, as a pair; channels are the last axis."""
    if joint:
        ones = (1,) * (left.ndim - 1)
        left = left.reshape(*left.shape[:-1], *ones, left.shape[-1])
        right = right.reshape(*ones, *right.shape)
    apart = lengths.product * jnp.mean(jnp.square(left - right), axis=-1) / 2
    together = lengths.product * jnp.mean(jnp.square(left + right), axis=-1) / 2
    return Pair((together - apart) / 2, apart, together, jnp.zeros_like(apart))


def _signals(steps: list[Any], inputs: Float[Array, "n *shape"]) -> _Signal:
    """The inputs with their lengths at every layer, alike whether they are rows or columns."""
    channels = inputs.shape[-1]
    norms = root(jnp.sum(jnp.square(inputs), axis=-1))
    # Dividing a unit input by its rounded length would cost the relative accuracy of small angles.
    unit = jnp.abs(norms - 1) <= channels * jnp.finfo(inputs.dtype).eps
    lengths = [jnp.where(unit, 1, norms) / math.sqrt(channels)]
    for step in steps:
        lengths.append(jax.vmap(step.lengths)(lengths[-1]))
    return _Signal(inputs / nonzero(lengths[0])[..., None], lengths)


def _steps(layers: Sequence[Layer], positions: int, joint: bool) -> list[Any]:
    """Layers, with each convolution as means along its axes and a dense layer."""
    steps = []
    for layer in layers:
        if isinstance(layer, Convolution):
            periodic, apart = layer.padding == "periodic", positions if joint else 0
            for axis, size in enumerate(layer.filter):
                steps.append(Slide(size, periodic, axis, axis + apart))
            layer = Dense(layer.weight_variance, layer.bias_variance)
        steps.append(layer)
    return steps


def _sides(left: Array, right: Array, joint: bool) -> Sides:
    if not joint:
        return Sides(left, right)
    ones = (1,) * left.ndim
    return Sides(left.reshape(left.shape + ones), right.reshape(ones + right.shape))


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
