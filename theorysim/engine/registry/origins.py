"""What a theorem object is made of, where all of that is known: the files of the package.

Only of statements of this package, as the registry loaded them, is that known: a user's file, or a
pack, may read whatever it likes while it is loaded, and an object that was changed or made by hand
has parts that stand in no file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from theorysim.loaded import is_as_loaded

if TYPE_CHECKING:
    from theorysim.claims.theorem import Theorem

PACKAGE = Path(__file__).parents[2]
OWN = PACKAGE / "theorems"

# What no program of a statement depends on: what sits on top, and what is recorded.
ASIDE = {
    *("advise", "authoring", "cli", "docs", "explore", "records", "report", "scenes", "site"),
    "theorems",
}
CACHES = {"__pycache__"}
PRINT = ".toml"  # what a paper prints, and in which letters

_FILES: WeakKeyDictionary[Theorem, Path] = WeakKeyDictionary()


def remember(theorem: Theorem, path: Path) -> None:
    """Note that a theorem object is what a file states."""
    if path.is_relative_to(OWN):
        _FILES[theorem] = path


def remember_like(theorem: Theorem, other: Theorem) -> None:
    """Note that a theorem object is made of what another is, and of what its programs' names say.

    So are those that differ in the number of their keys.
    """
    path = _FILES.get(other)
    if path is not None:
        _FILES[theorem] = path


def sources_of(theorem: Theorem) -> str | None:
    """A hash of all code and data that a theorem object rests on; None where it is not known.

    Of its paper and of the whole package, but for other papers and what sits on top. None, too,
    if some of it was changed since this process began, which may run the older code.
    """
    path = _FILES.get(theorem)
    return None if path is None else _hash_of(path.parent)


@cache
def _hash_of(paper: Path) -> str | None:
    digest = sha256()
    for path in sorted(_files(paper)):
        if not is_as_loaded(path):
            return None
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(paper: Path) -> Iterator[Path]:
    yield from (path for path in PACKAGE.iterdir() if path.is_file())
    yield from (path for path in OWN.iterdir() if path.is_file())
    rooms = [path for path in PACKAGE.iterdir() if path.is_dir()]
    kept = [room for room in rooms if room.name not in ASIDE | CACHES]
    for room in (*kept, paper):
        for folder, folders, names in os.walk(room):
            folders[:] = [name for name in folders if name not in CACHES]
            yield from (Path(folder, name) for name in names if not name.endswith(PRINT))
