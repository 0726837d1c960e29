"""Tasks on the workers of a Dask cluster, each a process with one thread."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from theorysim.engine.many.attempt import failed
from theorysim.engine.many.task import Task
from theorysim.engine.many.verified import Verified
from theorysim.engine.many.worker import UnfitWorker, unfit, work
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client, Future

# How often a task is tried again that failed for want of memory or of a disk.
RETRIES = 3
# How long an address may take to answer.
PATIENCE = 10.0

SAME = "start workers with the same versions and code of theorysim and JAX as here"


@contextmanager
def connected(address: str) -> Generator[Client]:
    """A client of the scheduler at an address such as tcp://HOST:8786.

    Raises:
        UsageError: where nothing answers there, or Dask is not installed.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError as error:
        raise UsageError(
            f"{error.name} is not installed: many machines need `pip install 'theorysim[cluster]'`"
        ) from None
    try:
        resolve_address(address)  # a client of no address at all takes half a minute to give up
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {address} ({error}): name one that `dask scheduler` "
            "started, such as tcp://HOST:8786"
        ) from None
    # A lost scheduler is told in one line, not by the traceback of each attempt to find it again.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        yield client


def on_workers(
    tasks: Sequence[Task], client: Client, here: Mapping[str, str], retries: int
) -> Iterator[Verified]:
    """The results as they come; where the caller stops, what has not begun is not begun.

    Raises:
        UsageError: where a worker is not fit, or the cluster has ended.
    """
    from distributed import as_completed

    _check(client, here, tasks)
    running = {client.submit(work, task, here, pure=False, retries=retries): task for task in tasks}
    try:
        for future in as_completed(list(running), loop=client.loop):
            yield _result(running.pop(future), future)
    finally:
        client.cancel(list(running))


def _check(client: Client, here: Mapping[str, str], tasks: Sequence[Task]) -> None:
    """Refuse workers that would compute something else, before the work."""
    for address, threads in cast(dict[str, int], client.nthreads()).items():
        if threads != 1:
            raise UsageError(
                f"the worker {address} has {threads} threads: start it with `dask worker "
                "--nthreads 1 --nworkers N`, because JAX needs a process of its own for each task"
            )
    files = tasks[0].files if tasks else ()
    answers = client.run(unfit, files, here, on_error="return")
    for address, answer in cast(dict[str, object], answers).items():
        if answer:
            raise UsageError(f"the worker {address} cannot take part ({answer}): {SAME}")


def _result(task: Task, future: Future) -> Verified:
    from distributed import CancelledError

    try:
        return future.result()
    except UnfitWorker as error:
        raise UsageError(f"a worker cannot take part ({error}): {SAME}") from None
    except CancelledError:
        raise UsageError(
            "the cluster has ended, or lost its scheduler: start it and the same command again"
        ) from None
    except Exception as error:  # what it raised on every machine, or it ended too many workers
        return failed(task, error)
