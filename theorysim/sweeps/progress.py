"""What a sweep reports while it runs: a bar with the time left, or calls of the user's function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the cells done, the cells in all, and what happens.
SweepProgress = Callable[[int, int, str], None]


@contextmanager
def progress_reporter(progress: SweepProgress | bool) -> Iterator[SweepProgress]:
    """What to call: the user's function, a bar on the error stream, or nothing."""
    if callable(progress):
        yield progress
    elif progress:
        with _bar() as report:
            yield report
    else:
        yield lambda done, total, text: None


@contextmanager
def _bar() -> Iterator[SweepProgress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*parts, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("sweep", total=None)

        def report(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=text)

        yield report
