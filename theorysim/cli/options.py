"""What the commands share: common arguments and the progress bar."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from theorysim.progress import Progress, progress_bar, silent

Id = Annotated[
    str,
    typer.Argument(
        metavar="ID|FILE.py",
        help="An id, a name that only one paper has, or a file with a theorem.",
    ),
]
Files = Annotated[
    list[Path],
    typer.Option("--theorems", metavar="FILE", help="Also find the theorem of this Python file."),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Fix a size or a field; repeatable."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def progress_on_terminal(what: str) -> AbstractContextManager[Progress]:
    """A bar where the error stream is a terminal, else nothing."""
    return progress_bar(what) if sys.stderr.isatty() else nullcontext(silent)
