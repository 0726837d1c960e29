"""Models that are really tuned: full-batch Adam on chosen groups, risk on held-out inputs.

A fifth of the training examples chooses learning rate and number of steps; it is drawn anew for
every seed. All candidates go through one compiled program, one after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from theorysim.advise.problem import Examples, Problem, batch_loss, check_outputs
from theorysim.advise.subject import Params
from theorysim.errors import UsageError

RATES = (3e-3, 1e-2, 3e-2)
CHOOSING = 0.2
"""this share of the training examples chooses rate and steps"""
LOOKS = 20
"""so often along a run the chosen examples are looked at"""


class Tuned(NamedTuple):
    """Held-out losses of tuned models: candidates, seeds, held-out inputs."""

    losses: Float[np.ndarray, "candidates seeds m"]
    wrong: Float[np.ndarray, "candidates seeds m"]
    """1 where the class is wrong"""
    rates: Float[np.ndarray, "candidates seeds"]
    steps: Float[np.ndarray, "candidates seeds"]

    def alone(self, candidate: int) -> Tuned:
        """This candidate only."""
        return Tuned(*(part[candidate : candidate + 1] for part in self))

    def risk(self, candidate: int) -> tuple[float, float]:
        """Mean loss and its standard error: over held-out inputs, and over seeds."""
        return _mean(self.losses[candidate])

    def error(self, candidate: int) -> tuple[float, float]:
        """The share of wrong classes and its standard error."""
        return _mean(self.wrong[candidate])

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Of two candidates' risks on the same inputs and seeds, with its standard error."""
        return _mean(self.losses[first] - self.losses[second])


def apart(first: Tuned, second: Tuned) -> tuple[float, float]:
    """`Tuned.difference` of the first candidates of two runs with the same seeds and inputs."""
    return _mean(first.losses[0] - second.losses[0])


def _mean(values: Float[np.ndarray, "seeds m"]) -> tuple[float, float]:
    seeds, inputs = values.shape
    spread = values.mean(0).var(ddof=1) / inputs
    if seeds > 1:
        spread += values.mean(1).var(ddof=1) / seeds
    return float(values.mean()), float(np.sqrt(spread))


def tune(
    problem: Problem,
    candidates: Sequence[tuple[str, ...]],
    seeds: int = 3,
    steps: int = 300,
    rates: Sequence[float] = RATES,
    seed: int = 0,
    starts: Sequence[Params] | None = None,
) -> Tuned:
    """Tunes every candidate's groups, with every rate, for every seed.

    `starts` are the parameters from which each candidate is tuned; those of the model unless given.

    Raises:
        UsageError: for no seed or step, outputs that are not finite, or where all rates diverge.
    """
    if seeds < 1 or steps < LOOKS:
        raise UsageError(f"seeds={seeds}, steps={steps}: at least 1 and {LOOKS}")
    _check_starts(problem, starts or [problem.subject.params])
    order = problem.subject.order
    masks = jnp.asarray([[g in groups for g in order] for groups in candidates], float)
    count = max(1, round(CHOOSING * len(problem.train)))
    drawn = [np.random.default_rng((seed, s)).permutation(len(problem.train)) for s in range(seeds)]
    choosing, fitting = (
        jnp.asarray([d[:count] for d in drawn]),
        jnp.asarray([d[count:] for d in drawn]),
    )
    run = partial(_one, problem, steps // LOOKS)
    begun = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(starts or [problem.subject.params]))
    places = jnp.arange(len(candidates)) if starts else jnp.zeros(len(candidates), int)

    @jax.jit
    def all_runs(begun: Any) -> Any:
        def of_candidate(one: tuple[Array, Array]) -> Any:
            params = jax.tree.map(lambda leaf: leaf[one[1]], begun)

            def of_seed(which: tuple[Array, Array]) -> Any:
                return jax.lax.map(
                    lambda r: run(params, one[0], which, r), jnp.asarray(rates, float)
                )

            return jax.lax.map(of_seed, (fitting, choosing))

        return jax.lax.map(of_candidate, (masks, places))

    chosen, losses, wrong, looks = jax.tree.map(np.asarray, all_runs(begun))
    which = np.argmin(chosen, axis=2)
    if not np.isfinite(np.min(chosen, axis=2)).all():
        raise UsageError(f"tuning diverged at all learning rates {tuple(rates)}: try smaller rates")
    rows = np.indices(which.shape)
    at = (*rows, which)
    return Tuned(
        losses[at].astype(float),
        wrong[at].astype(float),
        np.asarray(rates)[which],
        looks[at] * (steps // LOOKS),
    )


def _check_starts(problem: Problem, starts: Sequence[Params]) -> None:
    """UsageError where an untuned model has no number: no learning rate would help."""
    outputs = jax.jit(problem.subject.batch)
    for params in starts:
        for inputs, what in ((problem.train.inputs, "training"), (problem.test.inputs, "held-out")):
            check_outputs(np.asarray(outputs(params, inputs)), inputs, f"{what} inputs")


def pretrain(problem: Problem, source: Examples, steps: int, rate: float = RATES[0]) -> Params:
    """The model's parameters after full-batch Adam on another task."""
    subject, loss = problem.subject, problem.loss
    targets = jnp.asarray(source.targets, float)
    adam = optax.adam(rate)

    def told(params: Any) -> Array:
        return batch_loss(subject.batch(params, source.inputs), targets, loss).mean()

    def step(state: Any, _: None) -> Any:
        params, memory = state
        change, memory = adam.update(jax.grad(told)(params), memory)
        return (optax.apply_updates(params, change), memory), None

    @jax.jit
    def run(params: Any) -> Any:
        return jax.lax.scan(step, (params, adam.init(params)), None, length=steps)[0][0]

    return run(subject.params)


def _one(
    problem: Problem,
    between: int,
    params: Params,
    mask: Array,
    which: tuple[Array, Array],
    rate: Array,
) -> Any:
    """One run: the least loss on the choosing examples, and what held-out inputs lose there."""
    subject, loss = problem.subject, problem.loss
    inputs, targets = problem.train.inputs, jnp.asarray(problem.train.targets, float)
    out_targets = jnp.asarray(problem.test.targets, float)
    shares = {group: mask[i] for i, group in enumerate(subject.order)}
    adam = optax.adam(rate)

    def told(params: Any, rows: Array) -> Array:
        some = jax.tree.map(lambda leaf: leaf[rows], inputs)
        return batch_loss(subject.batch(params, some), targets[rows], loss).mean()

    def held_out(params: Any) -> tuple[Array, Array]:
        outputs = subject.batch(params, problem.test.inputs)
        wrong = (outputs.argmax(-1) != out_targets.argmax(-1)).astype(outputs.dtype)
        return batch_loss(outputs, out_targets, loss), wrong

    def step(state: Any, _: None) -> Any:
        params, memory = state
        slopes = jax.grad(told)(params, which[0])
        slopes = {g: jax.tree.map(lambda s, g=g: s * shares[g], part) for g, part in slopes.items()}
        change, memory = adam.update(slopes, memory)
        return (optax.apply_updates(params, change), memory), None

    def look(state: Any, number: Array) -> Any:
        moving, best = state
        moving, _ = jax.lax.scan(step, moving, None, length=between)
        now = told(moving[0], which[1])
        better = now < best[0]
        here = (now, *held_out(moving[0]), number)
        return (moving, jax.tree.map(lambda a, b: jnp.where(better, a, b), here, best)), None

    first = (told(params, which[1]), *held_out(params), jnp.asarray(0))
    first = (jnp.where(jnp.isfinite(first[0]), first[0], jnp.inf), *first[1:])
    start = ((params, adam.init(params)), first)
    (_, best), _ = jax.lax.scan(look, start, jnp.arange(1, LOOKS + 1))
    return best
