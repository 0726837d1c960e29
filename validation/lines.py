"""Campaigns that write one line a statement, go on where they stopped and run beside each other."""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from theorysim.engine import registry
from theorysim.engine.many.task import Code
from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import is_fresh, lines_of, own_entries, own_statements
from theorysim.engine.registry.sources import source_hash
from validation import write_whole

if TYPE_CHECKING:
    from distributed import Client

Line: TypeAlias = Mapping[str, Any]

# What a worker needs to measure a line.
CODE = Code(packages=("validation",))


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
    measure: partial[Line],
    is_enough: Callable[[Line], bool] = lambda line: False,
    client: Client | None = None,
) -> Iterator[tuple[Line, float]]:
    """Measure statements one after the other; each written line, and the seconds of CPU it took.

    Args:
        record: the file; statements that are gone leave it.
        entries: what is to be measured.
        measure: a function of a module with options by name, which gives the line of a theorem; it
            adds the hash of the code as `source`.
        is_enough: whether a line of the code as it is need not be measured again.
        client: of a Dask cluster, whose workers find this package, too: then statements are
            measured beside each other, and one that raises is told after all others.

    Raises:
        UsageError: for a cluster none of whose workers has the same versions and code.
        ExceptionGroup: on a cluster, what statements raised.
    """
    ids = [entry.id for entry in own_entries()]
    tasks = _tasks(record, entries, measure, is_enough)
    for line, spent in _one_by_one(tasks) if client is None else _beside(list(tasks), client):
        replace(record, line, ids)
        yield line, spent


def _tasks(
    record: Path, entries: Iterable[Entry], measure: partial[Line], is_enough: Callable
) -> Iterator[Measuring]:
    """What is to be measured, looked up when its turn comes: other parts record meanwhile."""
    function = measure.func
    module = function.__module__
    if module == "__main__":  # on a worker, it has the name by which it can be imported
        module = sys.modules[module].__spec__.name
    for entry in entries:
        known = lines_of(record).get(entry.id)
        if not (is_fresh(known, entry) and is_enough(known)):
            yield Measuring(entry.id, module, function.__name__, measure.keywords)


def _one_by_one(tasks: Iterable[Measuring]) -> Iterator[tuple[Line, float]]:
    return (task.work() for task in tasks)


def _beside(tasks: Sequence[Measuring], client: Client) -> Iterator[tuple[Line, float]]:
    """What the workers measured, as it comes."""
    from theorysim.engine.many.cluster import on_workers
    from theorysim.engine.many.standing import standing

    errors: list[Exception] = []
    for task, found in on_workers(tasks, client, standing(CODE), failed=lambda task, error: error):
        if isinstance(found, Exception):
            found.add_note(f"while {task.theorem} was measured")
            errors.append(found)
        else:
            yield found
    if errors:
        raise ExceptionGroup(f"{len(errors)} of {len(tasks)} lines not measured", errors)


@dataclass(frozen=True)
class Measuring:
    """The task of measuring one statement, by the name of the function that does it."""

    theorem: str
    module: str
    function: str
    options: Mapping[str, Any]
    code: Code = CODE

    def work(self) -> tuple[Line, float]:
        """Its line, and the seconds of CPU that it took."""
        from theorysim.chunks import forget

        forget()
        entry = registry.find(self.theorem)
        source, begun = source_hash(entry), time.process_time()
        measure = getattr(import_module(self.module), self.function)
        line = measure(registry.load(entry), source, **self.options)
        return line, time.process_time() - begun


@contextmanager
def cluster(options: argparse.Namespace) -> Iterator[Client | None]:
    """The client of the scheduler that the options name; None where they name none."""
    if options.scheduler is None:
        yield None
        return
    from theorysim.engine.many.cluster import connected

    with connected(options.scheduler, lambda line: print(line, file=sys.stderr)) as client:
        yield client


def add_choice(parser: argparse.ArgumentParser) -> None:
    """The options `--only`, `--part` and `--scheduler`."""
    parser.add_argument("--only", default="", help="only ids that contain this text")
    parser.add_argument("--part", type=part, default=(0, 1), help="such as 0/2 and 1/2")
    add_scheduler(parser)


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """The option `--scheduler`."""
    parser.add_argument("--scheduler", help="on the Dask cluster at this address")


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
