"""What becomes of one statement, as a result of plain data, also where it raises."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from theorysim.chunks import forget
from theorysim.engine import registry
from theorysim.engine.many.outcome import AnyOutcome
from theorysim.engine.many.worker import may_pass
from theorysim.errors import UsageError

PACKAGE = Path(__file__).parents[2]


def attempt(
    kind: type[AnyOutcome], theorem: str, report: Callable[[], Mapping[str, Any]]
) -> AnyOutcome:
    """The report on a statement, or what it raised, and the seconds that it took.

    Raises:
        Exception: what another try, or another machine, may not meet.
    """
    begun = time.monotonic()
    forget()
    try:
        found = report()
    except Exception as error:  # whatever a statement raises
        if may_pass(error):
            raise
        return failed(kind, theorem, error)
    return kind(theorem, time.monotonic() - begun, _plain(found))


def failed(kind: type[AnyOutcome], theorem: str, error: BaseException) -> AnyOutcome:
    """The result of a statement that raised: the error in one line, with its place."""
    fault = registry.fault_in_a_file(error)
    if fault is None and isinstance(error, UsageError):
        fault = str(error)
    if fault is not None:
        return kind(theorem, error=fault)
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return kind(theorem, error=_place(error) + told, internal=True)


def _plain(report: Mapping[str, Any]) -> dict[str, Any]:
    """After a round trip through text a report is the same, whether just made or read."""
    return json.loads(json.dumps(report, allow_nan=False))


def _place(error: BaseException) -> str:
    """The innermost line of this package that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)]
    return f"{Path(own[-1].filename).relative_to(PACKAGE)}:{own[-1].lineno}: " if own else ""
