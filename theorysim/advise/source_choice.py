"""Which of several sources to start from: tasks to pretrain on, or checkpoints that are there.

For a task, the model is pretrained and tuned in one and the same linearisation around its start, as
Liu, Long, Wang and Jordan (2019) do for wide ReLU networks: the target's outputs after the source
are f0 + K_(QP) c, the mismatch is what is left to learn. For a checkpoint, the linearisation is
around the checkpoint itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from theorysim.advise import kernel_fits, record
from theorysim.advise.answer import Advice, Uncertain
from theorysim.advise.given import checked
from theorysim.advise.groups import Grouping, shown
from theorysim.advise.heads import taught
from theorysim.advise.kernels import (
    PAIRS,
    Kernels,
    few_landmarks,
    fitting,
    kernels,
    landmarked,
)
from theorysim.advise.layer_words import standard_error
from theorysim.advise.paths import curvature, real_steps_to, steps_to
from theorysim.advise.problem import (
    Loss,
    Problem,
    as_inputs,
    losses_of,
    problem,
    seen_before,
)
from theorysim.advise.source_checks import SCORES, TRIVIAL, Measured, checks_of
from theorysim.advise.source_given import (
    Model,
    Taught,
    checkpoint_of,
    head_note,
    is_task,
    source_of,
)
from theorysim.advise.source_words import SCRATCH, SHARE, Source, meanings, panel, sentence
from theorysim.advise.subject import Params, subject
from theorysim.advise.tuning import RATES, tune
from theorysim.advise.twins import check_distinct
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent


@checked
def transfer(
    model: Any,
    sources: Mapping[str, Any],
    inputs: Any,
    targets: Any,
    *,
    params: Any = None,
    test: tuple[Any, Any] | None = None,
    groups: Grouping = None,
    head: str | None = None,
    by: str | None = None,
    loss: Loss | None = None,
    batched: bool | None = None,
    pairs: int = PAIRS,
    measure: bool = False,
    seeds: int = 3,
    steps: int = 300,
    rates: Sequence[float] = RATES,
    seed: int = 0,
    progress: Progress = silent,
) -> Advice:
    """Which source to start from, for a target task; all groups are tuned.

        print(advise.transfer(model, {"english": (x, y), "code": (u, v)}, inputs, targets))

    Args:
        model, params, groups, batched: the model before any source, see
            `theorysim.advise.subject.subject`.
        sources: by name, inputs and targets of a task as a pair; or a checkpoint: a module like
            `model`, or the parameters where `model` takes them.
        inputs, targets, test, loss: the target task, see `theorysim.advise.problem.problem`.
        head: the group that is replaced for every source; unless given, the one that is used last,
            for sources with another number of outputs only.
        by: the score that ranks (`SCORES`); the one with the best record unless given.
        pairs: rows of the Gram, inputs times outputs.
        measure: pretrain on every task, tune from every source, and measure risk and steps.
        seeds, steps, rates: of what is measured, see `theorysim.advise.layers`.
        seed: of all draws.
        progress: told what is being done.

    Raises:
        UsageError: for what does not fit together, in one line.
    """
    _check(sources, params, by)
    given = as_inputs(inputs)
    found = subject(model, given, params, groups, batched)
    if head is not None and head not in found.order:
        raise UsageError(f"head: no group {head!r}; there are {shown(found.order)}")
    task = problem(found, given, targets, test, loss, seed)
    small, notes = fitting(task, seed, pairs)
    how = Model(model, params, groups, batched, head)
    lot = _all_scored(sources, how, (task, small), seed, pairs, progress)
    question = "transfer" if lot.tasks else "checkpoints"
    by = by or record.winner(question, [n for n in SCORES if n not in TRIVIAL])
    measured = None
    if measure:
        progress(len(sources), len(sources) + 1, "tune from every source")
        measured = _measure(task, small, lot, seeds, steps, rates, seed)
    told = _advice(task, lot.scored, question, by, measured, [*notes, *lot.notes])
    return told.warned("".join(_cautions(lot.tasks, task, pairs)))


def _cautions(tasks: Mapping[str, Taught], task: Problem, pairs: int) -> Iterator[str]:
    """Sentences about few landmarks, and about sources that know what is held out."""
    yield few_landmarks(task, pairs)
    for name, one in tasks.items():
        yield few_landmarks(_pretraining(one, task.loss), pairs, f"kernels of source {name}")
        if known := seen_before(task.test, one.examples):
            yield (
                f" Beware: {known} of {len(task.test)} held-out inputs are among those of source "
                f"{name}."
            )


class Lot(NamedTuple):
    """All sources, none among them."""

    scored: dict[str, Source]
    tasks: dict[str, Taught]
    starts: dict[str, Problem]
    """the target's task from the model as it is, and from checkpoints"""
    notes: list[str]


def _all_scored(
    sources: Mapping[str, Any],
    how: Model,
    problems: tuple[Problem, Problem],
    seed: int,
    pairs: int,
    progress: Progress,
) -> Lot:
    """Scores of every source; `problems` are the target's task, whole and as kernels use it.

    Raises:
        UsageError: for a source that does not fit, by its name, or is given twice.
    """
    task, small = problems
    own = kernels(small)
    lot = Lot({SCRATCH: from_scratch(small, own)}, {}, {SCRATCH: task}, [])
    came: dict[str, Any] = {SCRATCH: task.subject.params}
    for place, (name, given) in enumerate(sources.items()):
        progress(place, len(sources) + 1, f"score {name}")
        try:
            if is_task(given, how.params):
                one = source_of(small, given, how.head, seed)
                came[name] = (one.examples.inputs, one.examples.targets)
                lot.tasks[name] = one
                lot.scored[name] = after_task(small, own, one, seed, pairs)
                had, head = one.subject.outputs, one.head
            else:
                ready = checkpoint_of(how, given, task)
                lot.starts[name], came[name] = ready.problem, ready.came
                little, _ = fitting(ready.problem, seed, pairs)
                lot.scored[name] = from_scratch(little, kernels(little), level_of(small, own))
                had, head = ready.outputs, ready.head
        except UsageError as error:
            raise type(error)(f"source {name}: {error}") from None
        lot.notes.extend(head_note(name, had, head, task))
    check_distinct("sources", came)
    return lot


def _check(sources: Mapping[str, Any], params: Any, by: str | None) -> None:
    if SCRATCH in sources:
        raise UsageError(f"sources: {SCRATCH!r} means the model as it is: give another name")
    if len({is_task(given, params) for given in sources.values()}) > 1:
        raise UsageError(
            "sources: give tasks or checkpoints, not both: their scores do not compare"
        )
    if by is not None and by not in SCORES:
        raise UsageError(f"by={by!r}: expected one of {', '.join(SCORES)}")


def _measure(
    task: Problem,
    small: Problem,
    lot: Lot,
    seeds: int,
    steps: int,
    rates: Sequence[float],
    seed: int,
) -> Measured:
    """Tasks are pretrained on first; steps are on the inputs of the kernels, as predicted ones."""
    scored, tasks, starts = lot.scored, lot.tasks, lot.starts
    groups = task.subject.order
    if not tasks:
        runs = {n: tune(p, [groups], seeds, steps, rates, seed) for n, p in starts.items()}
        counted = {}
        for name, start in starts.items():
            there = replace(small, subject=start.subject)
            counted |= measured_steps(there, {name: start.subject.params}, scored)
        return Measured(runs, counted, {})
    after = {name: one.pretrained(task, steps) for name, one in tasks.items()}
    ready = {SCRATCH: task.subject.params} | {name: one.params for name, one in after.items()}
    run = tune(task, [groups] * len(ready), seeds, steps, rates, seed, list(ready.values()))
    tuned = {name: run.alone(place) for place, name in enumerate(ready)}
    unfinished = {name: int(one.unfinished) for name, one in after.items()}
    return Measured(tuned, measured_steps(small, ready, scored), unfinished)


def measured_steps(
    small: Problem, starts: Mapping[str, Params], scored: Mapping[str, Source]
) -> dict[str, int | None]:
    """Of the model's own descent from these parameters, at the rate and to the level predicted."""
    rates = [scored[name].rate for name in starts]
    level = next(iter(scored.values())).level
    return dict(zip(starts, real_steps_to(small, list(starts.values()), rates, level)))


def from_scratch(task: Problem, own: Kernels, level: float | None = None) -> Source:
    """Scores of tuning a model as it is, in its own linearisation.

    Steps are counted until the training loss is `level`; `SHARE` of the untuned one unless given.
    """
    level = level_of(task, own) if level is None else level
    return _after(task, own, own.start_all, own.start_out, 0, level)


def level_of(task: Problem, own: Kernels) -> float:
    """`SHARE` of the untuned model's training loss."""
    return SHARE * float(losses_of(own.start, task.train.targets, task.loss).mean())


def after_task(task: Problem, own: Kernels, source: Taught, seed: int, pairs: int) -> Source:
    """Scores of a task to pretrain on, in the linearisation around the untrained model."""
    subject = source.subject
    away = task.learnt.followed_by(task.test)
    pretraining = landmarked(_pretraining(source, task.loss), seed, pairs).alone()
    before, targets = kernels(pretraining), pretraining.learnt.targets
    gram, tall = before.of(subject.order)[0], before.tall_of(subject.order)
    fitted = kernel_fits.fits(gram, tall, before.start_all, targets, task.loss)
    coefficients = kernel_fits.best(fitted, targets, task.loss).coefficients
    moved = taught(task.subject, source.head, pretraining, coefficients, away.inputs)
    start, start_out = np.split(moved, [len(task.learnt)])
    size, level = len(source.examples), level_of(task, own)
    return _after(task, own, own.start_all + start, own.start_out + start_out, size, level)


def _pretraining(source: Taught, loss: Loss) -> Problem:
    """The task of a source, of which nothing is held out."""
    return Problem(source.subject, source.examples, source.examples, loss, ())


def _after(
    task: Problem,
    own: Kernels,
    start: np.ndarray,
    start_out: np.ndarray,
    size: int,
    level: float,
) -> Source:
    """Scores of tuning from outputs `start` on what is learnt, `start_out` on what is held out."""
    gram, cross = own.of(task.subject.order)
    targets, loss = task.learnt.targets, task.loss
    tall = own.tall_of(task.subject.order)
    fit = kernel_fits.best(kernel_fits.fits(gram, tall, start, targets, loss), targets, loss)
    told = start_out + (cross @ fit.coefficients.ravel()).reshape(start_out.shape)
    held_out = losses_of(told, task.test.targets, loss)
    moved = float(np.sqrt(max(np.sum(fit.coefficients * fit.change), 0)))
    scores = {
        "linearised": float(held_out.mean()),
        "left_out": kernel_fits.left_out_risk(fit, targets, loss),
        "start": float(losses_of(start, targets, loss).mean()),
        "movement": moved,
        "size": float(size),
    }
    # Steps are those of descent on the landmarks, whose Gram is all that it needs.
    first, count = start[: own.landmarks], own.landmarks
    steps = steps_to(gram, first, task.train.targets, loss, level)
    return Source(scores, held_out, steps, 1 / curvature(gram, count, loss), level)


def _advice(
    task: Problem,
    scored: Mapping[str, Source],
    question: str,
    by: str,
    run: Measured | None,
    notes: list[str],
) -> Advice:
    measured = None if run is None else run.tuned
    sign = SCORES[by][1]
    order = sorted(scored, key=lambda name: sign * scored[name].scores[by])
    promised = order[0]
    if measured is not None:
        order.sort(key=lambda name: measured[name].risk(0)[0])
    rows = []
    for name in order:
        one = scored[name]
        row: dict[str, Any] = {
            "source": name,
            "start loss": one.scores["start"],
            "movement": one.scores["movement"],
            "steps": _counted(one.steps),
            "left out": one.scores["left_out"],
            "predicted": Uncertain(one.scores["linearised"], standard_error(one.held_out)),
            "examples": int(one.scores["size"]),
            "measured": None if measured is None else Uncertain(*measured[name].risk(0)),
        }
        if run is not None:
            row["measured steps"] = _counted(run.steps[name])
        if task.loss == "cross-entropy" and measured is not None:
            row["measured error"] = Uncertain(*measured[name].error(0))
        rows.append(row)
    columns = ["source", "start loss", "movement", "steps", "left out", "predicted"]
    if measured is not None:
        columns[2:4] = ["steps", "measured steps"]
        columns.append("measured")
    by_name = {row["source"]: row for row in rows}
    return Advice(
        "transfer",
        order[0],
        sentence(order[0], promised, by_name, scored, measured, question, by, task),
        tuple(rows),
        tuple(columns),
        tuple(checks_of(scored, run, by)),
        (
            record.told(question, by),
            *meanings(task, question, columns),
            *notes,
            *task.notes,
            *task.subject.notes,
        ),
        (panel(rows, task),),
    )


def _counted(steps: int | None) -> int | str:
    return "more" if steps is None else steps
