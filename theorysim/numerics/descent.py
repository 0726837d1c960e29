"""Descent of any loss by automatic differentiation, and other iterated maps, as scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from theorysim.numerics.checks import are_finite, is_known
from theorysim.numerics.spectra import top_hessian_eigenvalues

State = TypeVar("State")

# Products with the Hessian that find its largest eigenvalue to the digits of a message.
_PRODUCTS = 32


def _stepper(
    loss: Callable[..., Array], optimiser: optax.GradientTransformation, batches: Callable | None
) -> Callable[[Int[Array, ""] | int, tuple], tuple]:
    gradient = jax.grad(loss)

    def step(k: Any, state: tuple) -> tuple:
        params, memory = state
        slope = gradient(params) if batches is None else gradient(params, batches(k))
        updates, memory = optimiser.update(slope, memory, params)
        return optax.apply_updates(params, updates), memory

    return step


def descend(
    loss: Callable[..., Array],
    start: PyTree[Array],
    optimiser: optax.GradientTransformation,
    steps: int,
    *,
    batches: Callable[[Int[Array, ""]], Any] | None = None,
    record: Callable[[Any], Any] = lambda params: params,
    every: int = 1,
) -> PyTree[Array]:
    """A run of an optimiser on a loss; all parameters step at once from their old values.

    Args:
        loss: `loss(params)`, or `loss(params, batch)` where `batches` is given.
        start: parameters before the first step.
        optimiser: an optax transformation, such as `optax.sgd(learning_rate)`.
        steps: number of steps, a multiple of `every`.
        batches: `batches(k)` makes the batch of step k when it is needed, so none is stored.
        record: what to keep of the parameters.
        every: keep one state in so many.

    Returns:
        The recorded states, the start included: every array leads with `steps // every + 1`.

    Raises:
        ValueError: where `every` does not divide `steps`.
    """
    if every < 1 or steps % every:
        raise ValueError(f"every = {every} does not divide steps = {steps}")
    step = _stepper(loss, optimiser, batches)

    def block(state: tuple, first: Array) -> tuple[tuple, Any]:
        state = jax.lax.fori_loop(0, every, lambda j, s: step(first + j, s), state)
        return state, record(state[0])

    begin = (start, optimiser.init(start))
    _, kept = jax.lax.scan(block, begin, every * jnp.arange(steps // every))
    return jax.tree.map(
        lambda first, rest: jnp.concatenate([jnp.asarray(first)[None], rest]), record(start), kept
    )


def descend_to(
    loss: Callable[..., Array],
    start: State,
    optimiser: optax.GradientTransformation,
    steps: Any,
    *,
    batches: Callable[[Int[Array, ""]], Any] | None = None,
) -> State:
    """Parameters after `steps` steps, which may be a traced number; arguments as for `descend`."""
    step = _stepper(loss, optimiser, batches)
    begin = (start, optimiser.init(start))  # type: ignore[arg-type]
    return jax.lax.fori_loop(0, steps, step, begin)[0]


def check_descent(
    outcome: PyTree[Array],
    loss: Callable[..., Array],
    start: PyTree[Array],
    learning_rate: Any,
    steps: Any,
    *,
    batches: Callable[[Int[Array, ""]], Any] | None = None,
) -> None:
    """ValueError where gradient descent has left the finite numbers; traced runs are let pass.

    `outcome` is what the run recorded, the rest are its arguments. The message names 2/lambda_max
    of the Hessian where the run had its lowest loss, which a second run finds.
    """
    if not is_known(outcome, start, learning_rate, steps) or are_finite(outcome):
        return

    def value(params: Any, k: Any) -> Array:
        return loss(params) if batches is None else loss(params, batches(k))

    end, best, lowest = _lowest(value, start, learning_rate, steps)
    if are_finite(end):
        return  # the run is well, whatever was recorded of it
    if not are_finite(lowest):
        raise ValueError(f"the loss is {float(value(start, 0)):g} at the start: check the data")
    size = sum(leaf.size for leaf in jax.tree.leaves(start))
    sharpest = top_hessian_eigenvalues(
        lambda params: value(params, 0),
        best,
        1,
        iterations=min(size, _PRODUCTS),
        key=jax.random.key(0),
    ).eigenvalues[0]
    limit = 2 / sharpest if sharpest > 0 else jnp.inf
    raise ValueError(
        f"gradient descent diverges at learning rate {float(learning_rate):.6g}; where its loss is "
        f"lowest, 2/lambda_max = {float(limit):.4g}: choose a smaller one"
    )


def _lowest(
    value: Callable[[Any, Any], Array], start: PyTree[Array], learning_rate: Any, steps: Any
) -> tuple[PyTree[Array], PyTree[Array], Float[Array, ""]]:
    """Parameters at the end of gradient descent and at its lowest loss, and that loss."""

    def advance(k: Any, state: tuple) -> tuple:
        params, best, lowest = state
        here, slope = jax.value_and_grad(value)(params, k)
        best = jax.tree.map(lambda new, old: jnp.where(here < lowest, new, old), params, best)
        moved = jax.tree.map(lambda p, g: p - learning_rate * g, params, slope)
        return moved, best, jnp.fmin(here, lowest)

    first = value(start, jnp.asarray(0))
    return jax.lax.fori_loop(0, steps, advance, (start, start, jnp.full_like(first, jnp.inf)))


def iterate(map: Callable[[State], State], start: State, steps: int) -> State:
    """Start, map(start), map(map(start)), ...: every array leads with `steps + 1`."""

    def step(state: State, _: None) -> tuple[State, State]:
        state = map(state)
        return state, state

    _, path = jax.lax.scan(step, start, None, length=steps)
    return jax.tree.map(
        lambda first, rest: jnp.concatenate([jnp.asarray(first)[None], rest]), start, path
    )


def iterate_to(map: Callable[[State], State], start: State, steps: Any) -> State:
    """The state after `steps` applications of the map; `steps` may be a traced number."""
    return jax.lax.fori_loop(0, steps, lambda _, state: map(state), start)
