"""Finished stages kept in a file, so that an interrupted review goes on where it stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from theorysim.engine.registry import Entry
from theorysim.engine.registry.neighbours import code_of
from theorysim.engine.review.record import Record
from theorysim.files import write_whole
from theorysim.jaxprs.fingerprint import digest
from theorysim.versions import versions

AnyRecord = TypeVar("AnyRecord", bound=Record)

PACKAGE = Path(__file__).parents[2]


def fingerprint(entry: Entry, *options: object) -> str:
    """SHA-256 of what a review of a loaded statement depends on.

    That are its file, its neighbours and all Python files that it may use, versions and options. A
    change of any of them begins a review anew.
    """
    tokens = [entry.id.encode(), json.dumps([*map(str, options), versions()]).encode()]
    for path in sorted({*code_of(entry), *PACKAGE.rglob("*.py"), *_own_modules()}):
        tokens += [str(path).encode(), path.read_bytes()]
    return digest(tokens)


def _own_modules() -> Iterable[Path]:
    """Files of loaded modules that no distribution installed: a statement may import them."""
    installed = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix)}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and file.endswith(".py") and not installed & {*Path(file).resolve().parents}:
            path = Path(file)
            if path.is_file():
                yield path


@dataclass(frozen=True)
class Kept:
    """The stages of one review in a file; nothing is kept where there is no file."""

    path: Path | None

    def load(self, stage: str, kind: type[AnyRecord]) -> tuple[AnyRecord, float] | None:
        """A finished stage and the seconds that it took; None where it is not kept."""
        try:
            found = self._read()[stage]
            return kind.from_json(found["result"]), float(found["seconds"])
        except (KeyError, TypeError, ValueError):
            return None

    def store(self, stage: str, result: Record, seconds: float) -> None:
        """Keep a finished stage, if the disk takes it; the file is replaced as a whole."""
        if self.path is None:
            return
        stages = {**self._read(), stage: {"seconds": seconds, "result": result.as_json()}}
        with suppress(OSError):
            write_whole(self.path, json.dumps(stages, allow_nan=False))

    def forget(self) -> None:
        """Drop all stages."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self.path.read_text("utf-8")) if self.path is not None else {}
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}
