"""Empirical tangent kernels of a dense network: this package, a hand-written one, the Jacobian.

A tanh network with biases, 64 inputs, two hidden layers and one output.

- theorysim: `empirical_ntk`, which finds the dense layers by itself;
- by hand: the sum over layers of activation Gram times backpropagated Gram;
- Jacobian: vmap(jacrev) of all parameters, then J J^T.

Errors are relative to the largest entry of the kernel from the Jacobian in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from benchmarks.race import Row, called, race, with_error
from theorysim import empirical_ntk

DIMENSION = 64
PRECISION = jax.lax.Precision.HIGHEST


def network(params: Any, x: Array) -> Array:
    """One output of one input."""
    for weight, bias in params[:-1]:
        x = jnp.tanh(x @ weight + bias)
    return (x @ params[-1][0] + params[-1][1])[0]


def parameters(width: int, dtype: Any) -> list[tuple[Array, Array]]:
    """Weights of standard deviation one over the root of their inputs, small biases."""
    shapes = [(DIMENSION, width), (width, width), (width, 1)]
    keys = jax.random.split(jax.random.key(0), len(shapes))
    return [
        (jax.random.normal(key, shape, dtype) / shape[0] ** 0.5, jnp.full(shape[1], 0.1, dtype))
        for key, shape in zip(keys, shapes, strict=True)
    ]


def points(count: int, dtype: Any) -> Array:
    """Gaussian inputs."""
    return jax.random.normal(jax.random.key(1), (count, DIMENSION), dtype)


def gram(rows: Array) -> Array:
    """Inner products of all rows."""
    return jnp.matmul(rows, rows.T, precision=PRECISION)


@jax.jit
def by_hand(params: Any, inputs: Array) -> Array:
    """What one writes for this network alone; 1 is the share of a bias."""
    activations, slopes = [inputs], []
    for weight, bias in params[:-1]:
        activations.append(jnp.tanh(activations[-1] @ weight + bias))
        slopes.append(1 - activations[-1] ** 2)
    error = jnp.ones((inputs.shape[0], 1), inputs.dtype)
    kernel = gram(activations[-1]) + 1
    for layer in reversed(range(len(slopes))):
        error = (error @ params[layer + 1][0].T) * slopes[layer]
        kernel = kernel + (gram(activations[layer]) + 1) * gram(error)
    return kernel


@jax.jit
def from_jacobian(params: Any, inputs: Array) -> Array:
    """J J^T with all of J in memory."""

    def row(x: Array) -> Array:
        return ravel_pytree(jax.jacrev(lambda p: network(p, x))(params))[0]

    return gram(jax.vmap(row)(inputs))


def rows(quick: bool) -> Iterator[Row]:
    """Ours against both peers in both precisions."""
    width, inputs = (16, 8) if quick else (512, 256)
    with jax.enable_x64(True):
        for dtype in ("float32", "float64"):
            params, x = parameters(width, dtype), points(inputs, dtype)
            # The draws of float32 are other numbers: its truth is of its own parameters.
            wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), (params, x))
            truth = from_jacobian(*wide)
            contenders = [
                with_error(called(name, partial(kernel, params, x)), truth)
                for name, kernel in (
                    ("empirical_ntk", partial(empirical_ntk, network)),
                    ("kernel by hand", by_hand),
                    ("Jacobian", from_jacobian),
                )
            ]
            size = {"width": width, "inputs": inputs}
            yield from race(*contenders, size=size, unit="kernel", dtype=dtype)
