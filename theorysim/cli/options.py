"""What the commands share: common arguments and the progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

Id = Annotated[str, typer.Argument(metavar="ID", help="An id, or a name that only one paper has.")]
Files = Annotated[
    list[Path],
    typer.Option("--theorems", metavar="FILE", help="Also find the theorem of this Python file."),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Fix a size or a field; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contextmanager
def progress_bar(what: str = "instances") -> Iterator[Callable[[int, int], None] | None]:
    """A bar on the terminal's error stream; nothing where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
