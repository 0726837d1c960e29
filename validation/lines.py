"""Campaigns that write one line a statement, go on where they stopped and run beside each other."""

from __future__ import annotations

import argparse
import fcntl
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from theorysim.engine import registry
from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import is_fresh, lines_of, own_entries, own_statements
from theorysim.engine.registry.sources import source_hash
from validation import write_whole

if TYPE_CHECKING:
    from theorysim.claims import Theorem

Line: TypeAlias = Mapping[str, Any]


def replace(record: Path, line: Line, ids: Sequence[str]) -> None:
    """Write a record with this line, in the order of the ids; what is not among them leaves it.

    It is read anew, so that a long run keeps what another one recorded meanwhile.
    """
    with _alone(record):
        lines = {**lines_of(record), line["theorem"]: line}
        text = "".join(json.dumps(lines[id], allow_nan=False) + "\n" for id in ids if id in lines)
        write_whole(record, text)


def measure_anew(
    record: Path,
    entries: Iterable[Entry],
    measure: Callable[[Theorem, str], Line],
    is_enough: Callable[[Line], bool] = lambda line: False,
) -> Iterator[tuple[Line, float]]:
    """Measure statements one after the other; each written line, and the seconds of CPU it took.

    Args:
        record: the file; statements that are gone leave it.
        entries: what is to be measured.
        measure: the line of a theorem, to which it adds the hash of its code as `source`.
        is_enough: whether a line of the code as it is need not be measured again.
    """
    from theorysim.chunks import forget

    ids = [entry.id for entry in own_entries()]
    for entry in entries:
        known = lines_of(record).get(entry.id)
        if is_fresh(known, entry) and is_enough(known):
            continue
        forget()
        source, begun = source_hash(entry), time.process_time()
        line = measure(registry.load(entry), source)
        replace(record, line, ids)
        yield line, time.process_time() - begun


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
