"""Programs that run side by side, each on a thread of its own."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import jax

from theorysim.environment import programs_at_once

Item = TypeVar("Item")
Part = TypeVar("Part")


def side_by_side(
    function: Callable[[Item], Part], items: Iterable[Item], threads: int
) -> Generator[Part]:
    """What a function makes of items, in their order, by so many threads.

    As many again are begun before the first is read, and no more: who reads slowly holds few. Those
    that have not begun when their reader closes this are dropped, and the others waited for.
    """
    pool = ThreadPoolExecutor(threads)
    running: deque[Future[Part]] = deque()
    try:
        for item in items:
            running.append(pool.submit(function, item))
            if len(running) >= 2 * threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def threads_for(calls_libraries: bool) -> int:
    """How many parts of a program run at once: as many as there are processors.

    An accelerator takes them in turn. Calls of linear algebra wait for threads of one pool, and so
    do parts that make them, for ever if all threads wait.
    """
    if jax.default_backend() != "cpu":
        return 1
    allowed = getattr(os, "sched_getaffinity", None)  # of Linux alone
    processors = len(allowed(0)) if allowed else os.cpu_count() or 1
    return min(processors, programs_at_once()) if calls_libraries else processors
