"""Waiting for changes of a file, by its time of modification: no library, nothing to install."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

# Seconds between two looks: one call of the operating system each, an editor saves no faster.
PERIOD = 0.3


def changes(path: Path, sleep: Callable[[float], None] | None = None) -> Iterator[None]:
    """One item at once, and one after every change of a file, for ever; a lost file is waited for.

    Editors replace a file by another of the same name, so that it is not there for a moment.
    """
    seen = None
    while True:
        state = _state(path)
        if state is not None and state != seen:
            seen = state
            yield
        else:
            (sleep or time.sleep)(PERIOD)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
