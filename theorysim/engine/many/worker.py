"""What a worker of a cluster runs. It imports nothing heavy before it has prepared its process."""

from __future__ import annotations

import pickle
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from theorysim.engine.many.task import Code, Task, UnfitWorker
from theorysim.environment import collect_rarely, prepare
from theorysim.errors import UsageError, is_out_of_memory

# Programs of JAX, its settings and loaded modules belong to a process: one task at a time.
ALONE = threading.Lock()


@dataclass(frozen=True)
class Refusal:
    """A worker's word that it would compute something else, and why."""

    address: str
    problem: str


@dataclass(frozen=True)
class Raised:
    """What a task raises on every machine."""

    error: Exception


def unfit(code: Code, here: Mapping[str, str]) -> str:
    """What keeps this process from computing as one whose `standing` is `here`; "" if nothing."""
    prepare()
    collect_rarely()
    from theorysim.engine.many.standing import difference, standing

    try:
        there = standing(code)
    except UsageError as error:
        return str(error)
    return difference(there, here)


def work(task: Task, here: Mapping[str, str]) -> Any:
    """The result of a task, what it raised, or a Refusal by a process that is not fit for it.

    Raises:
        OSError: a disk or a network fails, which another machine may not meet.
        MemoryError: nor this; and what JAX raises where its memory is too short.
    """
    with ALONE:
        if problem := unfit(task.code, here):
            return _refusal(problem)
        try:
            return task.work()
        except UnfitWorker as error:
            return _refusal(str(error))
        except Exception as error:
            if may_pass(error):
                raise
            return Raised(_travelling(error))


def may_pass(error: Exception) -> bool:
    """Whether another try, or another machine, may not meet this error."""
    return isinstance(error, OSError) or is_out_of_memory(error)


def _refusal(problem: str) -> Refusal:
    from distributed import get_worker

    return Refusal(get_worker().address, problem)


def _travelling(error: Exception) -> Exception:
    """The error, or one that says the same and can be pickled; with its traceback as a note."""
    told = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever such an error makes pickle raise
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(f"On a worker:\n{told}")
    return error
