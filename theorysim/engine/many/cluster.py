"""Tasks on the workers of a Dask cluster, each a process with one thread."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from theorysim.engine.many.desk import AnyTask, Desk
from theorysim.engine.many.staff import WorkerLeftOut
from theorysim.engine.many.worker import Raised
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client

# How often a task is tried again that failed on its worker, as for want of memory or of a disk.
RETRIES = 3
# How long an address may take to answer.
PATIENCE = 10.0


@contextmanager
def connected(address: str, tell: Callable[[str], None]) -> Generator[Client]:
    """A client of the scheduler at an address such as tcp://HOST:8786.

    Within, `tell` is called with a line for each worker that is left out.

    Raises:
        UsageError: where nothing answers there, or Dask is not installed.
    """
    with _client(address) as client, _told_by(tell):
        if not client.nthreads():
            tell(f"{address} has no workers yet; waiting for them")
        yield client


def _client(address: str) -> Client:
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
    return client


@contextmanager
def _told_by(tell: Callable[[str], None]) -> Generator[None]:
    """Warnings of workers that are left out as lines of a command."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", WorkerLeftOut)
        show = warnings.showwarning

        def told(message: Warning | str, category: type[Warning], *others: Any) -> None:
            if issubclass(category, WorkerLeftOut):
                tell(f"left out: {message}")
            else:
                show(message, category, *others)

        warnings.showwarning = told
        yield


def on_workers(
    tasks: Sequence[AnyTask],
    client: Client,
    here: Mapping[str, str],
    *,
    retries: int = RETRIES,
    failed: Callable[[AnyTask, Exception], Any] | None = None,
) -> Iterator[tuple[AnyTask, Any]]:
    """The tasks with their results, as they come; where the caller stops, no further one begins.

    Workers that would compute with other versions or code are left out with a warning. Tasks of one
    call run the same code; each is given to whichever worker is there, and to another one if that
    is lost.

    Args:
        tasks: pure functions, for `work` may be called more than once.
        client: of the cluster.
        here: the `standing` of this process with the code of the tasks.
        retries: how often a task is tried again that raised on its worker.
        failed: what stands for the result of a task that raised, or whose workers were lost.
            Without it the error is raised here.

    Raises:
        UsageError: where no worker is fit, or the cluster has ended.
        WorkersLost: where a task ended too many workers.
    """
    if not tasks:
        return
    desk = Desk(tasks, client, here, retries)
    try:
        while desk.is_open:
            desk.hand_out()
            for task, result in desk.take_in():
                if not isinstance(result, Raised):
                    yield task, result
                elif failed is None:
                    raise result.error
                else:
                    yield task, failed(task, result.error)
    finally:
        desk.close()
