"""Waiting for changes of a file and its neighbours, by their times of modification: no library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from theorysim.engine.registry.neighbours import with_neighbours

# Seconds between two looks: one call of the operating system each, an editor saves no faster.
PERIOD = 0.3


def changes(path: Path, sleep: Callable[[float], None] | None = None) -> Iterator[None]:
    """One item at once, and one after every change of a file, for ever; a lost file is waited for.

    The files of its folder that it imports count as it does.
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


def _state(path: Path) -> list[tuple[int, int, int]] | None:
    try:
        found = [file.stat() for file in with_neighbours(path.resolve())]
    except OSError:
        return None
    return [(each.st_mtime_ns, each.st_size, each.st_ino) for each in found]
