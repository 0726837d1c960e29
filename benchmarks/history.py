"""The record of benchmarks: a line per benchmark, commit and device, in history.jsonl."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from benchmarks.race import Row, device
from theorysim.errors import UsageError
from theorysim.files import write_whole
from theorysim.versions import versions

HERE = Path(__file__).parent
RECORD = HERE / "history.jsonl"
# What a measurement is of: a change elsewhere leaves it as it was.
TIMED = ("theorysim", "benchmarks", "validation/oracles")
WRITTEN = ":!benchmarks/history.jsonl"
MACHINE = ("date", "device", "backend", "cores", "load", "versions")

Line = Mapping[str, Any]


def commit() -> str:
    """The commit that a measurement is of, shortened.

    Raises:
        UsageError: outside of a checkout, and where files that are timed differ from the commit.
    """
    changed = _git("status", "--porcelain", "--", *TIMED, WRITTEN)
    if changed:
        file = changed.split()[1]
        raise UsageError(
            f"{file} is not committed: a record is of a commit; commit it, or name --quick"
        )
    return _git("rev-parse", "--short=10", "HEAD")


def sources() -> str:
    """A hash of the files that are timed, for machines that have no checkout of git."""
    root = HERE.parent
    files = sorted(file for folder in TIMED for file in (root / folder).rglob("*.py"))
    named = (str(file.relative_to(root)).encode() + file.read_bytes() for file in files)
    return hashlib.sha256(b"".join(named)).hexdigest()[:16]


def _git(*words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=HERE.parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        raise UsageError(
            f"{HERE.parent} is no checkout of git: a record is of a commit; clone one, or name "
            "--quick"
        ) from None
    return done.stdout.strip()


def load() -> float:
    """How many processes wanted a core, on average over the last minute."""
    return round(os.getloadavg()[0], 1)


def line(of: str, benchmark: str, rows: Sequence[Row], before: float, **more: Any) -> Line:
    """A line of the record.

    Args:
        of: the commit.
        benchmark: its name.
        rows: what it measured.
        before: the load when it began, without which no time says much.
        more: further measurements of the machine.
    """
    rows_of_data = [row.as_json() for row in rows]
    return {"benchmark": benchmark, "commit": of, **machine(before), **more, "rows": rows_of_data}


def machine(before: float) -> Line:
    """The circumstances of a measurement that began at a load: the fields of `MACHINE`."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": device(),
        "backend": jax.default_backend(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load": [before, load()],
        "versions": versions(),
    }


def read() -> list[Line]:
    """All lines, the oldest first; none where nothing has been recorded yet."""
    text = RECORD.read_text("utf-8") if RECORD.is_file() else ""
    return [json.loads(each) for each in text.splitlines()]


def add(new: Line) -> None:
    """Write a line, in place of one of the same benchmark, commit and device."""

    def key(line: Line) -> tuple[str, ...]:
        return line["benchmark"], line["commit"], line["device"]

    lines = [*(old for old in read() if key(old) != key(new)), new]
    write_whole(RECORD, "".join(json.dumps(each, allow_nan=False) + "\n" for each in lines))
