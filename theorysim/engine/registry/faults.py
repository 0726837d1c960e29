"""Errors of authors' own files, in one line: the place, what is wrong, and the remedy."""

from __future__ import annotations

import sys
import traceback
from importlib.metadata import entry_points
from pathlib import Path

from theorysim.engine.registry.remedies import in_words
from theorysim.errors import UsageError

GROUP = "theorysim.theorems"
LOCAL_MODULE = "_theorysim_local_"  # modules of single files are called so


def fault_in_a_file(error: BaseException) -> str | None:
    """Place, error and remedy of what passed through a file of an author's; else None."""
    files = _files_of_authors()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
    if not frames:
        return None
    place = f"{frames[-1].filename}:{frames[-1].lineno}: "
    message = in_words(error)
    return message if message.startswith(frames[-1].filename) else place + message


def blame(error: BaseException, path: Path) -> str:
    """The same with the innermost line of the statement's own folder, of a file that is loaded."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_relative_to(path.parent)]
    place = f"{own[-1].filename}:{own[-1].lineno}" if own else f"{path}:1"
    return f"{place}: {in_words(error)}"


def located(error: UsageError) -> str:
    """The message of a request that cannot be served, with the author's line that it came from."""
    return fault_in_a_file(error) or str(error)


def _files_of_authors() -> set[str | None]:
    """The files of single statements and of packs that are loaded."""
    packs = {point.value.partition(".")[0] for point in entry_points(group=GROUP)}
    return {
        getattr(module, "__file__", None)
        for name, module in list(sys.modules.items())
        if name.startswith(LOCAL_MODULE) or name.partition(".")[0] in packs
    }
