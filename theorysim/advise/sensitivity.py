"""What checkpoints lose when their parameters change: by Gaussian noise, or by fine-tuning.

What a draw of noise costs is predicted to second order, by slope and curvature along it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float

from theorysim.advise.budget import check_time
from theorysim.advise.problem import Examples, Loss, batch_loss, risk_name
from theorysim.advise.subject import Subject
from theorysim.advise.tuning import LATE, LOOKS, falls

SHARE = 0.8
"""of the examples for fine-tuning that every seed draws"""
COVERED = (0.05, 0.95)
"""quantiles over seeds between which an inflection point is said to lie"""

FEWER = "take fewer steps=, seeds=, rates= or checkpoints"


class Change(NamedTuple):
    """One kind of change, such as noise of a scale: old losses for seeds and checkpoints."""

    name: str
    losses: Float[np.ndarray, "seeds checkpoints"]
    predicted: Float[np.ndarray, " checkpoints"] | None
    """mean over seeds, to second order"""
    new: Float[np.ndarray, "seeds checkpoints"] | None
    """held-out loss on the new task"""
    risk: str = ""
    """what this is called"""
    untuned: Float[np.ndarray, " checkpoints"] | None = None
    """held-out loss on the new task without any change"""
    unfinished: Bool[np.ndarray, "seeds checkpoints"] | None = None
    """whether the loss on the new task still fell when the last steps were made"""

    @property
    def is_finite(self) -> bool:
        """Whether no draw of any checkpoint left the numbers."""
        return all(np.isfinite(part).all() for part in (self.losses, self.new) if part is not None)


def mean_loss(found: Subject, examples: Examples, loss: Loss) -> Callable[[Any], Array]:
    """As a function of parameters."""
    targets = jnp.asarray(examples.targets, float)
    return jax.jit(lambda p: batch_loss(found.batch(p, examples.inputs), targets, loss).mean())


def noisy(
    found: Subject,
    examples: Examples,
    loss: Loss,
    stages: Sequence[Any],
    scales: Sequence[float],
    seeds: int,
    seed: int,
) -> list[Change]:
    """Gaussian noise of every scale, in units of the root mean square of each parameter's leaf."""
    told = mean_loss(found, examples, loss)

    def draw(params: Any, key: Array, scale: Array) -> Any:
        leaves, tree = jax.tree.flatten(params)
        keys = jax.random.split(key, len(leaves))
        drawn = [
            (scale * jnp.sqrt(jnp.mean(leaf**2))).astype(leaf.dtype)
            * jax.random.normal(k, leaf.shape, leaf.dtype)
            for k, leaf in zip(keys, leaves)
        ]
        return jax.tree.unflatten(tree, drawn)

    def one(params: Any, key: Array, scale: Array) -> tuple[Array, Array]:
        step = draw(params, key, scale)
        slope, bent = jax.jvp(jax.grad(told), (params,), (step,))
        parts = jax.tree.map(lambda g, h, s: jnp.vdot(g + h / 2, s), slope, bent, step)
        rise = sum(jax.tree.leaves(parts), jnp.zeros(()))
        return told(jax.tree.map(jnp.add, params, step)), told(params) + rise

    keys = jax.random.split(jax.random.key(seed), seeds)
    found = _program(one)(_stack(stages), keys, jnp.asarray(scales, float))
    real, predicted = jax.tree.map(np.asarray, found)
    return [
        Change(f"noise {scale:g}", rows, told.mean(0), None)
        for scale, rows, told in zip(scales, real, predicted)
    ]


def _program(one: Callable[..., Any]) -> Callable[..., Any]:
    """A function of parameters, a draw and a size (and more), for sizes x draws x checkpoints."""

    @jax.jit
    def over(stages: Any, draws: Array, sizes: Array, *more: Array) -> Any:
        def of_size(size: Array) -> Any:
            def of_draw(which: Array) -> Any:
                return jax.lax.map(lambda params: one(params, which, size, *more), stages)

            return jax.lax.map(of_draw, draws)

        return jax.lax.map(of_size, sizes)

    return over


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def tuned(
    found: Subject,
    parts: tuple[Examples, Examples, Examples],
    losses: tuple[Loss, Loss],
    stages: Sequence[Any],
    rates: Sequence[float],
    steps: int,
    seeds: int,
    seed: int,
) -> list[Change]:
    """Fine-tuning by Adam at every rate.

    Args:
        found: the model.
        parts: examples to tune on, held-out ones of the same task, and those of the old task.
        losses: of the new task and of the old one.
        stages: parameters of the checkpoints.
        rates, steps: of Adam.
        seeds, seed: draws of `SHARE` of the examples to tune on.
    """
    train, test, old = parts
    targets = jnp.asarray(train.targets, float)
    count = max(1, round(SHARE * len(train)))
    drawn = [np.random.default_rng((seed, s)).permutation(len(train))[:count] for s in range(seeds)]
    after, fresh = mean_loss(found, old, losses[1]), mean_loss(found, test, losses[0])
    adam = optax.scale_by_adam()

    def one(params: Any, rows: Array, rate: Array, count: Array) -> tuple[Array, ...]:
        some = jax.tree.map(lambda leaf: leaf[rows], train.inputs)

        def told(p: Any) -> Array:
            return batch_loss(found.batch(p, some), targets[rows], losses[0]).mean()

        def step(_: Any, state: Any) -> Any:
            params, memory = state
            change, memory = adam.update(jax.grad(told)(params), memory)
            moved = jax.tree.map(lambda p, c: p - rate.astype(p.dtype) * c, params, change)
            return moved, memory

        late = count - count * LATE // LOOKS
        early = jax.lax.fori_loop(0, late, step, (params, adam.init(params)))
        end, _ = jax.lax.fori_loop(late, count, step, early)
        return after(end), fresh(params), fresh(early[0]), fresh(end)

    whole = (_stack(stages), jnp.asarray(np.stack(drawn)), jnp.asarray(rates, float))
    first = jax.tree.map(lambda part: part[:1], whole)
    program, runs = _program(one), len(stages) * seeds * len(rates)
    check_time(lambda count: program(*first, count), runs * steps, FEWER)
    told = jax.tree.map(np.asarray, program(*whole, steps))
    name = risk_name(losses[0])
    return [
        Change(f"tuned at {g:g}", old, None, end, name, start[0], falls(start, early, end))
        for g, old, start, early, end in zip(rates, *told)
    ]


def inflection(
    order: Sequence[float], losses: Float[np.ndarray, "seeds checkpoints"]
) -> tuple[float, float, float]:
    """The checkpoint of least mean loss, and quantiles of the least one's place over seeds."""
    places = np.asarray(order, float)[np.argmin(losses, axis=1)]
    low, high = np.quantile(places, COVERED, method="nearest")
    return float(order[int(np.argmin(losses.mean(0)))]), float(low), float(high)
