"""Which of several sources to start from: tasks to pretrain on, or checkpoints that are there.

For a task, the model is pretrained and tuned in one and the same linearisation around its start, as
Liu, Long, Wang and Jordan (2019) do for wide ReLU networks: the target's outputs after the source
are f0 + K_(QP) c, the mismatch is what is left to learn. For a checkpoint, the linearisation is
around the checkpoint itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from theorysim.advise import kernel_fits, record
from theorysim.advise.answer import Advice, Uncertain
from theorysim.advise.given import checked
from theorysim.advise.groups import Grouping, shown
from theorysim.advise.heads import cross_kernels, outputs_needed, rest_of, with_head
from theorysim.advise.kernels import PAIRS, Kernels, fitting, kernels
from theorysim.advise.layer_words import standard_error
from theorysim.advise.paths import curvature, real_steps_to, steps_to
from theorysim.advise.problem import (
    Examples,
    Loss,
    Problem,
    as_inputs,
    as_targets,
    losses_of,
    problem,
    rows_of,
)
from theorysim.advise.source_checks import SCORES, TRIVIAL, Measured, checks_of
from theorysim.advise.source_words import SCRATCH, SHARE, Source, meanings, panel, sentence
from theorysim.advise.subject import Params, Subject, subject
from theorysim.advise.tuning import RATES, pretrain, tune
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
        head: the group that is replaced for every source; unless given, the one that the model
            uses last, and for sources with another number of outputs only.
        by: the score that ranks (`SCORES` here); the one with the best record unless given.
        pairs: rows of the Gram, inputs times outputs.
        measure: pretrain on every task, tune on the target from every source, and measure the risk
            and the steps.
        seeds, steps, rates: of what is measured, see `theorysim.advise.layers`.
        seed: of all draws.
        progress: told what is being done.

    Raises:
        UsageError: for what does not fit together, in one line.
    """
    _check(sources, params, by)
    found = subject(model, as_inputs(inputs), params, groups, batched)
    if head is not None and head not in found.order:
        raise UsageError(f"head: no group {head!r}; there are {shown(found.order)}")
    task = problem(found, as_inputs(inputs), targets, test, loss, seed)
    small, notes = fitting(task, seed, pairs)
    own = kernels(small)
    scored, tasks, starts = {SCRATCH: from_scratch(small, own)}, {}, {SCRATCH: task}
    came: dict[str, Any] = {SCRATCH: found.params}
    for place, (name, given) in enumerate(sources.items()):
        progress(place, len(sources) + 1, f"score {name}")
        if _is_task(given, params):
            tasks[name] = _source(small, name, given, head, seed)
            came[name] = (tasks[name].examples.inputs, tasks[name].examples.targets)
            scored[name] = after_task(small, own, tasks[name], seed, pairs)
            notes += _head_note(name, tasks[name].subject.outputs, tasks[name].head, task)
        else:
            ready = _checkpoint(model, params, given, name, task, groups, batched, head)
            starts[name], came[name] = ready.problem, ready.came
            little, _ = fitting(ready.problem, seed, pairs)
            scored[name] = from_scratch(little, kernels(little), level_of(small, own))
            notes += _head_note(name, ready.outputs, ready.head, task)
    check_distinct("sources", came)
    question = "transfer" if tasks else "checkpoints"
    by = by or record.winner(question, [n for n in SCORES if n not in TRIVIAL])
    measured = None
    if measure:
        progress(len(sources), len(sources) + 1, "tune from every source")
        measured = _measure(task, small, scored, tasks, starts, seeds, steps, rates, seed)
    return _advice(task, scored, question, by, measured, notes)


def _check(sources: Mapping[str, Any], params: Any, by: str | None) -> None:
    if SCRATCH in sources:
        raise UsageError(f"sources: {SCRATCH!r} means the model as it is: give another name")
    if len({_is_task(given, params) for given in sources.values()}) > 1:
        raise UsageError(
            "sources: give tasks or checkpoints, not both: their scores do not compare"
        )
    if by is not None and by not in SCORES:
        raise UsageError(f"by={by!r}: expected one of {', '.join(SCORES)}")


class Taught(NamedTuple):
    """A task to pretrain on."""

    examples: Examples
    subject: Subject
    """the model as it is pretrained, with a head of its own if `head` is given"""
    head: str | None
    """the group that the target's own replaces afterwards"""

    def pretrained(self, task: Problem, steps: int) -> Params:
        """Parameters with which the target starts."""
        learnt = pretrain(replace(task, subject=self.subject), self.examples, steps)
        return learnt if self.head is None else rest_of(learnt, self.head, task.subject.params)


class Checkpoint(NamedTuple):
    """A model to start from, and how it came."""

    problem: Problem
    """the target's task from it"""
    outputs: int
    """how many it had"""
    head: str | None
    """the group that the target's own replaces"""
    came: Params
    """its parameters, the head among them"""


def _measure(
    task: Problem,
    small: Problem,
    scored: Mapping[str, Source],
    tasks: Mapping[str, Taught],
    starts: Mapping[str, Problem],
    seeds: int,
    steps: int,
    rates: Sequence[float],
    seed: int,
) -> Measured:
    """Tasks are pretrained on first; steps are on the inputs of the kernels, as predicted ones."""
    groups = task.subject.order
    if not tasks:
        runs = {n: tune(p, [groups], seeds, steps, rates, seed) for n, p in starts.items()}
        counted = {}
        for name, start in starts.items():
            there = replace(small, subject=start.subject)
            counted |= measured_steps(there, {name: start.subject.params}, scored)
        return Measured(runs, counted)
    ready = {SCRATCH: task.subject.params}
    ready |= {name: one.pretrained(task, steps) for name, one in tasks.items()}
    run = tune(task, [groups] * len(ready), seeds, steps, rates, seed, list(ready.values()))
    tuned = {name: run.alone(place) for place, name in enumerate(ready)}
    return Measured(tuned, measured_steps(small, ready, scored))


def measured_steps(
    small: Problem, starts: Mapping[str, Params], scored: Mapping[str, Source]
) -> dict[str, int | None]:
    """Of the model's own descent from these parameters, at the rate and to the level predicted."""
    rates = [scored[name].rate for name in starts]
    level = next(iter(scored.values())).level
    return dict(zip(starts, real_steps_to(small, list(starts.values()), rates, level)))


def _is_task(given: Any, params: Any) -> bool:
    """Whether it is a pair of inputs and targets, and not parameters that happen to be a pair."""
    if not (isinstance(given, tuple | list) and len(given) == 2):
        return False
    if params is None or jax.tree.structure(given) != jax.tree.structure(params):
        return True
    shapes = [[np.shape(leaf) for leaf in jax.tree.leaves(tree)] for tree in (given, params)]
    return shapes[0] != shapes[1]


def _source(task: Problem, name: str, given: Any, head: str | None, seed: int) -> Taught:
    """A task, with a head of its own where it has another number of outputs, or `head` is given."""
    inputs = as_inputs(given[0], f"inputs of {name}")
    targets = as_targets(given[1], f"targets of {name}")
    found, count = task.subject, outputs_needed(targets, task.loss)
    needed = count != found.outputs if task.loss == "squared" else count > found.outputs
    if needed and head is None:
        head = found.order[-1]
    shapes = [leaf.shape[1:] for leaf in jax.tree.leaves(inputs)]
    if shapes != task.train.shapes():
        raise UsageError(
            f"source {name}: an input has shape {shapes}, one of the target has "
            f"{task.train.shapes()}"
        )
    if head is not None:
        first = jax.tree.map(lambda leaf: leaf[0], inputs)
        try:
            found = with_head(found, head, count, first, seed)
        except UsageError as error:
            raise UsageError(f"source {name}: {error}") from None
    length = len(targets) if targets.ndim else 0
    rows = rows_of(targets, length, found.outputs, task.loss, f"targets of {name}")
    source = Examples(inputs, rows)
    if len(source) != source.count_inputs():
        raise UsageError(
            f"source {name}: {source.count_inputs()} inputs, {len(source)} targets: one for each"
        )
    return Taught(source, found, head)


def _checkpoint(
    model: Any,
    params: Any,
    given: Any,
    name: str,
    task: Problem,
    groups: Grouping,
    batched: bool | None,
    head: str | None,
) -> Checkpoint:
    """The target's task from a checkpoint, whose head is replaced where it has other outputs."""
    try:
        if params is None:
            found = subject(given, task.train.inputs, None, groups, batched)
        else:
            found = subject(model, task.train.inputs, given, groups, batched)
    except UsageError as error:
        raise UsageError(f"source {name}: {error}") from None
    own, had = task.subject, found.outputs
    if head is None and had != own.outputs:
        head = own.order[-1]
    params = found.params
    if head is not None and head in params:
        found = replace(
            found, params=rest_of(params, head, own.params), order=own.order, outputs=own.outputs
        )
    shapes = [jax.tree.map(np.shape, one.params) for one in (found, own)]
    if shapes[0] != shapes[1] or found.outputs != own.outputs:
        raise UsageError(
            f"source {name}: parameters of another model than `model`: give checkpoints of it, "
            "with the same names and shapes but for the head"
        )
    return Checkpoint(replace(task, subject=found), had, head, params)


def _head_note(name: str, outputs: int, head: str | None, task: Problem) -> list[str]:
    if head is None:
        return []
    return [
        f"source {name} has a head of its own ({outputs} outputs), replaced by the {head} of "
        f"`model` ({task.subject.outputs}) for the target"
    ]


def from_scratch(task: Problem, own: Kernels, level: float | None = None) -> Source:
    """Scores of tuning a model as it is, in its own linearisation.

    Steps are counted until the training loss is `level`; `SHARE` of the untuned one unless given.
    """
    gram, cross = own.of(task.subject.order)
    level = level_of(task, own) if level is None else level
    return _after(task, gram, cross, own.start, own.start_out, 0, level)


def level_of(task: Problem, own: Kernels) -> float:
    """`SHARE` of the untuned model's training loss."""
    return SHARE * float(losses_of(own.start, task.train.targets, task.loss).mean())


def after_task(task: Problem, own: Kernels, source: Taught, seed: int, pairs: int) -> Source:
    """Scores of a task to pretrain on, in the linearisation around the untrained model."""
    subject = source.subject
    pretraining = Problem(subject, source.examples, task.train, task.loss, ())
    pretraining = pretraining.some(max(2, pairs // subject.outputs), seed)
    examples = pretraining.train
    if source.head is None:
        before = kernels(pretraining)
        away = kernels(replace(pretraining, test=task.test))
        gram, cross = before.of(subject.order)
        cross_out, first = away.of(subject.order)[1], before.start
    else:
        sides = {"own": task.train.inputs, "out": task.test.inputs}
        gram, crossed = cross_kernels(task.subject, subject, source.head, sides, examples)
        cross, cross_out = crossed["own"], crossed["out"]
        first = np.asarray(jax.jit(subject.batch)(subject.params, examples.inputs), float)
    fitted = kernel_fits.fits(gram, first, examples.targets, task.loss)
    learnt = kernel_fits.best(fitted, examples.targets, task.loss).coefficients.ravel()
    start = own.start + (cross @ learnt).reshape(own.start.shape)
    start_out = own.start_out + (cross_out @ learnt).reshape(own.start_out.shape)
    size, level = len(source.examples), level_of(task, own)
    return _after(task, *own.of(task.subject.order), start, start_out, size, level)


def _after(
    task: Problem,
    gram: np.ndarray,
    cross: np.ndarray,
    start: np.ndarray,
    start_out: np.ndarray,
    size: int,
    level: float,
) -> Source:
    targets, loss = task.train.targets, task.loss
    fit = kernel_fits.best(kernel_fits.fits(gram, start, targets, loss), targets, loss)
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
    rate = 1 / curvature(gram, len(start), loss)
    return Source(scores, held_out, steps_to(gram, start, targets, loss, level), rate, level)


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
