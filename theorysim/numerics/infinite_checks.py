"""Whether inputs and layers of an infinitely wide network go together."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.numerics.checks import when_known
from theorysim.numerics.infinite_layers import (
    ACTIVATIONS,
    LINEAR,
    Convolution,
    Dense,
    Flatten,
    GlobalAveragePooling,
    Layer,
)


def check_inputs(inputs: Array, others: Array | None) -> None:
    """One error for inputs that are no stack of numbers, or are not alike on both sides."""
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


def check_layers(layers: list[Any], positions: int) -> None:
    """One error for the first layer that does not fit; `positions` is their number of axes."""
    pooled, previous = False, None
    for number, layer in enumerate(layers, 1):
        place = f"layer {number}, {type(layer).__name__}: "
        if not isinstance(layer, Layer):
            raise ValueError(f"{place}no layer; choose from {Layer}")
        if isinstance(layer, LINEAR):
            when_known(partial(_check_variances, place), layer.weight_variance, layer.bias_variance)
        if isinstance(layer, ACTIVATIONS):
            if pooled or not isinstance(previous, LINEAR):
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
