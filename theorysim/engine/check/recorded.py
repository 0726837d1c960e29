"""Verdicts in a file beside the theorems, so that a change of one is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theorysim.engine.check.step import Verdicts
from theorysim.errors import UsageError
from theorysim.files import write_whole
from theorysim.versions import versions

# By the id of a statement.
Record = Mapping[str, Verdicts]


def read_record(path: Path) -> tuple[Record, int]:
    """The verdicts in a file, and the seed that they are of.

    Raises:
        UsageError: for a file that is not there, or that `write_record` did not write.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}; write it with --record {path}"
        ) from None
    except ValueError:
        data = None
    if data is None or not _is_record(data):
        raise UsageError(f"{path} holds no verdicts: write it anew with --record {path}")
    return data["verdicts"], data["seed"]


def write_record(path: Path, record: Record, seed: int) -> None:
    """Write the verdicts of statements, sorted, so that a change is one line of a diff.

    Raises:
        UsageError: for a file that cannot be written.
    """
    data = {"versions": versions(), "seed": seed, "verdicts": record}
    try:
        write_whole(path, json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def expected_of(record: Record, id: str, path: Path) -> Verdicts:
    """The recorded verdicts of one statement.

    Raises:
        UsageError: where it has none.
    """
    if id not in record:
        raise UsageError(f"{path} has no verdicts of {id}: add them with --record {path}")
    return record[id]


def _is_record(data: Any) -> bool:
    if not isinstance(data, dict) or not isinstance(data.get("seed"), int):
        return False
    verdicts = data.get("verdicts")
    if not isinstance(verdicts, dict):
        return False
    readings = verdicts.values()
    claims = [c for r in readings if isinstance(r, dict) for c in r.values()]
    return all(isinstance(each, dict) for each in (*readings, *claims)) and all(
        isinstance(verdict, str) for each in claims for verdict in each.values()
    )
