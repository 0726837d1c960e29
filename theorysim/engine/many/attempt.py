"""Verifying one statement, with a result of plain data, also where it raises."""

from __future__ import annotations

import json
import time
import traceback
from pathlib import Path
from typing import Any

from theorysim.chunks import forget
from theorysim.engine import registry
from theorysim.engine.many.task import Task
from theorysim.engine.many.verified import Verified
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

PACKAGE = Path(__file__).parents[2]


def attempt(task: Task) -> Verified:
    """Verify a statement.

    Raises:
        Exception: whatever the statement raises.
    """
    begun = time.monotonic()
    forget()
    theorem = registry.theorem(task.theorem, task.files)
    report = verify(theorem, seed=task.seed, instances=task.instances).as_json()
    return Verified(task.theorem, time.monotonic() - begun, _plain(report))


def failed(task: Task, error: BaseException) -> Verified:
    """The result of a statement that raised: the error in one line, with its place."""
    fault = registry.fault_in_a_file(error)
    if fault is None and isinstance(error, UsageError):
        fault = str(error)
    if fault is not None:
        return Verified(task.theorem, error=fault)
    told = " ".join(traceback.format_exception_only(error)[-1].split())
    return Verified(task.theorem, error=_place(error) + told, internal=True)


def _plain(report: dict[str, Any]) -> dict[str, Any]:
    """After a round trip through text a report is the same, whether just made or read."""
    return json.loads(json.dumps(report, allow_nan=False))


def _place(error: BaseException) -> str:
    """The innermost line of this package that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    return f"{Path(own[-1].filename).relative_to(PACKAGE)}:{own[-1].lineno}: " if own else ""
