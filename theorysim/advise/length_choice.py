"""How long to pretrain: how sensitive checkpoints are to Gaussian noise and to fine-tuning.

Springer et al., "Overtrained Language Models Are Harder to Fine-Tune" (2025): the loss on the old
task after a change of the parameters falls with the length of pretraining, then rises; where it
turns is the inflection point. What noise costs is predicted to second order of the model itself
(`sensitivity`), and by the paper's two-layer theory from the spectrum of the task (`two_layer`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.advise import record
from theorysim.advise.answer import Advice, Check, Uncertain
from theorysim.advise.given import checked
from theorysim.advise.groups import shown
from theorysim.advise.layer_checks import finished_check
from theorysim.advise.length_words import meanings, panel, sentence
from theorysim.advise.problem import (
    Loss,
    Problem,
    as_inputs,
    caution,
    check_alike,
    check_outputs,
    problem,
)
from theorysim.advise.sensitivity import Change, inflection, mean_loss, noisy, tuned
from theorysim.advise.subject import Subject, subject
from theorysim.advise.twins import check_distinct
from theorysim.advise.two_layer import Spectrum, TwoLayer, constant_loss, spectrum, two_layer
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

NOISES = (0.02, 0.05, 0.1, 0.2)
"""standard deviations that are tried, in units of the root mean square of each parameter's leaf"""
RATES = (1e-3, 3e-3, 1e-2)
"""learning rates of fine-tuning by Adam that are tried"""
CLOSE = 0.2
"""a predicted rise is called right within this share of the measured one"""

NOISE_SCORES: dict[str, tuple[str, int]] = {
    "second_order": ("loss under noise to second order, from slope and curvature", 1),
    "two_layer": ("loss under noise by the two-layer theory, from the task's spectrum", 1),
    "unchanged": ("trivial: least loss without noise", 1),
    "last": ("trivial: the last checkpoint first", 1),
    "first": ("trivial: the first checkpoint first", 1),
    "middle": ("trivial: nearest to the middle one", 1),
}
"""Names, what they are, and 1 where the smallest value is promising"""
SCORES = {
    "noise": ("old loss under noise, measured on other inputs", 1),
    "left_out": ("leave-one-out risk of the linearised model on the new task", 1),
    "linearised": ("its held-out risk on the new task", 1),
    **NOISE_SCORES,
}
"""The same for checkpoints that are fine-tuned"""
TRIVIAL = ("unchanged", "last", "first", "middle")


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
        SizeError: for fine-tuning that would take too long.
    """
    if seeds < 2 or steps < 1:
        raise UsageError(f"seeds={seeds}, steps={steps}: at least 2 and 1")
    order = sorted(checkpoints)
    given = as_inputs(inputs)
    found = subject(model, given, params, everything, batched)
    stages = [_stage(model, params, checkpoints[at], at, given, batched, found) for at in order]
    check_distinct("checkpoints", {f"{at:g}": stage for at, stage in zip(order, stages)})
    task = problem(found, given, targets, (inputs, targets), loss, seed)
    _check_stages(task, order, stages, "inputs")
    starts = _starts(task, order, stages)
    progress(0, 2, "noise")
    changes = _noisy(task, stages, sorted(noises), seeds, seed)
    notes: list[str] = []
    beware = ""
    if new is not None:
        fresh = _new_task(new, task, (order, stages), loss, seed)
        beware = caution(fresh)
        progress(1, 2, "fine-tuning")
        changes += _fine_tuned(task, fresh, stages, (rates, steps, seeds, seed), notes)
    theory = _theory(task, order, starts, sorted(noises))
    told = _advice(order, starts, changes, (seeds, steps), task, theory, notes)
    return told.warned(beware)


def _theory(
    task: Problem, order: list[float], starts: np.ndarray, noises: list[float]
) -> tuple[Spectrum, TwoLayer | None]:
    """The task's spectrum, and what the two-layer theory makes of it."""
    known = spectrum(task.train)
    constant = constant_loss(task.train.targets, task.loss)
    return known, two_layer(order, starts, constant, known, noises)


def _starts(task: Problem, order: list[float], stages: list[Any]) -> np.ndarray:
    """The loss of every checkpoint; UsageError where one has none."""
    own = mean_loss(task.subject, task.train, task.loss)
    starts = np.array([own(stage) for stage in stages])
    if not np.isfinite(starts).all():
        at = order[int(np.argmin(np.isfinite(starts)))]
        raise UsageError(f"checkpoint {at:g}: its loss on the old task is not finite")
    return starts


def _noisy(
    task: Problem, stages: list[Any], noises: list[float], seeds: int, seed: int
) -> list[Change]:
    """Noise of every scale; UsageError where losses are no longer finite."""
    changes = noisy(task.subject, task.train, task.loss, stages, noises, seeds, seed)
    lost = [change.name for change in changes if not change.is_finite]
    if lost:
        raise UsageError(f"{lost[0]}: losses are no longer finite; give smaller noises=")
    return changes


def _fine_tuned(
    task: Problem,
    fresh: Problem,
    stages: list[Any],
    budget: tuple[Sequence[float], int, int, int],
    notes: list[str],
) -> list[Change]:
    """Fine-tuning on a new task, at the rates at which no run diverged; of others a note.

    `budget` has the rates, the steps, and the seeds and the seed of `tuned`.

    Raises:
        UsageError: where runs diverged at every rate.
    """
    parts = (fresh.train, fresh.test, task.train)
    runs = tuned(task.subject, parts, (fresh.loss, task.loss), stages, *budget)
    kept = [run for run in runs if run.is_finite]
    lost = [run.name for run in runs if not run.is_finite]
    if not kept:
        raise UsageError(
            f"fine-tuning diverged ({shown(lost)}): give smaller rates=, or mend derivatives that "
            "are no numbers, as of a root at 0"
        )
    if lost:
        notes.append(f"left out: {shown(lost)}, where fine-tuning diverged")
    return kept


def everything(path: str) -> str:
    """Noise and fine-tuning change all parameters, as one group."""
    return "all parameters"


def _new_task(
    new: tuple[Any, Any],
    old: Problem,
    run: tuple[list[float], list[Any]],
    loss: Loss | None,
    seed: int,
) -> Problem:
    """What the argument `new` asks; `run` has the checkpoints by number, which must answer it."""
    others = as_inputs(new[0], "inputs of new")
    check_alike(old.train.inputs, others, "inputs of new")
    fresh = problem(old.subject, others, new[1], None, loss, seed, "new")
    for part in (fresh, replace(fresh, train=fresh.test)):
        _check_stages(part, *run, "inputs of new")
    return fresh


def _check_stages(task: Problem, order: list[float], stages: list[Any], what: str) -> None:
    """UsageError where a checkpoint returns no number."""
    inputs, outputs = task.train.inputs, jax.jit(task.subject.batch)
    for at, stage in zip(order, stages):
        check_outputs(np.asarray(outputs(stage, inputs)), inputs, f"{what} at checkpoint {at:g}")


def _stage(
    model: Any, params: Any, given: Any, at: float, inputs: Any, batched: bool | None, like: Subject
) -> Any:
    try:
        if params is None:
            found = subject(given, inputs, None, everything, batched)
        else:
            found = subject(model, inputs, given, everything, batched)
    except UsageError as error:
        raise UsageError(f"checkpoint {at:g}: {error}") from None
    shapes = [jax.tree.map(jnp.shape, part.params) for part in (found, like)]
    if shapes[0] != shapes[1]:
        raise UsageError(f"checkpoint {at:g}: parameters of another model than `model`")
    return found.params


def _advice(
    order: list[float],
    starts: np.ndarray,
    changes: list[Change],
    budget: tuple[int, int],
    task: Problem,
    theory: tuple[Spectrum, TwoLayer | None],
    notes: list[str],
) -> Advice:
    """`budget` has the seeds and the steps of fine-tuning."""
    seeds, steps = budget
    told = () if theory[1] is None else theory[1].losses
    rows = [
        _row(order, change, told[place] if place < len(told) else None)
        for place, change in enumerate(changes)
    ]
    tried = [(row, c) for row, c in zip(rows, changes) if c.new is not None]
    # What the user will do is to fine-tune; without a new task noise stands for it.
    last = rows[-1], changes[-1]
    chosen, change = min(tried, key=lambda pair: pair[0]["new loss"].value, default=last)
    columns = ["change", "turns at", "from", "to", "predicted", "two-layer", "least loss"]
    columns += ["new loss"] if tried else []
    return Advice(
        "length",
        chosen["change"],
        sentence(order, chosen, starts, rows, seeds, task.loss),
        tuple(rows),
        tuple(columns),
        (*_checks(order, starts, changes, rows, theory), *_finished(order, change, steps)),
        (
            f"loss under noise: {record.told('noise', 'second_order')}",
            f"loss after fine-tuning: {record.told('length', 'noise')}",
            *meanings(seeds, task.loss, columns),
            *notes,
            *task.subject.notes,
        ),
        (panel(order, starts, changes, task.loss),),
    )


def _row(order: list[float], change: Change, theory: np.ndarray | None) -> dict[str, Any]:
    """Of a change; `theory` is what the two-layer one says of it at every checkpoint."""
    turn, low, high = inflection(order, change.losses)
    place = order.index(turn)

    def mean(values: np.ndarray) -> Uncertain:
        spread = values.std(ddof=1) / np.sqrt(len(values))
        return Uncertain(float(values.mean()), float(spread))

    end_above = change.losses[:, -1] - change.losses[:, place]
    predicted, by_theory = (
        None if told is None else order[int(np.argmin(told))] for told in (change.predicted, theory)
    )
    best_new = untuned = None
    if change.new is not None and change.untuned is not None:
        best = int(np.argmin(change.new.mean(0)))
        best_new, untuned = mean(change.new[:, best]), float(change.untuned[best])
    return {
        "change": change.name,
        "turns at": turn,
        "from": low,
        "to": high,
        "turns": turn < order[-1],
        "least loss": mean(change.losses[:, place]),
        "loss at the end": mean(change.losses[:, -1]),
        "rise": mean(end_above),
        "predicted": predicted,
        "two-layer": by_theory,
        "new loss": best_new,
        "new untuned": untuned,
        "new risk": change.risk,
        "new best at": None if change.new is None else order[int(np.argmin(change.new.mean(0)))],
    }


def _checks(
    order: list[float],
    starts: np.ndarray,
    changes: list[Change],
    rows: list[dict[str, Any]],
    theory: tuple[Spectrum, TwoLayer | None],
) -> list[Check]:
    noise = [row for row in rows if row["predicted"] is not None]
    places = [row["turns at"] for row in noise]
    right = total = 0
    for change in changes:
        if change.predicted is not None:
            rise = change.losses.mean(0) - starts
            right += int(np.sum(np.abs(change.predicted - starts - rise) <= CLOSE * np.abs(rise)))
            total += len(order)
    return [
        Check(
            "more noise turns no later",
            all(a >= b for a, b in pairwise(places)),
            f"inflection points {_listed(places)} for growing noise",
        ),
        Check(
            f"second order predicts the rise by noise within {CLOSE:.0%}",
            right == total,
            f"at {right} of {total} pairs of a noise and a checkpoint",
        ),
        _theory_check(noise, *theory),
    ]


def _finished(order: list[float], change: Change, steps: int) -> list[Check]:
    """Whether the fine-tuning that the answer is about came to its end; none of noise."""
    if change.unfinished is None:
        return []
    counts = change.unfinished.sum(axis=0)
    found = {f"checkpoint {at:g}": int(count) for at, count in zip(order, counts)}
    what = f"on the new task, {change.name},"
    return [finished_check(found, len(change.unfinished), steps, f"fine-tuning {what}")]


def _theory_check(noise: list[dict[str, Any]], known: Spectrum, theory: TwoLayer | None) -> Check:
    """Whether the two-layer theory turns where the model does."""
    what = "under noise the two-layer theory, from the old task's spectrum, turns where this does"
    if theory is None:
        return Check(what, None, "it says nothing: no checkpoint beats outputs that know no input")
    met = [row["from"] <= row["two-layer"] <= row["to"] for row in noise]
    return Check(
        what,
        all(met),
        f"at {_listed([row['two-layer'] for row in noise])} for growing noise, which is within "
        f"from and to for {sum(met)} of {len(met)}; a linear map explains {known.explained:.0%} of "
        "the targets' variance, and the fitted fall of the loss without noise misses by up to "
        f"{theory.misfit:.2f} of it; fine-tuning is not predicted",
    )


def _listed(places: Sequence[float]) -> str:
    return ", ".join(f"{place:g}" for place in places)
