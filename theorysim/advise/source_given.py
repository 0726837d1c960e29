"""Sources as they are given: tasks to pretrain on, and checkpoints of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from theorysim.advise.calls import first_of
from theorysim.advise.groups import Grouping
from theorysim.advise.heads import outputs_needed, rest_of, with_head
from theorysim.advise.problem import Examples, Problem, as_inputs, as_targets, rows_of
from theorysim.advise.subject import Params, Subject, subject
from theorysim.advise.tuning import Pretrained, pretrain
from theorysim.errors import UsageError


class Model(NamedTuple):
    """What is said of the model, of which checkpoints are others."""

    model: Any
    params: Any
    groups: Grouping
    batched: bool | None
    head: str | None


class Taught(NamedTuple):
    """A task to pretrain on."""

    examples: Examples
    subject: Subject
    """the model as it is pretrained, with a head of its own if `head` is given"""
    head: str | None
    """the group that the target's own replaces afterwards"""

    def pretrained(self, task: Problem, steps: int) -> Pretrained:
        """With the parameters with which the target starts."""
        learnt = pretrain(replace(task, subject=self.subject), self.examples, steps)
        if self.head is None:
            return learnt
        return learnt._replace(params=rest_of(learnt.params, self.head, task.subject.params))


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


def is_task(given: Any, params: Any) -> bool:
    """Whether it is a pair of inputs and targets, and not parameters that happen to be a pair."""
    if not (isinstance(given, tuple | list) and len(given) == 2):
        return False
    if params is None or jax.tree.structure(given) != jax.tree.structure(params):
        return True
    shapes = [[np.shape(leaf) for leaf in jax.tree.leaves(tree)] for tree in (given, params)]
    return shapes[0] != shapes[1]


def source_of(task: Problem, given: Any, head: str | None, seed: int) -> Taught:
    """A task, with a head of its own where it has another number of outputs, or `head` is given."""
    inputs = as_inputs(given[0])
    targets = as_targets(given[1], "targets")
    found, count = task.subject, outputs_needed(targets, task.loss)
    needed = count != found.outputs if task.loss == "squared" else count > found.outputs
    if needed and head is None:
        head = found.order[-1]
    trees = [jax.tree.structure(tree) for tree in (inputs, task.train.inputs)]
    if trees[0] != trees[1]:
        raise UsageError(
            f"its inputs are of the form {trees[0]}, those of the target of {trees[1]}"
        )
    shapes = [leaf.shape[1:] for leaf in jax.tree.leaves(inputs)]
    if shapes != task.train.shapes():
        raise UsageError(
            f"an input has shape {shapes}, one of the target has {task.train.shapes()}"
        )
    if head is not None:
        found = with_head(found, head, count, first_of(inputs), seed)
    length = len(targets) if targets.ndim else 0
    source = Examples(inputs, rows_of(targets, length, found.outputs, task.loss, "targets"))
    if len(source) != source.count_inputs():
        raise UsageError(f"{source.count_inputs()} inputs, {len(source)} targets: one for each")
    return Taught(source, found, head)


def checkpoint_of(how: Model, given: Any, task: Problem) -> Checkpoint:
    """The target's task from a checkpoint, whose head is replaced where it has other outputs."""
    inputs, head = task.train.inputs, how.head
    if how.params is None:
        found = subject(given, inputs, None, how.groups, how.batched)
    else:
        found = subject(how.model, inputs, given, how.groups, how.batched)
    own, had, came = task.subject, found.outputs, found.params
    if head is None and had != own.outputs:
        head = own.order[-1]
    if head is not None and head in came:
        found = replace(
            found, params=rest_of(came, head, own.params), order=own.order, outputs=own.outputs
        )
    shapes = [jax.tree.map(np.shape, one.params) for one in (found, own)]
    if shapes[0] != shapes[1] or found.outputs != own.outputs:
        raise UsageError(
            "parameters of another model than `model`: give checkpoints of it, with the same names "
            "and shapes but for the head"
        )
    return Checkpoint(replace(task, subject=found), had, head, came)


def head_note(name: str, outputs: int, head: str | None, task: Problem) -> list[str]:
    """That a source of so many outputs had another head, where it had."""
    if head is None:
        return []
    return [
        f"source {name} has a head of its own ({outputs} outputs), replaced by the {head} of "
        f"`model` ({task.subject.outputs}) for the target"
    ]
