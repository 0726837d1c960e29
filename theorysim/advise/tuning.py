"""Models that are really tuned: full-batch Adam on chosen groups, risk on held-out inputs.

A fifth of the training examples chooses learning rate and number of steps; it is drawn anew for
every seed. All candidates go through one compiled program, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float

from theorysim.advise.budget import check_time
from theorysim.advise.groups import shown
from theorysim.advise.problem import Examples, Problem, batch_loss, check_outputs
from theorysim.advise.subject import Params
from theorysim.errors import UsageError

RATES = (3e-3, 1e-2, 3e-2)
CHOOSING = 0.2
"""this share of the training examples chooses rate and steps"""
LOOKS = 20
"""so often along a run the chosen examples are looked at"""
LATE = 5
"""the last looks, a quarter of the run"""
FALLING = 0.01
"""A run is unfinished where its last quarter improves by more than this share of all it improves"""
FEWER = "take fewer steps=, seeds=, rates= or candidates"


class Tuned(NamedTuple):
    """Held-out losses of tuned models: candidates, seeds, held-out inputs."""

    losses: Float[np.ndarray, "candidates seeds m"]
    wrong: Float[np.ndarray, "candidates seeds m"]
    """1 where the class is wrong"""
    rates: Float[np.ndarray, "candidates seeds"]
    steps: Float[np.ndarray, "candidates seeds"]
    unfinished: Bool[np.ndarray, "candidates seeds"]
    """whether the loss of the examples that choose still fell when the last steps were made"""
    longest: int
    """steps that each was given"""

    def alone(self, candidate: int) -> Tuned:
        """This candidate only."""
        at = slice(candidate, candidate + 1)
        return Tuned(
            self.losses[at],
            self.wrong[at],
            self.rates[at],
            self.steps[at],
            self.unfinished[at],
            self.longest,
        )

    def unfinished_seeds(self, candidate: int) -> int:
        """In how many splits this candidate's tuning did not come to its end."""
        return int(self.unfinished[candidate].sum())

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


def unfinished_told(unfinished: Mapping[str, int], steps: int) -> str:
    """In a sentence: which tuning did not come to its end; empty where all did."""
    odd = [name for name, count in unfinished.items() if count]
    if not odd:
        return ""
    names = "no tuning was" if len(odd) == len(unfinished) else f"tuning of {shown(odd)} was not"
    return (
        f"; {names} finished in {steps} steps, so that what was measured may rank by speed: raise "
        "steps= (--steps)"
    )


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
    begun = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(starts or [problem.subject.params]))
    places = jnp.arange(len(candidates)) if starts else jnp.zeros(len(candidates), int)
    whole = ((masks, places), (fitting, choosing), jnp.asarray(rates, float))
    first = jax.tree.map(lambda part: part[:1], whole)
    program = _program(problem)
    runs = len(candidates) * seeds * len(rates)
    check_time(lambda count: program(begun, *first, count // LOOKS), runs * steps, FEWER)
    return _chosen(program(begun, *whole, steps // LOOKS), rates, steps)


def _program(problem: Problem) -> Callable[..., Any]:
    """All runs, one after another: candidates, splits, rates, and steps between looks."""

    @jax.jit
    def all_runs(begun: Any, candidates: Any, splits: Any, rates: Array, between: Array) -> Any:
        def of_candidate(one: tuple[Array, Array]) -> Any:
            params = jax.tree.map(lambda leaf: leaf[one[1]], begun)

            def of_seed(which: tuple[Array, Array]) -> Any:
                return jax.lax.map(
                    lambda rate: _one(problem, between, params, one[0], which, rate), rates
                )

            return jax.lax.map(of_seed, splits)

        return jax.lax.map(of_candidate, candidates)

    return all_runs


def _chosen(found: Any, rates: Sequence[float], steps: int) -> Tuned:
    """The runs at the rates of least loss on the examples that choose."""
    (chosen, losses, wrong, looks), before, curves = jax.tree.map(np.asarray, found)
    which = np.argmin(chosen, axis=2)
    if not np.isfinite(np.min(chosen, axis=2)).all():
        raise UsageError(f"tuning diverged at all learning rates {tuple(rates)}: try smaller rates")
    at = (*np.indices(which.shape), which)
    return Tuned(
        losses[at].astype(float),
        wrong[at].astype(float),
        np.asarray(rates)[which],
        looks[at] * (steps // LOOKS),
        _is_falling(before[at], curves[at]),
        steps,
    )


def _is_falling(
    before: Float[np.ndarray, "*runs"], curves: Float[np.ndarray, "*runs looks"]
) -> Bool[np.ndarray, "*runs"]:
    """Whether the least loss so far fell late in a run by more than `FALLING` of all its fall."""
    early, late = curves[..., :-LATE], curves[..., -LATE:]
    return falls(before, np.fmin.reduce(early, axis=-1), np.fmin.reduce(late, axis=-1))


def falls(before: Any, early: Any, end: Any) -> Any:
    """Whether the least loss fell after `early` by more than `FALLING` of all its fall."""
    early = np.fmin(before, early)
    least = np.fmin(early, end)
    return early - least > FALLING * (before - least)


def _check_starts(problem: Problem, starts: Sequence[Params]) -> None:
    """UsageError where an untuned model has no number: no learning rate would help."""
    outputs = jax.jit(problem.subject.batch)
    for params in starts:
        for inputs, what in ((problem.train.inputs, "training"), (problem.test.inputs, "held-out")):
            check_outputs(np.asarray(outputs(params, inputs)), inputs, f"{what} inputs")


class Pretrained(NamedTuple):
    """A model after another task."""

    params: Params
    unfinished: bool
    """whether its training loss still fell when the last steps were made"""


def pretrain(problem: Problem, source: Examples, steps: int, rate: float = RATES[0]) -> Pretrained:
    """The model after full-batch Adam on another task."""
    subject, loss = problem.subject, problem.loss
    targets = jnp.asarray(source.targets, float)
    adam = optax.adam(rate)

    def told(params: Any) -> Array:
        return batch_loss(subject.batch(params, source.inputs), targets, loss).mean()

    def step(_: Any, state: Any) -> Any:
        params, memory = state
        change, memory = adam.update(jax.grad(told)(params), memory)
        return optax.apply_updates(params, change), memory

    @jax.jit
    def run(params: Any, count: Array) -> Any:
        late = count - count * LATE // LOOKS
        early = jax.lax.fori_loop(0, late, step, (params, adam.init(params)))
        end = jax.lax.fori_loop(late, count, step, early)[0]
        return end, [told(one) for one in (params, early[0], end)]

    check_time(lambda count: run(subject.params, count), steps, FEWER)
    learnt, losses = run(subject.params, steps)
    return Pretrained(learnt, bool(falls(*map(float, losses))))


def _one(
    problem: Problem,
    between: Array,
    params: Params,
    mask: Array,
    which: tuple[Array, Array],
    rate: Array,
) -> Any:
    """One run: the least loss on the choosing examples, and what held-out inputs lose there.

    Beside these the loss on the choosing examples before, and at every look.
    """
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

    def step(_: Any, state: Any) -> Any:
        params, memory = state
        slopes = jax.grad(told)(params, which[0])
        slopes = {g: jax.tree.map(lambda s, g=g: s * shares[g], part) for g, part in slopes.items()}
        change, memory = adam.update(slopes, memory)
        return optax.apply_updates(params, change), memory

    def look(state: Any, number: Array) -> Any:
        moving, best = state
        moving = jax.lax.fori_loop(0, between, step, moving)
        now = told(moving[0], which[1])
        better = now < best[0]
        here = (now, *held_out(moving[0]), number)
        return (moving, jax.tree.map(lambda a, b: jnp.where(better, a, b), here, best)), now

    first = (told(params, which[1]), *held_out(params), jnp.asarray(0))
    first = (jnp.where(jnp.isfinite(first[0]), first[0], jnp.inf), *first[1:])
    start = ((params, adam.init(params)), first)
    (_, best), curve = jax.lax.scan(look, start, jnp.arange(1, LOOKS + 1))
    return best, first[0], curve
