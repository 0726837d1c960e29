"""Two-layer linear networks: exact solutions against ODE solvers, descent and SciPy.

Modes: every instance has `width` features of its own; U = V, so that its modes separate.

- closed form: `linear_modes.growth`, all instances in one compiled call;
- ODE: dw/dt = 2 w (sigma - w^2) with diffrax (Dopri8), vmapped over a batch;
- descent: gradient descent of the loss, automatically differentiated, vmapped over a batch;
- SciPy: a loop of solve_ivp (DOP853) over instances.

Matrices: one identity start with independent singular vectors, all times in one call.

- exact: `balanced_flow.balanced_flow`;
- ODE: gradient flow of the loss with diffrax;
- SciPy: the printed matrix ODE with solve_ivp (DOP853).

All solvers run at the tolerance rtol = 1e-8. Compilation is timed apart; every time is the best of
several, to the last result, in one process. Errors are relative to the exact solution.

Run: python -m benchmarks.two_layer_linear [--width 64] [--instances 100000] [--json FILE]
"""

# ruff: noqa: E402 -- the environment is prepared before JAX is imported

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from theorysim.environment import prepare

prepare()  # before anything imports JAX

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array
from scipy.integrate import solve_ivp

from theorysim.numerics.descent import descend_to
from theorysim.numerics.flow import gradient_flow, integrate
from theorysim.systems.balanced_flow import Decomposition, balanced_flow
from theorysim.systems.linear_modes import growth
from theorysim.systems.two_layer_linear import Factors, pretraining_loss, product

TOLERANCES: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}
TAU = 5.0
FEATURES = (0.5, 3.0)
MODE_TIMES = np.array([0.0, 1.0, 3.0, 20.0])
MATRIX_TIMES = np.linspace(0.0, 20.0, 100)
STEPS = 4000  # of descent up to the last of MODE_TIMES


class Row(NamedTuple):
    """A contender's numbers."""

    name: str
    instances: int
    seconds: float
    compile_seconds: float
    error: float


def compiled(function: Callable, *arguments: Any) -> tuple[Callable, float]:
    """The compiled function and the seconds its compilation took."""
    begin = time.perf_counter()
    program = jax.jit(function).lower(*arguments).compile()
    return program, time.perf_counter() - begin


def seconds(function: Callable, *arguments: Any, repeats: int) -> float:
    """Best time of a run to its last result, after one that is not counted."""
    taken = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        taken.append(time.perf_counter() - begin)
    return min(taken[1:])


def relative(path: Any, exact: Any) -> float:
    """Largest distance in units of the largest feature."""
    return float(np.max(np.abs(np.asarray(path) - np.asarray(exact)))) / FEATURES[1]


def time_modes(width: int, instances: int, batch: int, loop: int) -> list[Row]:
    """All contenders on separate modes; arrays are (instances, times, modes)."""
    low, high = FEATURES
    features = jax.random.uniform(jax.random.key(0), (instances, width), minval=low, maxval=high)
    times, start = jnp.asarray(MODE_TIMES), jnp.full(width, jnp.exp(-TAU))

    def closed(features: Array) -> Array:
        return growth(times[None, :, None], features[:, None, :], jnp.full((1, 1, 1), TAU))

    def field(weights: Array, features: Array) -> Array:
        return 2 * weights * (features - weights**2)

    def flow(features: Array) -> Array:
        return integrate(field, start, times, features, **TOLERANCES) ** 2

    def descent(features: Array) -> Array:
        def loss(weights: tuple[Array, Array]) -> Array:
            return jnp.sum((weights[0] * weights[1] - features) ** 2)

        optimiser = optax.sgd(float(MODE_TIMES[-1]) / STEPS)
        first, second = descend_to(loss, (start, start), optimiser, STEPS)
        return first * second

    def scipy_loop(features: np.ndarray) -> np.ndarray:
        options: dict[str, Any] = {"method": "DOP853", "t_eval": MODE_TIMES, **TOLERANCES}
        begin, span = np.asarray(start), (0.0, MODE_TIMES[-1])
        return np.stack(
            [
                solve_ivp(lambda _, w, s=s: 2 * w * (s - w**2), span, begin, **options).y.T ** 2
                for s in features
            ]
        )

    program, compilation = compiled(closed, features)
    rows = [Row("closed form", instances, seconds(program, features, repeats=3), compilation, 0.0)]
    exact = np.asarray(closed(features[:batch]))
    for name, function, reference in (
        ("diffrax, vmapped", flow, exact),
        (f"descent, {STEPS} steps, vmapped", descent, exact[:, -1]),
    ):
        program, compilation = compiled(jax.vmap(function), features[:batch])
        error = relative(program(features[:batch]), reference)
        taken = seconds(program, features[:batch], repeats=2)
        rows.append(Row(name, batch, taken, compilation, error))
    few = np.asarray(features[:loop])
    error = relative(scipy_loop(few), exact[:loop])
    rows.append(Row("SciPy loop", loop, seconds(scipy_loop, few, repeats=1), 0.0, error))
    return rows


def time_matrices(width: int) -> list[Row]:
    """All contenders on one flow of full matrices."""
    left, right = jax.random.orthogonal(jax.random.key(1), width, (2,))
    values = jnp.geomspace(FEATURES[1], FEATURES[0], width)
    known = Decomposition(left, values, right)
    target = (left * values[None, :]) @ right.T
    start = Factors(*2 * (jnp.exp(-TAU) * jnp.eye(width),))
    times = jnp.asarray(MATRIX_TIMES)

    def exact(known: Decomposition) -> Array:
        return balanced_flow(*start, known, times).product

    def flow(target: Array) -> Array:
        return product(
            gradient_flow(lambda w: pretraining_loss(w, target), start, times, **TOLERANCES)
        )

    def scipy_flow(target: np.ndarray) -> np.ndarray:
        def field(_: float, state: np.ndarray) -> np.ndarray:
            first, second = state.reshape(2, width, width)
            slope = -2 * (first @ second - target)
            return np.concatenate([(slope @ second.T).ravel(), (first.T @ slope).ravel()])

        options: dict[str, Any] = {"method": "DOP853", "t_eval": MATRIX_TIMES, **TOLERANCES}
        begin = np.concatenate([np.asarray(weights).ravel() for weights in start])
        path = solve_ivp(field, (0.0, MATRIX_TIMES[-1]), begin, **options).y
        return np.stack([np.matmul(*state.reshape(2, width, width)) for state in path.T])

    program, compilation = compiled(exact, known)
    reference = program(known)
    rows = [Row("exact", 1, seconds(program, known, repeats=5), compilation, 0.0)]
    program, compilation = compiled(flow, target)
    error = relative(program(target), reference)
    rows.append(Row("diffrax", 1, seconds(program, target, repeats=2), compilation, error))
    goal = np.asarray(target)
    error = relative(scipy_flow(goal), reference)
    rows.append(Row("SciPy", 1, seconds(scipy_flow, goal, repeats=2), 0.0, error))
    return rows


def show(title: str, rows: list[Row]) -> None:
    """A table with one line per contender."""
    print(title)
    for name, instances, taken, compilation, error in rows:
        print(
            f"  {name:29} {instances:7d} instances {taken:9.4f} s {1e6 * taken / instances:12.2f} "
            f"us each, compiled in {compilation:5.2f} s, error {error:.1e}"
        )


def main() -> None:
    """Measure, print and, where asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (
        ("width", 64),
        ("instances", 100_000),
        ("batch", 1000),
        ("loop", 50),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--widths", type=int, nargs="+", default=[5, 16, 64])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    record: dict[str, Any] = {"jax": jax.__version__, "device": str(jax.devices()[0]), "tau": TAU}
    with jax.enable_x64(True):
        rows = time_modes(options.width, options.instances, options.batch, options.loop)
        show(f"modes, width {options.width}, {MODE_TIMES.size} times", rows)
        record[f"modes, width {options.width}"] = [row._asdict() for row in rows]
        for width in options.widths:
            rows = time_matrices(width)
            show(f"matrices, width {width}, {MATRIX_TIMES.size} times", rows)
            record[f"matrices, width {width}"] = [row._asdict() for row in rows]
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
