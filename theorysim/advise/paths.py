"""Gradient descent with a pull to the start, step by step: of the linearised model, and really.

The mean loss over n inputs plus lambda/2 ||theta - theta_0||^2; a step takes the two parts in turn,
v = u - eta grad(mean loss), u' = (1 - eta lambda) v, as `theorysim.systems.linearized` does for the
squared loss. Linearised outputs are f0 + K c, so that only the Gram is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.advise.budget import check_time
from theorysim.advise.kernels import Kernels
from theorysim.advise.problem import Loss, Problem, batch_loss, losses_of, slopes_of
from theorysim.advise.subject import Params

CURVED = {"squared": 2.0, "cross-entropy": 0.5}
"""The largest second derivative of the loss of one input in its outputs"""
MOST_STEPS = 1000
"""so many steps are tried before a number of steps is said to be larger"""
FEWER = "take fewer steps= or pulls="


class Path(NamedTuple):
    """At the recorded steps, for every pull."""

    steps: tuple[int, ...]
    held_out: Float[np.ndarray, "pulls times m"]
    """loss of every held-out input"""
    training: Float[np.ndarray, "pulls times"]
    """mean training loss"""
    distance: Float[np.ndarray, "pulls times"]
    change: Float[np.ndarray, "pulls times n k"]
    """of the outputs on the training inputs"""


class LinearPath(NamedTuple):
    """The predicted path, and the coefficients of its parameters theta_0 + J^T c."""

    path: Path
    coefficients: Float[np.ndarray, "pulls times n k"]


def slope_scale(loss: Loss) -> float:
    """Factor of `slopes_of` in the gradient of the loss of one input."""
    return 2.0 if loss == "squared" else 1.0


def curvature(gram: Float[np.ndarray, "nk nk"], inputs: int, loss: Loss) -> float:
    """A bound of the largest curvature of the linearised model's mean loss."""
    return CURVED[loss] * float(np.linalg.eigvalsh(gram)[-1]) / inputs


def recorded(steps: int, count: int) -> tuple[int, ...]:
    """Numbers of steps from 1 to the last, spread evenly on a logarithmic scale."""
    return tuple(sorted({round(steps ** (i / (count - 1))) for i in range(count)}))


def linear_path(
    problem: Problem, kernels: Kernels, pulls: Sequence[float], rate: float, steps: Sequence[int]
) -> LinearPath:
    """Descent of the linearised model, for all pulls at once.

    Raises:
        SizeError: where it would take too long.
    """
    gram, cross = kernels.of(problem.subject.order)
    n, k = kernels.start.shape
    targets, loss = problem.train.targets, problem.loss
    run = partial(_coefficients, problem, kernels.start, gram)
    check_time(lambda count: run(pulls, rate, (count,)), steps[-1], FEWER)
    found = run(pulls, rate, steps)
    change = found @ gram
    out = (found @ cross.T).reshape(*found.shape[:2], *kernels.start_out.shape)
    return LinearPath(
        Path(
            tuple(steps),
            _losses(kernels.start_out + out, problem.test.targets, loss),
            _losses(kernels.start + change.reshape(*found.shape[:2], n, k), targets, loss).mean(-1),
            np.sqrt(np.maximum(np.sum(found * change, axis=-1), 0)),
            change.reshape(*found.shape[:2], n, k),
        ),
        found.reshape(*found.shape[:2], n, k),
    )


def _coefficients(
    problem: Problem,
    start: Float[np.ndarray, "n k"],
    gram: Float[np.ndarray, "nk nk"],
    pulls: Sequence[float],
    rate: float,
    steps: Sequence[int],
) -> Float[np.ndarray, "pulls times nk"]:
    """Of the linearised parameters at the recorded steps."""
    n, k = start.shape
    targets, loss = problem.train.targets, problem.loss
    shrink = 1 - rate * np.asarray(pulls)[:, None]
    push = rate * slope_scale(loss) / n
    now = np.zeros((len(pulls), n * k))
    kept = []
    for step in range(1, steps[-1] + 1):
        outputs = (now @ gram).reshape(-1, k) + np.tile(start, (len(pulls), 1))
        slopes = slopes_of(outputs, np.tile(targets, (len(pulls), 1)), loss)
        now = shrink * (now - push * slopes.reshape(len(pulls), n * k))
        if step in steps:
            kept.append(now)
    return np.stack(kept, axis=1)


def steps_to(
    gram: Float[np.ndarray, "nk nk"],
    start: Float[np.ndarray, "n k"],
    targets: Float[np.ndarray, "n k"],
    loss: Loss,
    level: float,
) -> int | None:
    """Steps of linearised descent until the mean training loss is at most `level`.

    The rate is that at which the steepest direction is learnt at once; None beyond `MOST_STEPS`.
    """
    n = len(start)
    rate = 1 / curvature(gram, n, loss)
    push = rate * slope_scale(loss) / n
    outputs = start
    for step in range(MOST_STEPS + 1):
        if losses_of(outputs, targets, loss).mean() <= level:
            return step
        slopes = slopes_of(outputs, targets, loss)
        outputs = outputs - push * (gram @ slopes.ravel()).reshape(start.shape)
    return None


def real_steps_to(
    problem: Problem, starts: Sequence[Params], rates: Sequence[float], level: float
) -> list[int | None]:
    """Steps of the model's own descent from every start until the training loss is `level`.

    None beyond `MOST_STEPS`, and where it diverges at its rate.
    """
    subject, loss, inputs = problem.subject, problem.loss, problem.train.inputs
    targets = jnp.asarray(problem.train.targets, float)

    def told(params: Any) -> Array:
        return batch_loss(subject.batch(params, inputs), targets, loss).mean()

    both = jax.value_and_grad(told)

    @jax.jit
    def run(params: Any, rate: Array) -> tuple[Array, Array]:
        def onward(state: Any) -> Array:
            return (state[1] > level) & jnp.isfinite(state[1]) & (state[3] <= MOST_STEPS)

        def step(state: Any) -> Any:
            params, _, slopes, count = state
            params = jax.tree.map(lambda p, s: p - rate.astype(p.dtype) * s, params, slopes)
            return params, *both(params), count + 1

        _, end, _, count = jax.lax.while_loop(onward, step, (params, *both(params), 0))
        return end, count

    found = [run(params, jnp.asarray(rate)) for params, rate in zip(starts, rates)]
    return [int(n) if end <= level and n <= MOST_STEPS else None for end, n in found]


def _losses(outputs: np.ndarray, targets: np.ndarray, loss: Loss) -> np.ndarray:
    """Of outputs with leading axes."""
    lead, rows = outputs.shape[:-2], outputs.shape[-2:]
    flat = outputs.reshape(-1, *rows)
    return np.stack([losses_of(one, targets, loss) for one in flat]).reshape(*lead, rows[0])


def real_path(problem: Problem, pulls: Sequence[float], rate: float, steps: Sequence[int]) -> Path:
    """The same descent of the model itself; numbers are not finite where it diverges.

    Raises:
        SizeError: where it would take too long.
    """
    program, strongest = _descent(problem, rate), jnp.asarray(pulls, float)
    check_time(
        lambda count: program(strongest[:1], jnp.asarray([count])), len(pulls) * steps[-1], FEWER
    )
    found = program(strongest, jnp.diff(jnp.asarray([0, *steps])))
    return Path(tuple(steps), *(np.asarray(part, float) for part in found))


def _descent(problem: Problem, rate: float) -> Callable[[Array, Array], Any]:
    """What is observed for every pull, after so many steps each time."""
    subject, loss = problem.subject, problem.loss
    targets = jnp.asarray(problem.train.targets, float)
    out_targets = jnp.asarray(problem.test.targets, float)
    start, inputs = subject.params, problem.train.inputs

    def told(params: Any) -> Array:
        return batch_loss(subject.batch(params, inputs), targets, loss).mean()

    def observe(params: Any) -> tuple[Array, ...]:
        outputs = subject.batch(params, inputs)
        moved = jax.tree.map(lambda a, b: jnp.sum((a - b) ** 2), params, start)
        return (
            batch_loss(subject.batch(params, problem.test.inputs), out_targets, loss),
            batch_loss(outputs, targets, loss).mean(),
            jnp.sqrt(sum(jax.tree.leaves(moved))),
            outputs - subject.batch(start, inputs),
        )

    @jax.jit
    def run(pulls: Array, between: Array) -> Any:
        def of_pull(pull: Array) -> Any:
            def step(_: Any, params: Any) -> Any:
                slopes = jax.grad(told)(params)
                return jax.tree.map(
                    lambda p, s, first: first + (1 - rate * pull) * (p - rate * s - first),
                    params,
                    slopes,
                    start,
                )

            def onward(params: Any, count: Array) -> tuple[Any, Any]:
                params = jax.lax.fori_loop(0, count, step, params)
                return params, observe(params)

            return jax.lax.scan(onward, start, between)[1]

        return jax.lax.map(of_pull, pulls)

    return run
