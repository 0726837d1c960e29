"""Campaigns that write one line a statement, go on where they stopped and run beside each other."""

from __future__ import annotations

import argparse
import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import lines_of, own_statements
from validation import write_whole


def replace(record: Path, line: dict[str, Any], ids: Sequence[str]) -> None:
    """Write a record with this line, in the order of the ids; what is not among them leaves it.

    It is read anew, so that a long run keeps what another one recorded meanwhile.
    """
    with _alone(record):
        lines = {**lines_of(record), line["theorem"]: line}
        text = "".join(json.dumps(lines[id], allow_nan=False) + "\n" for id in ids if id in lines)
        write_whole(record, text)


def add_choice(parser: argparse.ArgumentParser) -> None:
    """The options `--only` and `--part`."""
    parser.add_argument("--only", default="", help="only ids that contain this text")
    parser.add_argument("--part", type=part, default=(0, 1), help="such as 0/2 and 1/2")


def chosen(options: argparse.Namespace) -> list[Entry]:
    """The statements that these options choose."""
    number, parts = options.part
    return [entry for entry in own_statements() if options.only in entry.id][number::parts]


def part(text: str) -> tuple[int, int]:
    """ "0/2" as (0, 2).

    Raises:
        ArgumentTypeError: for a part that is not there.
    """
    number, parts = (int(each) for each in text.split("/"))
    if not 0 <= number < parts:
        raise argparse.ArgumentTypeError(f"{text}: expected 0/{parts} to {parts - 1}/{parts}")
    return number, parts


@contextmanager
def _alone(record: Path) -> Iterator[None]:
    """No other process of a campaign reads and rewrites the record meanwhile."""
    with open(record.with_name(f".{record.stem}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
