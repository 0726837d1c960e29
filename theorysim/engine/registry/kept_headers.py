"""Headers of the modules of a package, kept on disk: parsing hundreds takes half a second.

They are known by the state of every one of these files, and by what reads them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from theorysim.engine.registry import headers
from theorysim.engine.registry.headers import Header, ReadingName, read_headers, state_of
from theorysim.store import kept_files


def headers_of(modules: Sequence[Path]) -> list[tuple[Header, ...]]:
    """What `read_headers` says of each module."""
    folder = kept_files()
    if folder is None:
        return [read_headers(path) for path in modules]
    states = [(str(path), *state_of(path)) for path in modules]
    key = sha256(json.dumps(["headers", sys.version, _reader(), states]).encode()).hexdigest()
    with suppress(ValueError, TypeError, KeyError):  # of another format
        if (data := folder.read(key)) is not None:
            return [tuple(map(_header, several)) for several in json.loads(data)]
    found = [read_headers(path) for path in modules]
    folder.write(key, json.dumps([list(map(asdict, several)) for several in found]).encode())
    return found


@cache
def _reader() -> str:
    """What reads headers, as a text."""
    return sha256(Path(headers.__file__).read_bytes()).hexdigest()


def _header(data: dict[str, Any]) -> Header:
    readings = tuple(ReadingName(**each) for each in data["readings"])
    return Header(**{**data, "aliases": tuple(data["aliases"]), "readings": readings})
