"""Gradient flow of a deep linear network: the reduced ODE against all its matrices and SciPy.

Every contender follows the same flow from the same 0-balanced weights at the same tolerances:

- reduced: `deep_linear.end_to_end_flow`, n numbers (and vmapped over a batch of instances);
- matrices: `deep_linear_network.flow_path`, all L matrices, differentiated automatically;
- SciPy: the printed d-dimensional ODE in a loop of DOP853 over the instances.

Compilation is timed apart; every time is the best of several, in one process. The error is the
largest distance, over instances and times, to SciPy at much finer tolerances.

Run: python -m benchmarks.deep_linear [--depth 8] [--dimension 100] [--samples 50] [--json FILE]
"""

# ruff: noqa: E402 -- the environment is prepared before JAX is imported

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

from theorysim.environment import prepare

prepare()  # before anything imports JAX

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.systems import deep_linear, deep_linear_network
from validation.oracles import deep_linear as scipy_flow

TOLERANCES = {"rtol": 1e-8, "atol": 1e-10}
REFERENCE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}


def compiled(function: Callable, *arguments: Array) -> tuple[Callable, float]:
    """The compiled function and the seconds its compilation took."""
    begin = time.perf_counter()
    program = jax.jit(function).lower(*arguments).compile()
    return program, time.perf_counter() - begin


def seconds(function: Callable, *arguments: Array, repeats: int) -> float:
    """Best time of a run to its last result, after one that is not counted."""
    taken = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        taken.append(time.perf_counter() - begin)
    return min(taken[1:])


def problems(batch: int, samples: int, dimension: int) -> tuple[Array, Array, Array]:
    """Gaussian rows, and teachers of norm about one."""
    keys = jax.random.split(jax.random.key(0), 3)
    shapes = ((batch, samples, dimension), (batch, dimension), (batch, dimension))
    data, source, target = (jax.random.normal(k, s) for k, s in zip(keys, shapes))
    return data, source / dimension**0.5, target / dimension**0.5


def measure(depth: int, samples: int, dimension: int, batch: int) -> list[dict]:
    """One row per contender: instances, seconds per instance, compilation, error."""
    data, source, target = problems(batch, samples, dimension)
    times = jnp.linspace(0.0, 5.0, 6)

    def reduced(data: Array, source: Array, target: Array) -> Array:
        return deep_linear.end_to_end_flow(data, source, target, depth, times, **TOLERANCES)

    def matrices(data: Array, source: Array, target: Array) -> Array:
        hidden = (dimension,) * (depth - 1)
        layers = deep_linear_network.balanced_layers(jax.random.key(1), source, hidden)
        labels = data @ target
        run = deep_linear_network.flow_path(layers, data, labels, times, **TOLERANCES)
        return run.weights

    def looped(data: Array, source: Array, target: Array, **options: object) -> np.ndarray:
        options = {"method": "DOP853", **TOLERANCES, **options}
        instances = zip(*(np.asarray(part) for part in (data, source, target)))
        return np.stack(
            [
                scipy_flow.end_to_end_flow(*one, depth, np.asarray(times), options)
                for one in instances
            ]
        )

    first = (data[0], source[0], target[0])
    exact = looped(data, source, target, **REFERENCE)
    rows = []
    for name, function, arguments, repeats in (
        ("reduced, one instance", reduced, first, 20),
        ("matrices, one instance", matrices, first, 2),
        (f"reduced, vmap of {batch}", jax.vmap(reduced), (data, source, target), 5),
    ):
        program, compilation = compiled(function, *arguments)
        rows.append(
            row(name, seconds(program, *arguments, repeats=repeats), program(*arguments), exact)
            | {"compile_seconds": compilation}
        )
    rows.append(
        row(
            f"SciPy loop over {batch}",
            seconds(looped, data, source, target, repeats=2),
            looped(data, source, target),
            exact,
        )
    )
    return rows


def row(name: str, taken: float, path: Array | np.ndarray, exact: np.ndarray) -> dict:
    """A contender's numbers, per instance."""
    instances = len(path) if path.ndim == 3 else 1
    return {
        "name": name,
        "instances": instances,
        "seconds_per_instance": taken / instances,
        "error": float(np.max(np.abs(path - exact[:instances].reshape(path.shape)))),
    }


def main() -> None:
    """Measure, print and, where asked, save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("depth", 8), ("dimension", 100), ("samples", 50), ("batch", 32)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    sizes = {name: getattr(arguments, name) for name in ("depth", "samples", "dimension", "batch")}
    with jax.enable_x64(True):
        rows = measure(**sizes)
    print(" ".join(f"{name}={size}" for name, size in sizes.items()))
    for line in rows:
        compilation = line.get("compile_seconds", 0.0)
        print(
            f"{line['name']:26} {1e3 * line['seconds_per_instance']:10.3f} ms per instance, "
            f"compiled in {compilation:5.2f} s, error {line['error']:.1e}"
        )
    if arguments.json:
        record = {"sizes": sizes, "tolerances": TOLERANCES, "jax": jax.__version__, "rows": rows}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
