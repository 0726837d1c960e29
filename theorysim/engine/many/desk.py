"""Where tasks wait for workers of a cluster, are handed out, and come back."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from theorysim.engine.many.staff import ENDED, LOOK, Staff
from theorysim.engine.many.task import Task
from theorysim.engine.many.worker import Raised, Refusal, work
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client, Future

# Tasks that a worker has: the one that it does, and the next.
AHEAD = 2
# How often all the workers that could have done a task may be lost before it is given up, as the
# scheduler gives up one that ended so many workers.
LOSSES = 4
# How long a result may travel before it is asked who has it.
TRAVEL = 10.0

AnyTask = TypeVar("AnyTask", bound=Task)


class WorkersLost(UsageError):
    """A task ended every worker that did it, or they were lost otherwise."""


class Desk(Generic[AnyTask]):
    """The tasks of one call, which all run the same code.

    Few are handed out at a time, to the workers that are there: one that joins later gets the next.
    Which of these does one is Dask's to say, also when that one is lost; a task is handed out anew
    once all of them are.
    """

    def __init__(
        self, tasks: Sequence[AnyTask], client: Client, here: Mapping[str, str], retries: int
    ):
        self._tasks, self._client, self._here, self._retries = tasks, client, here, retries
        self._staff = Staff(client, tasks[0].code, here)
        self._waiting = deque(range(len(tasks)))
        self._running: dict[Future, tuple[int, frozenset[str]]] = {}
        self._ended: SimpleQueue[Future] = SimpleQueue()
        self._losses: Counter[int] = Counter()
        self._given_up: list[int] = []

    @property
    def is_open(self) -> bool:
        """Whether a result is still to come."""
        return bool(self._waiting or self._running or self._given_up)

    def hand_out(self) -> None:
        """Give tasks to those who are there, first the tasks of those who have gone.

        Raises:
            UsageError: where no worker is fit, or the cluster has ended.
        """
        there = self._staff.present()
        for future in [one for one in self._running if self._is_stranded(one)]:
            self._take_back(future)
        while self._waiting and len(self._running) < AHEAD * len(there):
            number = self._waiting.popleft()
            future = self._client.submit(
                work,
                self._tasks[number],
                self._here,
                pure=False,
                retries=self._retries,
                workers=list(there),
                allow_other_workers=False,
            )
            self._running[future] = number, there
            future.add_done_callback(self._ended.put)

    def take_in(self) -> Iterator[tuple[AnyTask, Any]]:
        """A task that has come back, with its result or Raised; nothing where for a while none did.

        Raises:
            UsageError: where the cluster has ended, or no worker was fit.
        """
        while self._given_up:
            number = self._given_up.pop()
            yield self._tasks[number], _lost(f"all of its workers were lost {LOSSES} times")
        try:
            future = self._ended.get(timeout=LOOK)
        except Empty:
            return
        if future not in self._running:  # it was taken back
            return
        result = self._result(future)
        if future not in self._running:
            return
        number, _ = self._running.pop(future)
        if isinstance(result, Refusal):
            self._waiting.appendleft(number)
            self._staff.dismiss(result.address, result.problem)
        else:
            yield self._tasks[number], result

    def close(self) -> None:
        """Take back what has not come back."""
        with suppress(OSError, RuntimeError):  # the cluster has ended, which is told elsewhere
            self._client.cancel(list(self._running))

    def _result(self, future: Future) -> Any:
        """What came back; a future whose result was lost with all its workers is taken back."""
        from distributed import CancelledError
        from distributed.scheduler import KilledWorker

        while future in self._running:
            try:
                return future.result(timeout=TRAVEL)
            except CancelledError:
                raise UsageError(ENDED) from None
            except KilledWorker as error:
                return _lost(f"{error.allowed_failures + 1} workers ended that did it")
            except Exception as error:
                if not isinstance(error, TimeoutError) or future.status == "error":
                    return Raised(error)
                self._staff.present()
                if self._is_stranded(future):
                    self._take_back(future)
        return None

    def _is_stranded(self, future: Future) -> bool:
        """Whether all to whom it was given have gone, and it had not come back before."""
        _, given_to = self._running[future]
        return not given_to & self._staff.present() and not future.done()

    def _take_back(self, future: Future) -> None:
        number, _ = self._running.pop(future)
        self._client.cancel([future])
        self._losses[number] += 1
        if self._losses[number] >= LOSSES:
            self._given_up.append(number)
        else:
            self._waiting.appendleft(number)


def _lost(told: str) -> Raised:
    return Raised(WorkersLost(f"{told}: it may want more memory than a worker has"))
