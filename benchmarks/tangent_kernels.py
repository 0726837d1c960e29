"""Empirical tangent kernels of a dense network: this package, a hand-written one, the Jacobian.

A tanh network with biases, 64 inputs, two hidden layers and one output, on `inputs` inputs.

- theorysim: `empirical_ntk`, which finds the dense layers by itself;
- by hand: the sum over layers of activation Gram times backpropagated Gram;
- Jacobian: vmap(jacrev) of all parameters, then J J^T.

Compilation is timed apart; every time is the best of several, to the last result, in one process.
Errors are relative to the largest entry of the kernel from the Jacobian in float64.

Run: python -m benchmarks.tangent_kernels [--width 512] [--inputs 256] [--json FILE]
"""

# ruff: noqa: E402 -- the environment is prepared before JAX is imported

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from theorysim.environment import prepare

prepare()  # before anything imports JAX

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from theorysim import empirical_ntk

DIMENSION = 64
REPEATS = 10
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


def timed(run: Callable[[], Array], repeats: int) -> tuple[float, float]:
    """Seconds of the first call, and of the best later one."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        run().block_until_ready()
        seconds.append(time.perf_counter() - start)
    return seconds[0], min(seconds[1:])


def measure(width: int, inputs: int) -> list[dict[str, Any]]:
    """All contenders in both precisions."""
    rows = []
    with jax.enable_x64(True):
        for dtype in (jnp.float32, jnp.float64):
            params, x = parameters(width, dtype), points(inputs, dtype)
            contenders: dict[str, tuple[Callable, int]] = {
                "theorysim": (lambda p=params, x=x: empirical_ntk(network, p, x), REPEATS),
                "by hand": (lambda p=params, x=x: by_hand(p, x), REPEATS),
                "Jacobian": (lambda p=params, x=x: from_jacobian(p, x), 2),
            }
            # The draws of float32 are other numbers: its truth is of its own parameters.
            wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), (params, x))
            truth = from_jacobian(*wide)
            for name, (run, repeats) in contenders.items():
                first, best = timed(run, repeats)
                error = float(jnp.max(jnp.abs(run() - truth)) / jnp.max(jnp.abs(truth)))
                rows.append(
                    {
                        "name": name,
                        "dtype": jnp.dtype(dtype).name,
                        "compile_s": first - best,
                        "run_s": best,
                        "error": error,
                    }
                )
    return rows


def points(count: int, dtype: Any) -> Array:
    """Gaussian inputs."""
    return jax.random.normal(jax.random.key(1), (count, DIMENSION), dtype)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--inputs", type=int, default=256)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = measure(options.width, options.inputs)
    for row in found:
        print(
            f"{row['name']:10} {row['dtype']}: {1e3 * row['run_s']:9.2f} ms, "
            f"error {row['error']:.1e}, compiled in {row['compile_s']:.1f} s"
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
