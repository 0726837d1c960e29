"""Files of a user in the place of the data that come with packages: larger ones, or other ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType

from theorysim.errors import UsageError

_files: ContextVar[Mapping[str, Path]] = ContextVar("files", default=MappingProxyType({}))


def names() -> tuple[str, ...]:
    """The data for which there are files of the user."""
    return tuple(_files.get())


def file_of(name: str) -> Path | None:
    """The user's file for data of this name, if there is one."""
    return _files.get().get(name)


@contextmanager
def instead(files: Mapping[str, Path]) -> Iterator[None]:
    """Within, experiments find these files in the place of the data of these names.

    Raises:
        UsageError: for a file that is not there.
    """
    for path in files.values():
        if not path.is_file():
            raise UsageError(f"cannot read {path}: it is no file")
    before = _files.set(dict(files))
    try:
        yield
    finally:
        _files.reset(before)
