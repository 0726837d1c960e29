"""Two-layer linear networks: exact solutions against ODE solvers, descent and SciPy.

Modes: every instance has `width` features of its own; U = V, so that its modes separate.

- closed form: `linear_modes.growth`, all instances in one compiled call;
- diffrax: dw/dt = 2 w (sigma - w^2) with Dopri8, vmapped over a batch;
- descent: gradient descent of the loss, automatically differentiated, vmapped over a batch;
- SciPy: a loop of solve_ivp (DOP853) over instances.

Matrices: one identity start with independent singular vectors, all times in one call.

- exact: `balanced_flow.balanced_flow`;
- diffrax: gradient flow of the loss;
- SciPy: the printed matrix ODE with solve_ivp (DOP853).

All solvers run at the tolerance rtol = 1e-8. Errors are relative to the exact solution's largest
entry.

Why the exact flow gains little at width 64 (milliseconds of the processor, 100 times, one process):
it takes 44 where diffrax takes 118. The start takes 2; the rest is the same work at each time: QR
of 192 x 64 matrices takes 15, triangular solves 7, the five products of 64 x 64 matrices 10, what
is left are exponentials and copies. Each time costs about 5 10^6 operations; a step of the solver
makes some 40 products, at the speed of the machine, and 88 steps are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array
from scipy.integrate import solve_ivp

from benchmarks.race import Contender, Row, compiled, race, with_error
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


def closed(features: Array) -> Array:
    """Modes in closed form, (instances, times, modes)."""
    times = jnp.asarray(MODE_TIMES)
    return growth(times[None, :, None], features[:, None, :], jnp.full((1, 1, 1), TAU))


def mode_flow(features: Array) -> Array:
    """Modes of one instance with diffrax, (times, modes)."""

    def field(weights: Array, features: Array) -> Array:
        return 2 * weights * (features - weights**2)

    start = jnp.full(features.shape, jnp.exp(-TAU))
    return integrate(field, start, jnp.asarray(MODE_TIMES), features, **TOLERANCES) ** 2


def mode_descent(steps: int, features: Array) -> Array:
    """Modes of one instance at the last time, from descent of both weights."""

    def loss(weights: tuple[Array, Array]) -> Array:
        return jnp.sum((weights[0] * weights[1] - features) ** 2)

    start = jnp.full(features.shape, jnp.exp(-TAU))
    optimiser = optax.sgd(float(MODE_TIMES[-1]) / steps)
    first, second = descend_to(loss, (start, start), optimiser, steps)
    return first * second


def mode_loop(features: np.ndarray) -> np.ndarray:
    """Modes of instance after instance with SciPy, (instances, times, modes)."""
    options: dict[str, Any] = {"method": "DOP853", "t_eval": MODE_TIMES, **TOLERANCES}
    begin, span = np.full(features.shape[1], np.exp(-TAU)), (0.0, MODE_TIMES[-1])
    return np.stack(
        [
            solve_ivp(lambda _, w, s=s: 2 * w * (s - w**2), span, begin, **options).y.T ** 2
            for s in features
        ]
    )


def modes(width: int, instances: int, batch: int, few: int, steps: int) -> Iterator[Row]:
    """The closed form against all peers, which do fewer of the instances."""
    low, high = FEATURES
    features = jax.random.uniform(jax.random.key(0), (instances, width), minval=low, maxval=high)
    exact = np.asarray(closed(features[:batch]))
    flow = compiled("diffrax, vmapped", jax.vmap(mode_flow), features[:batch], work=batch)
    run = jax.vmap(partial(mode_descent, steps))
    descent = compiled(f"descent, {steps} steps, vmapped", run, features[:batch], work=batch)
    looped = Contender("SciPy loop", partial(mode_loop, np.asarray(features[:few])), few)
    yield from race(
        compiled("closed form of modes", closed, features, work=instances),
        with_error(flow, exact),
        with_error(descent, exact[:, -1]),
        with_error(looped, exact[:few]),
        size={"width": width, "instances": instances, "times": MODE_TIMES.size},
        unit="instance",
        dtype="float64",
    )


def matrix_problem(width: int) -> tuple[Decomposition, Array, Factors]:
    """A target with independent singular vectors, decomposed and whole, and the start."""
    left, right = jax.random.orthogonal(jax.random.key(1), width, (2,))
    values = jnp.geomspace(FEATURES[1], FEATURES[0], width)
    start = Factors(*2 * (jnp.exp(-TAU) * jnp.eye(width),))
    return Decomposition(left, values, right), (left * values[None, :]) @ right.T, start


def exact_flow(width: int) -> Contender:
    """Products at all times, exactly."""
    known, _, start = matrix_problem(width)
    times = jnp.asarray(MATRIX_TIMES)
    return compiled(
        "exact flow of matrices", lambda known: balanced_flow(*start, known, times).product, known
    )


def diffrax_flow(width: int) -> Contender:
    """Products at all times, by integrating the gradient."""
    _, target, start = matrix_problem(width)
    times = jnp.asarray(MATRIX_TIMES)

    def flow(target: Array) -> Array:
        path = gradient_flow(lambda w: pretraining_loss(w, target), start, times, **TOLERANCES)
        return product(path)

    return compiled("diffrax", flow, target)


def scipy_flow(width: int) -> Contender:
    """Products at all times, by SciPy from the printed ODE."""
    _, target, start = jax.tree.map(np.asarray, matrix_problem(width))
    options: dict[str, Any] = {"method": "DOP853", "t_eval": MATRIX_TIMES, **TOLERANCES}

    def field(_: float, state: np.ndarray) -> np.ndarray:
        first, second = state.reshape(2, width, width)
        slope = -2 * (first @ second - target)
        return np.concatenate([(slope @ second.T).ravel(), (first.T @ slope).ravel()])

    def run() -> np.ndarray:
        begin = np.concatenate([weights.ravel() for weights in start])
        path = solve_ivp(field, (0.0, MATRIX_TIMES[-1]), begin, **options).y
        return np.stack([np.matmul(*state.reshape(2, width, width)) for state in path.T])

    return Contender("SciPy", run)


def matrices(width: int) -> Iterator[Row]:
    """The exact flow of full matrices against both solvers."""
    ours = exact_flow(width)
    exact = ours.run()
    yield from race(
        ours,
        *(with_error(make(width), exact) for make in (diffrax_flow, scipy_flow)),
        size={"width": width, "times": MATRIX_TIMES.size},
        unit="path",
        dtype="float64",
    )


def rows(quick: bool) -> Iterator[Row]:
    """Modes, and matrices of several widths."""
    with jax.enable_x64(True):
        yield from modes(4, 8, 2, 2, 100) if quick else modes(64, 100_000, 1000, 50, STEPS)
        for width in (3,) if quick else (5, 16, 64):
            yield from matrices(width)
