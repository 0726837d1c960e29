"""The recorded verdicts: what every reading came out as when its theorem was last reviewed.

    python -m validation.catalogue [--only TEXT] [--part 0/2]

verifies every registered theorem (or those whose ids contain the text, or every second of them) and
rewrites theorysim/records/verdicts.jsonl after each; read its difference before committing it. The
pages of `theorysim site` are made of it, and the test suite compares every verdict with the
recorded one. Several parts may run beside each other.
"""

from __future__ import annotations

import argparse
import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from theorysim.engine import registry
from theorysim.engine.registry.records import VERDICTS, own_statements, verdicts
from theorysim.engine.registry.sources import source_hash
from validation import write_whole

RECORD = Path(str(VERDICTS))


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Per theorem, the recorded verdict of every reading."""
    return {
        id: {reading["name"]: reading["verdict"] for reading in line["readings"]}
        for id, line in verdicts().items()
    }


def record(only: str = "", part: int = 0, parts: int = 1) -> None:
    """Verify what is asked for and write each line; statements that are gone leave the record."""
    import jax

    from theorysim.engine.verify.recorded import to_record
    from theorysim.engine.verify.verify import verify

    entries = own_statements()
    for entry in [entry for entry in entries if only in entry.id][part::parts]:
        jax.clear_caches()  # a process has room for some hundreds of compiled programs
        source = source_hash(entry)
        report = verify(registry.load(entry))
        replace(to_record(report, source), [entry.id for entry in entries])
        print(entry.id, {r.name: str(r.verdict) for r in report.readings}, flush=True)


def replace(line: dict[str, Any], ids: list[str]) -> None:
    """Write the record with this line, in the order of the ids.

    It is read anew, so that a long run keeps what another one recorded meanwhile.
    """
    with alone():
        lines = {**verdicts(), line["theorem"]: line}
        text = "".join(json.dumps(lines[id], allow_nan=False) + "\n" for id in ids if id in lines)
        write_whole(RECORD, text)


@contextmanager
def alone() -> Iterator[None]:
    """No other process of a campaign reads and rewrites the record meanwhile."""
    with open(RECORD.with_name(".verdicts.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _part(text: str) -> tuple[int, int]:
    """ "0/2" as (0, 2)."""
    part, parts = (int(number) for number in text.split("/"))
    if not 0 <= part < parts:
        raise argparse.ArgumentTypeError(f"{text}: expected 0/{parts} to {parts - 1}/{parts}")
    return part, parts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only ids that contain this text")
    parser.add_argument("--part", type=_part, default=(0, 1), help="such as 0/2 and 1/2")
    options = parser.parse_args()
    record(options.only, *options.part)
