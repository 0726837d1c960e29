"""The workers of a cluster that compute as this process does; the others are left out, and told."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from theorysim.engine.many.task import Code
from theorysim.engine.many.worker import unfit
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client

# Seconds between two looks at who is there.
LOOK = 1.0

SAME = "start workers with the same versions and code of theorysim and JAX as here"
ENDED = "the cluster has ended, or lost its scheduler: start it and the same command again"


class WorkerLeftOut(UserWarning):
    """A worker would compute something else: it gets no tasks, and the others go on."""


class Staff:
    """Who may be given the tasks of one run. Workers may come and go.

    Args:
        client: of the cluster.
        code: what the tasks run beside this package.
        here: the `standing` of this process.
    """

    def __init__(self, client: Client, code: Code, here: Mapping[str, str]):
        self._client, self._code, self._here = client, code, here
        self._fit: set[str] = set()
        self._unfit: dict[str, str] = {}
        self._present: frozenset[str] = frozenset()
        self._looked = -LOOK

    def present(self) -> frozenset[str]:
        """The addresses of those that are fit and were there a second ago, or are now.

        Raises:
            UsageError: where nobody is fit, or the cluster has ended.
        """
        now = time.monotonic()
        if now - self._looked >= LOOK:
            self._present = frozenset(self._look())
            self._looked = now
        return self._present

    def dismiss(self, address: str, problem: str) -> None:
        """Give a worker no further tasks, which found out by its first one that it is unfit."""
        self._fit.discard(address)
        self._present -= {address}
        if address not in self._unfit:
            self._leave_out({address: _cannot(problem)}, {address, *self._present})

    def _look(self) -> Iterable[str]:
        threads = cast(dict[str, int], _asked(self._client.nthreads))
        new = [one for one in threads if one not in self._fit and one not in self._unfit]
        answers = self._answers(new) if new else {}
        problems = {}
        for address, answer in answers.items():
            if threads[address] != 1:
                problems[address] = (
                    f"has {threads[address]} threads: start it with `dask worker --nthreads 1 "
                    "--nworkers N`, because JAX needs a process of its own for each task"
                )
            elif answer == "":
                self._fit.add(address)
            elif not isinstance(answer, OSError):  # else it has gone, or is asked again
                problems[address] = _cannot(answer)
        self._leave_out(problems, threads)
        return self._fit & threads.keys()

    def _answers(self, addresses: list[str]) -> Mapping[str, object]:
        """What keeps each of them from taking part: words, an error, or "" for nothing."""
        ask = partial(self._client.run, unfit, self._code, self._here, on_error="return")
        return cast(dict[str, object], _asked(partial(ask, workers=addresses)))

    def _leave_out(self, problems: Mapping[str, str], there: Iterable[str]) -> None:
        """Tell of these workers; raise where there are others of this kind only."""
        self._unfit.update(problems)
        if not self._fit and self._unfit.keys() >= set(there) and set(there):
            raise UsageError("; ".join(_told({one: self._unfit[one] for one in there})))
        for line in _told(problems):
            warnings.warn(line, WorkerLeftOut, stacklevel=2)


def _asked(question: Callable[[], Any]) -> Any:
    """The cluster's answer; raises UsageError where it has ended."""
    try:
        return question()
    except (OSError, RuntimeError):  # a lost connection, or a client that has closed for it
        raise UsageError(ENDED) from None


def _cannot(problem: object) -> str:
    told = f"{type(problem).__name__}: {problem}" if isinstance(problem, Exception) else problem
    return f"cannot take part ({told}): {SAME}"


def _told(problems: Mapping[str, str]) -> Iterable[str]:
    """A line for each problem, with one worker that has it and the number of the others."""
    having: dict[str, list[str]] = defaultdict(list)
    for address, problem in problems.items():
        having[problem].append(address)
    for problem, (first, *others) in having.items():
        yield f"the worker {first} {problem}" + f" (and {len(others)} more)" * bool(others)
