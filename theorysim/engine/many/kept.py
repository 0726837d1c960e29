"""Finished results kept in files: a long run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic

from theorysim.engine.many.outcome import AnyOutcome
from theorysim.files import write_whole
from theorysim.jaxprs.fingerprint import digest


@dataclass(frozen=True)
class Kept(Generic[AnyOutcome]):
    """A folder with a file per finished task, a dataclass; nothing is kept where there is none.

    What is kept counts only for the same task on the same `standing`: changed code begins anew.
    """

    folder: Path | None
    standing: Mapping[str, str]
    kind: type[AnyOutcome]

    def load(self, task: Any) -> AnyOutcome | None:
        """What an earlier run found; None where there is nothing, or nothing readable."""
        if self.folder is None:
            return None
        try:
            data = json.loads(self._place(self.folder, task).read_text("utf-8"))
            found = self.kind(data["theorem"], float(data["seconds"]), data["report"], kept=True)
            return found if found.verdict == data["verdict"] else None
        except (OSError, KeyError, TypeError, ValueError):
            return None

    def store(self, task: Any, found: AnyOutcome) -> None:
        """Keep a report, if the disk takes it. An error is none: it is tried again."""
        if self.folder is not None and found.report is not None:
            text = json.dumps(replace(found, kept=False).as_json(), allow_nan=False)
            with suppress(OSError):
                write_whole(self._place(self.folder, task), text)

    def _place(self, folder: Path, task: Any) -> Path:
        tokens = (json.dumps(part, sort_keys=True) for part in (asdict(task), dict(self.standing)))
        return folder / f"{digest(token.encode() for token in tokens)}.json"
