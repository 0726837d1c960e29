"""Models in plain JAX, with one output, whose tangent kernels are timed; and the plain Jacobian.

- convolutions: three of filters 3 x 3 on images of 8 x 8, channels 32;
- transformer: a vocabulary of 1,000, two scanned blocks of four heads with layer norms;
- adapter: W + A B of rank 4 in two dense layers over 16 positions, tuned with W frozen.

Imports nothing of this package, so that a peer that needs an older JAX can run them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

PRECISION = jax.lax.Precision.HIGHEST
VOCABULARY, HEADS, BLOCKS = 1000, 4, 2
PIXELS, CHANNELS, RANK, POSITIONS = 8, 32, 4, 16


def cases(quick: bool = False) -> list[tuple[str, Callable, Any, Array]]:
    """The name, the model, its parameters and inputs, in float32."""
    width = 32 if quick else 256
    found = [
        ("convolutions", *convolutions(4 if quick else CHANNELS), numbers(PIXELS, PIXELS), 128),
        *(
            (f"transformer of {s} tokens", *transformer(width, s), tokens(s), 256)
            for s in (8, 16, 32, 64)
        ),
        ("adapter", *adapter(width), numbers(POSITIONS, width), 256),
    ]
    return [
        (name, model, params, draw(4 if quick else count))
        for name, model, params, draw, count in found
    ]


def from_jacobian(model: Callable, params: Any, inputs: Array) -> Array:
    """J J^T with all of J in memory."""

    def row(x: Array) -> Array:
        return ravel_pytree(jax.jacrev(lambda p: model(p, x))(params))[0]

    rows = jax.vmap(row)(inputs)
    return jnp.matmul(rows, rows.T, precision=PRECISION)


def convolutions(width: int) -> tuple[Callable, Any]:
    """Rectified convolutions and the mean over the image."""

    def model(params: Any, x: Array) -> Array:
        image = x.reshape(1, PIXELS, PIXELS, 1)
        for filters in params["filters"]:
            image = jax.nn.relu(
                jax.lax.conv_general_dilated(
                    image, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
                )
            )
        return image.mean(axis=(0, 1, 2)) @ params["head"]

    channels = (1, width, width, width)
    filters = [_normal(3, 3, a, b) for a, b in pairwise(channels)]
    return model, {"filters": filters, "head": _normal(width)}


def transformer(width: int, positions: int) -> tuple[Callable, Any]:
    """Pre-norm blocks of attention and two dense layers, over embedded tokens."""
    stacked = {
        "heads": _normal(BLOCKS, 3, width, width),
        "out": _normal(BLOCKS, width, width),
        "up": _normal(BLOCKS, width, 4 * width),
        "down": _normal(BLOCKS, 4 * width, width),
        "scales": jnp.ones((BLOCKS, 2, width)),
    }

    def block(x: Array, params: Any) -> tuple[Array, None]:
        here = _normalised(x) * params["scales"][0]
        query, keys, values = (_split(here @ weight) for weight in _each(params["heads"]))
        scores = jnp.einsum("hsc,htc->hst", query, keys) / (width / HEADS) ** 0.5
        mixed = jnp.einsum("hst,htc->shc", jax.nn.softmax(scores), values)
        x = x + mixed.reshape(x.shape) @ params["out"]
        hidden = jax.nn.gelu((_normalised(x) * params["scales"][1]) @ params["up"])
        return x + hidden @ params["down"], None

    def model(params: Any, x: Array) -> Array:
        embedded = params["tokens"][x] + params["positions"]
        last = jax.lax.scan(block, embedded, params["blocks"])[0]
        return last.mean(axis=0) @ params["head"]

    return model, {
        "tokens": _normal(VOCABULARY, width),
        "positions": _normal(positions, width),
        "blocks": stacked,
        "head": _normal(width),
    }


def adapter(width: int) -> tuple[Callable, Any]:
    """x (W + A B) twice, over positions; the tuned parameters are the A and B."""
    frozen = [_normal(width, width) for _ in range(2)]

    def model(params: Any, x: Array) -> Array:
        for weight, (down, up) in zip(frozen, params):
            x = jnp.tanh(x @ (weight.astype(x.dtype) + down @ up))
        return x.mean()

    return model, [(_normal(width, RANK), _normal(RANK, width)) for _ in frozen]


def tokens(positions: int) -> Callable[[int], Array]:
    """Token numbers, drawn evenly."""
    return lambda n: jax.random.randint(jax.random.key(1), (n, positions), 0, VOCABULARY)


def numbers(*shape: int) -> Callable[[int], Array]:
    """Gaussian inputs of a shape."""
    return lambda count: jax.random.normal(jax.random.key(1), (count, *shape), "float32")


def _normal(*shape: int) -> Array:
    """Of standard deviation one over the root of the inputs."""
    seed, inputs = sum(shape) + len(shape), shape[max(len(shape) - 2, 0)]
    return jax.random.normal(jax.random.key(seed), shape, "float32") / inputs**0.5


def _normalised(x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / jnp.sqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + 1e-5)


def _split(x: Array) -> Array:
    """Positions by width as heads by positions by their part of it."""
    return jnp.swapaxes(x.reshape(x.shape[0], HEADS, -1), 0, 1)


def _each(stacked: Array) -> list[Array]:
    return [stacked[number] for number in range(stacked.shape[0])]
