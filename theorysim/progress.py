"""What long work tells while it runs: calls of a function, or a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with how much is done, how much there is in all, and what is being done now.
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, what: str) -> None:
    """Tell nothing."""


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """A bar on the error stream: what is being done, how far it is, since when, how long still."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.progress import TimeRemainingColumn as Remaining

    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Bar(*parts, Elapsed(), Remaining(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def report(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=text)

        yield report
