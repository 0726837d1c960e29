"""How long to pretrain: how sensitive checkpoints are to Gaussian noise and to fine-tuning.

Springer et al., "Overtrained Language Models Are Harder to Fine-Tune" (2025): the loss on the old
task after a change of the parameters falls with the length of pretraining, then rises; where it
turns is the inflection point. What a draw of noise costs is predicted to second order, by slope and
curvature along it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from theorysim.advise.answer import Advice, Check, Uncertain
from theorysim.advise.given import checked
from theorysim.advise.pictures import Panel, Series
from theorysim.advise.problem import (
    Examples,
    Loss,
    Problem,
    as_inputs,
    batch_loss,
    problem,
    risk_name,
)
from theorysim.advise.subject import Subject, subject
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

NOISES = (0.02, 0.05, 0.1, 0.2)
"""standard deviations that are tried, in units of the root mean square of each parameter's leaf"""
RATES = (1e-3, 3e-3, 1e-2)
"""learning rates of fine-tuning by Adam that are tried"""
SHARE = 0.8
"""of the examples for fine-tuning that every seed draws"""
COVERED = (0.05, 0.95)
"""quantiles over seeds between which an inflection point is said to lie"""
CLOSE = 0.2
"""a predicted rise is called right within this share of the measured one"""


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


@checked
def length(
    model: Any,
    checkpoints: Mapping[float, Any],
    inputs: Any,
    targets: Any,
    *,
    params: Any = None,
    new: tuple[Any, Any] | None = None,
    noises: Sequence[float] = NOISES,
    rates: Sequence[float] = RATES,
    steps: int = 100,
    seeds: int = 8,
    loss: Loss | None = None,
    batched: bool | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Advice:
    """Which checkpoint of a pretraining run to fine-tune.

        print(advise.length(model, {100: early, 1000: late}, old_inputs, old_targets, new=(x, y)))

    Args:
        model, params, batched: the model, see `theorysim.advise.subject.subject`.
        checkpoints: by number of steps or tokens, three or more: modules like `model`, or
            parameters where `model` takes them.
        inputs, targets, loss: held-out data of the old task, on which sensitivity is measured.
        new: inputs and targets of a new task to fine-tune on, for the change that fine-tuning is.
        noises: scales of Gaussian noise, in units of each parameter's root mean square.
        rates, steps: of fine-tuning by Adam.
        seeds: draws of the noise and of the examples to fine-tune on.
        seed: of all draws.
        progress: told what is being done.

    Raises:
        UsageError: for what does not fit together, in one line.
    """
    if seeds < 2 or steps < 1:
        raise UsageError(f"seeds={seeds}, steps={steps}: at least 2 and 1")
    order = sorted(checkpoints)
    given = as_inputs(inputs)
    found = subject(model, given, params, _everything, batched)
    stages = [_stage(model, params, checkpoints[at], at, given, batched, found) for at in order]
    task = problem(found, given, targets, (inputs, targets), loss, seed)
    starts = np.array([_loss(found, task.train, task.loss)(stage) for stage in stages])
    changes = []
    for place, scale in enumerate(sorted(noises)):
        progress(place, len(noises) + len(rates), f"noise {scale:g}")
        changes.append(_noise(found, task.train, task.loss, stages, scale, seeds, seed))
    if new is not None:
        fresh = problem(found, as_inputs(new[0], "new inputs"), new[1], None, loss, seed)
        for place, rate in enumerate(rates):
            progress(len(noises) + place, len(noises) + len(rates), f"fine-tuning at {rate:g}")
            parts = (fresh.train, fresh.test, task.train)
            losses = (fresh.loss, task.loss)
            changes.append(_tuned(found, parts, losses, stages, rate, steps, seeds, seed))
    return _advice(order, starts, changes, seeds, task)


def _everything(path: str) -> str:
    """Noise and fine-tuning change all parameters, as one group."""
    return "all parameters"


def _stage(
    model: Any, params: Any, given: Any, at: float, inputs: Any, batched: bool | None, like: Subject
) -> Any:
    try:
        if params is None:
            found = subject(given, inputs, None, _everything, batched)
        else:
            found = subject(model, inputs, given, _everything, batched)
    except UsageError as error:
        raise UsageError(f"checkpoint {at:g}: {error}") from None
    shapes = [jax.tree.map(jnp.shape, part.params) for part in (found, like)]
    if shapes[0] != shapes[1]:
        raise UsageError(f"checkpoint {at:g}: parameters of another model than `model`")
    return found.params


def _loss(found: Subject, examples: Examples, loss: Loss) -> Callable[[Any], Array]:
    targets = jnp.asarray(examples.targets, float)
    return jax.jit(lambda p: batch_loss(found.batch(p, examples.inputs), targets, loss).mean())


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _noise(
    found: Subject,
    examples: Examples,
    loss: Loss,
    stages: Sequence[Any],
    scale: float,
    seeds: int,
    seed: int,
) -> Change:
    told = _loss(found, examples, loss)

    def draw(params: Any, key: Array) -> Any:
        leaves, tree = jax.tree.flatten(params)
        keys = jax.random.split(key, len(leaves))
        sizes = [jnp.sqrt(jnp.mean(leaf**2)) for leaf in leaves]
        drawn = [
            scale * size * jax.random.normal(k, leaf.shape, leaf.dtype)
            for k, leaf, size in zip(keys, leaves, sizes)
        ]
        return jax.tree.unflatten(tree, drawn)

    def one(params: Any, key: Array) -> tuple[Array, Array]:
        step = draw(params, key)
        slope, bent = jax.jvp(jax.grad(told), (params,), (step,))
        parts = jax.tree.map(lambda g, h, s: jnp.vdot(g + h / 2, s), slope, bent, step)
        rise = sum(jax.tree.leaves(parts), jnp.zeros(()))
        return told(jax.tree.map(jnp.add, params, step)), told(params) + rise

    keys = jax.random.split(jax.random.key(seed), seeds)
    run = jax.jit(lambda ps: jax.lax.map(lambda k: jax.lax.map(lambda p: one(p, k), ps), keys))
    real, predicted = run(_stack(stages))
    return Change(f"noise {scale:g}", np.asarray(real), np.asarray(predicted).mean(0), None)


def _tuned(
    found: Subject,
    parts: tuple[Examples, Examples, Examples],
    losses: tuple[Loss, Loss],
    stages: Sequence[Any],
    rate: float,
    steps: int,
    seeds: int,
    seed: int,
) -> Change:
    train, test, old = parts
    targets = jnp.asarray(train.targets, float)
    adam = optax.adam(rate)
    count = max(1, round(SHARE * len(train)))
    drawn = [np.random.default_rng((seed, s)).permutation(len(train))[:count] for s in range(seeds)]
    after, fresh = _loss(found, old, losses[1]), _loss(found, test, losses[0])

    def one(params: Any, rows: Array) -> tuple[Array, Array]:
        some = jax.tree.map(lambda leaf: leaf[rows], train.inputs)

        def told(p: Any) -> Array:
            return batch_loss(found.batch(p, some), targets[rows], losses[0]).mean()

        def step(state: Any, _: None) -> Any:
            params, memory = state
            change, memory = adam.update(jax.grad(told)(params), memory)
            return (optax.apply_updates(params, change), memory), None

        (end, _), _ = jax.lax.scan(step, (params, adam.init(params)), None, length=steps)
        return after(end), fresh(end)

    run = jax.jit(
        lambda ps, which: jax.lax.map(lambda r: jax.lax.map(lambda p: one(p, r), ps), which)
    )
    old_losses, new_losses = run(_stack(stages), jnp.asarray(np.stack(drawn)))
    return Change(
        f"tuned at {rate:g}",
        np.asarray(old_losses),
        None,
        np.asarray(new_losses),
        risk_name(losses[0]),
    )


def inflection(
    order: Sequence[float], losses: Float[np.ndarray, "seeds checkpoints"]
) -> tuple[float, float, float]:
    """The checkpoint of least mean loss, and quantiles of the least one's place over seeds."""
    places = np.asarray(order, float)[np.argmin(losses, axis=1)]
    low, high = np.quantile(places, COVERED, method="nearest")
    return float(order[int(np.argmin(losses.mean(0)))]), float(low), float(high)


def _advice(
    order: list[float], starts: np.ndarray, changes: list[Change], seeds: int, task: Problem
) -> Advice:
    rows = [_row(order, change, starts) for change in changes]
    tuned = [(row, c) for row, c in zip(rows, changes) if c.new is not None]
    # What the user will do is to fine-tune; without a new task noise stands for it.
    chosen = min(tuned, key=lambda pair: pair[0]["new loss"].value)[0] if tuned else rows[-1]
    columns = ["change", "turns at", "from", "to", "least loss"]
    columns += ["new loss"] if tuned else ["predicted turn"]
    return Advice(
        "length",
        chosen["change"],
        _sentence(order, chosen, starts, rows, seeds, task.loss),
        tuple(rows),
        tuple(columns),
        tuple(_checks(order, starts, changes, rows)),
        (*_meanings(seeds, task.loss), *task.subject.notes),
        (_panel(order, starts, changes, task.loss),),
    )


def _row(order: list[float], change: Change, starts: np.ndarray) -> dict[str, Any]:
    turn, low, high = inflection(order, change.losses)
    place = order.index(turn)

    def mean(values: np.ndarray) -> Uncertain:
        spread = values.std(ddof=1) / np.sqrt(len(values))
        return Uncertain(float(values.mean()), float(spread))

    end_above = change.losses[:, -1] - change.losses[:, place]
    predicted = None if change.predicted is None else order[int(np.argmin(change.predicted))]
    best_new = None
    if change.new is not None:
        best_new = mean(change.new[:, int(np.argmin(change.new.mean(0)))])
    return {
        "change": change.name,
        "turns at": turn,
        "from": low,
        "to": high,
        "turns": turn < order[-1],
        "least loss": mean(change.losses[:, place]),
        "loss at the end": mean(change.losses[:, -1]),
        "rise": mean(end_above),
        "predicted turn": predicted,
        "new loss": best_new,
        "new risk": change.risk,
        "new best at": None if change.new is None else order[int(np.argmin(change.new.mean(0)))],
    }


def _sentence(
    order: list[float],
    row: dict[str, Any],
    starts: np.ndarray,
    rows: list[dict[str, Any]],
    seeds: int,
    loss: Loss,
) -> str:
    risk, name = f"{risk_name(loss)} on the old task", _why(row, rows)
    least = order[int(np.argmin(starts))]
    where = f"checkpoint {row['turns at']:g} ({row['from']:g} to {row['to']:g} in {seeds} seeds)"
    if row["turns"]:
        told = f"Stop at {where} {name}: the {risk} is then {row['least loss']}, and "
        told += f"{row['rise']} more at the last checkpoint, {order[-1]:g}"
    else:
        told = f"Pretrain on {name}: no checkpoint before the last, {where}, has a lesser {risk} "
        told += f"than its {row['least loss']}"
    told += f"; unchanged, it is least at checkpoint {least:g}"
    if row["new best at"] is not None:
        told += f"; the new task does best from checkpoint {row['new best at']:g}: "
        told += f"{row['new risk']} {row['new loss']}"
    return told + "."


def _why(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The change that the answer is about, and why it is this one of those that were tried."""
    if row["new loss"] is None:
        return f"under {row['change']} (the strongest that was tried; give new= to fine-tune)"
    tried = sum(one["new loss"] is not None for one in rows)
    return f"if it is {row['change']} (the rate of least loss on the new task, of {tried} tried)"


def _checks(
    order: list[float], starts: np.ndarray, changes: list[Change], rows: list[dict[str, Any]]
) -> list[Check]:
    places = [row["turns at"] for row in rows if row["predicted turn"] is not None]
    falling = all(a >= b for a, b in pairwise(places))
    checks = [
        Check(
            "more noise turns no later",
            falling,
            f"inflection points {', '.join(f'{p:g}' for p in places)} for growing noise",
        )
    ]
    right = total = 0
    for change in changes:
        if change.predicted is not None:
            rise = change.losses.mean(0) - starts
            right += int(np.sum(np.abs(change.predicted - starts - rise) <= CLOSE * np.abs(rise)))
            total += len(order)
    return [
        *checks,
        Check(
            f"second order predicts the rise by noise within {CLOSE:.0%}",
            right == total,
            f"at {right} of {total} pairs of a noise and a checkpoint",
        ),
        Check(
            "the two-layer theory of the paper (deep linear networks, spectra of both tasks)",
            None,
            "is not evaluated here: it needs the tasks' spectra; see theorysim show theorem-4.7",
        ),
    ]


def _meanings(seeds: int, loss: Loss) -> list[str]:
    return [
        "turns at: the checkpoint after which the old task's loss rises once parameters are "
        f"changed; from, to: its {COVERED[0]:.0%} and {COVERED[1]:.0%} quantiles over {seeds} "
        f"seeds; least loss: {risk_name(loss)} on the old task (± one standard error over seeds); "
        "noise is in units of each parameter's root mean square, rates are those of Adam, per "
        "step; checkpoints are in the steps or tokens that they are named by"
    ]


def _panel(order: list[float], starts: np.ndarray, changes: list[Change], loss: Loss) -> Panel:
    at = tuple(map(float, order))
    shown = [Series("unchanged", at, tuple(map(float, starts)))]
    for change in changes:
        error = change.losses.std(0, ddof=1) / np.sqrt(len(change.losses))
        mean = tuple(map(float, change.losses.mean(0)))
        shown.append(Series(change.name, at, mean, tuple(map(float, error)), True))
        if change.predicted is not None:
            shown.append(
                Series(f"{change.name}, predicted", at, tuple(map(float, change.predicted)))
            )
    positive = bool(min(order) > 0)
    return Panel(
        "Length of pretraining",
        "checkpoint (steps or tokens)",
        f"{risk_name(loss)} on the old task",
        tuple(shown),
        log_x=positive,
        log_y=True,
    )
