"""What a worker of a cluster runs. It imports nothing heavy before it has prepared its process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from theorysim.engine.many.task import Task
from theorysim.environment import collect_rarely, prepare
from theorysim.errors import UsageError, is_out_of_memory

if TYPE_CHECKING:
    from theorysim.engine.many.verified import Verified

# Programs of JAX, its settings and loaded modules belong to a process: one statement at a time.
ALONE = threading.Lock()


class UnfitWorker(UsageError):
    """A worker would compute with something else than the process that asks."""


def unfit(files: tuple[str, ...], here: Mapping[str, str]) -> str:
    """What keeps this process from computing as one whose `standing` is `here`; "" if nothing."""
    prepare()
    collect_rarely()
    from theorysim.engine.many.standing import difference, standing

    try:
        there = standing(files)
    except UsageError as error:
        return str(error)
    return difference(there, here)


def work(task: Task, here: Mapping[str, str]) -> Verified:
    """Verify a statement; what it raises is its result.

    Raises:
        UnfitWorker: where this process computes with something else.
        OSError: a disk or a network fails, which another machine may not meet.
        MemoryError: nor this; and what JAX raises where its memory is too short.
    """
    with ALONE:
        if problem := unfit(task.files, here):
            raise UnfitWorker(problem)
        from theorysim.engine.many.attempt import attempt, failed

        try:
            return attempt(task)
        except Exception as error:  # whatever a statement raises
            if isinstance(error, OSError) or is_out_of_memory(error):
                raise
            return failed(task, error)
