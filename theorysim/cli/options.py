"""What the commands share: common arguments, checks of files to be written, the progress bar."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from theorysim.environment import cache_folder
from theorysim.errors import UsageError
from theorysim.progress import Progress, progress_bar, silent

if TYPE_CHECKING:
    from distributed import Client
    from rich.console import Console

# The exit code of a command that SIGINT ends.
INTERRUPTED = 130


def known_ids(incomplete: str) -> list[str]:
    """Ids and names of statements that begin so, for the completion of shells."""
    from theorysim.engine import registry

    entries = registry.catalogue()
    names = (name for entry in entries for name in (entry.id, entry.name))
    return sorted({name for name in names if name.startswith(incomplete)})


Id = Annotated[
    str,
    typer.Argument(
        metavar="ID|FILE.py",
        help="An id, a name that only one paper has, or a file with a theorem.",
        autocompletion=known_ids,
    ),
]
Files = Annotated[
    list[Path],
    typer.Option("--theorems", metavar="FILE", help="Also find the theorems of this Python file."),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Fix a size or a field; repeatable."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="On the Dask cluster of this scheduler."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def progress_on_terminal(what: str) -> AbstractContextManager[Progress]:
    """A bar where the error stream is a terminal, else nothing."""
    return progress_bar(what) if is_terminal(sys.stderr) else nullcontext(silent)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether it is one; a stream that was closed before the process began is None."""
    return stream is not None and stream.isatty()


def kept_folder(name: str) -> Path | None:
    """Where finished stages or runs are kept; nowhere, if the cache cannot be written."""
    folder = cache_folder() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


@contextmanager
def interruptible(kept: Path | None, unit: str) -> Iterator[None]:
    """End an interrupted command with a sentence on how it goes on after the last finished unit."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is not None:
            again = f"the same command, without --fresh, goes on after the last finished {unit}"
            typer.echo(f"theorysim: interrupted; {again}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def cluster(scheduler: str | None) -> AbstractContextManager[Client | None]:
    """The client of a scheduler; None, without a look at Dask, where there is no address."""
    if scheduler is None:
        return nullcontext()
    from theorysim.engine.many.cluster import connected

    return connected(scheduler, lambda line: typer.echo(f"theorysim: {line}", err=True))


def check_file(file: Path | None) -> None:
    """Refuse a file that cannot be written before the work, not after it."""
    if file is None:
        return
    if file.is_dir():
        raise UsageError(f"cannot write {file}: it is a folder")
    if not (file.parent.is_dir() and os.access(file.parent, os.W_OK)):
        raise UsageError(f"cannot write {file}: {file.parent} is not a writable folder")


def check_picture(file: Path | None) -> None:
    """Refuse a picture that cannot be written, or that no format is known for, before the work."""
    check_file(file)
    if file is not None:
        from theorysim.report import sheet

        sheet.check_picture(file)


def console() -> Console:
    """The terminal, on which brackets are brackets and numbers have no colours."""
    from rich.console import Console

    return Console(markup=False, highlight=False)
