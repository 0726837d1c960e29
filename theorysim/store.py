"""A folder of files that can be made again: bounded, whole or not there, and never trusted.

Several processes may use it at once, and files of others may lie in it. A file begins with the
SHA-256 of its name and the rest; one that does not fit is as good as none, and is replaced once its
content has been made anew.
"""

from __future__ import annotations

import logging
import os
import zlib
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from theorysim.environment import PROGRAMS
from theorysim.files import write_whole

DIGEST = sha256().digest_size
# By which a file is known to be one of these; a half-written one has a dot before it.
PREFIX = "theorysim-"
# Compresses programs to a quarter, in a hundredth of the time that it takes to make them.
LEVEL = 1
# What is left after a clearance, so that not every further file asks for one.
KEPT_SHARE = 3 / 4
# Some thousand programs.
MOST_BYTES = 1 << 30


def kept_files() -> Store | None:
    """Where this process keeps what other processes need not make again: in THEORYSIM_PROGRAMS.

    The command sets it; nowhere if it is empty.
    """
    return _store(os.environ.get(PROGRAMS, ""))


@cache
def _store(folder: str) -> Store | None:
    return Store(Path(folder), MOST_BYTES) if folder else None


class Store:
    """Contents by name in a folder; the least recently used go where they take too many bytes.

    A folder that takes no file is no error: a warning says so once, and nothing is kept.
    """

    def __init__(self, folder: Path, most_bytes: int):
        self._folder, self._most = folder, most_bytes
        self._warned = False

    @property
    def takes_files(self) -> bool:
        """Whether it does, as far as was seen."""
        return not self._warned

    def read(self, name: str) -> bytes | None:
        """The content of that name; None where there is none, or it is damaged."""
        path = self._path(name)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):  # another user's, or gone by now: it is read all the same
            os.utime(path)
        digest, packed = data[:DIGEST], data[DIGEST:]
        if digest != _digest(name, packed):
            return None
        try:
            return zlib.decompress(packed)
        except zlib.error:  # something else wrote it
            return None

    def write(self, name: str, content: bytes) -> None:
        """Keep a content under a name, if the disk takes it."""
        packed = zlib.compress(content, LEVEL)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(name), _digest(name, packed) + packed)
            self._clear()
        except OSError as error:
            self._warn(error)

    def _path(self, name: str) -> Path:
        return self._folder / (PREFIX + name)

    def _clear(self) -> None:
        """Remove what was not used for longest, where all files together are too large."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        if total <= self._most:
            return
        for _, size, path in files:
            if total <= KEPT_SHARE * self._most:
                break
            with suppress(OSError):  # another process removed it
                os.remove(path)
            total -= size

    def _files(self) -> list[tuple[float, int, str]]:
        """When each file was last used, its bytes and its path; what a stopped writer left, too."""
        found = []
        with os.scandir(self._folder) as entries:
            for entry in (entry for entry in entries if _is_own(entry.name)):
                with suppress(OSError):  # another process removed it
                    status = entry.stat()
                    found.append((status.st_mtime, status.st_size, entry.path))
        return found

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            logging.getLogger(__name__).warning(
                "theorysim: %s takes no file (%s): programs are not kept, which costs time; set "
                "%s to a folder of yours, or to nothing",
                self._folder,
                error.strerror,
                PROGRAMS,
            )


def _is_own(name: str) -> bool:
    """Whether a file is one of a store, or what a stopped writer left."""
    return name.removeprefix(".").startswith(PREFIX)


def _digest(name: str, packed: bytes) -> bytes:
    return sha256(name.encode() + b"\0" + packed).digest()
