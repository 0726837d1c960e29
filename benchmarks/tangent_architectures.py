"""Empirical tangent kernels of convolutions, transformers and adapters: this package, the Jacobian.

Models are written in plain JAX, with one output:

- convolutions: three of filters 3 x 3 on images of 8 x 8, channels 32;
- transformer: a vocabulary of 1,000, two scanned blocks of four heads with layer norms;
- adapter: W + A B of rank 4 in two dense layers over 16 positions, tuned with W frozen.

The longer the sequences are beside the width, the less is gained: for the weight of a dense layer
the work of a pair of inputs grows with positions^2 times width, that of the Jacobian with width^2.

The Jacobian is vmap(jacrev) of all parameters, then J J^T. Errors are relative to the largest entry
of the kernel from the Jacobian in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from benchmarks.race import Row, called, race, with_error
from theorysim import empirical_ntk

PRECISION = jax.lax.Precision.HIGHEST
VOCABULARY, HEADS, BLOCKS = 1000, 4, 2
PIXELS, CHANNELS, RANK, POSITIONS = 8, 32, 4, 16


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


def rows(quick: bool) -> Iterator[Row]:
    """Ours against the Jacobian, in float32."""
    wide = 16 if quick else 128
    cases = [
        ("convolutions", *convolutions(4 if quick else CHANNELS), numbers(PIXELS, PIXELS), 128),
        *(
            (f"transformer of {s} tokens", *transformer(2 * wide, s), tokens(s), 256)
            for s in (8, 16, 32)
        ),
        ("adapter", *adapter(2 * wide), numbers(POSITIONS, 2 * wide), 256),
    ]
    for name, model, params, draw, inputs in cases:
        x = draw(4 if quick else inputs)
        with jax.enable_x64(True):
            truth = jax.jit(partial(from_jacobian, model))(*map(_doubled, (params, x)))
        contenders = [
            with_error(called(called_name, partial(kernel, params, x)), truth)
            for called_name, kernel in (
                (f"empirical_ntk, {name}", partial(empirical_ntk, model)),
                ("Jacobian", jax.jit(partial(from_jacobian, model))),
            )
        ]
        parameters = sum(leaf.size for leaf in jax.tree.leaves(params))
        size = {"parameters": parameters, "inputs": len(x)}
        yield from race(*contenders, size=size, unit="kernel", dtype="float32")


def _normal(*shape: int) -> Array:
    """Of standard deviation one over the root of the inputs."""
    seed, inputs = sum(shape) + len(shape), shape[max(len(shape) - 2, 0)]
    return jax.random.normal(jax.random.key(seed), shape, "float32") / inputs**0.5


def _doubled(tree: Any) -> Any:
    """In float64; integers stay."""

    def doubled(leaf: Array) -> Array:
        return leaf.astype("float64") if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf

    return jax.tree.map(doubled, tree)


def _normalised(x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / jnp.sqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + 1e-5)


def _split(x: Array) -> Array:
    """Positions by width as heads by positions by their part of it."""
    return jnp.swapaxes(x.reshape(x.shape[0], HEADS, -1), 0, 1)


def _each(stacked: Array) -> list[Array]:
    return [stacked[number] for number in range(stacked.shape[0])]
