"""The recorded verdicts: what every reading came out as when its theorem was last reviewed.

    python -m validation.catalogue [--only TEXT] [--part 0/2] [--scheduler ADDRESS]

verifies every registered theorem (or those whose ids contain the text, or every second of them) and
rewrites theorysim/records/verdicts.jsonl after each; read its difference before committing it. The
pages of `theorysim site` are made of it, and the test suite compares every verdict with the
recorded one. Several parts may run beside each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import VERDICTS, verdicts
from validation.lines import Line, add_choice, chosen, cluster, measure_anew

if TYPE_CHECKING:
    from distributed import Client

    from theorysim.claims import Theorem

RECORD = Path(str(VERDICTS))


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Per theorem, the recorded verdict of every reading."""
    return {
        id: {reading["name"]: reading["verdict"] for reading in line["readings"]}
        for id, line in verdicts().items()
    }


def measure(theorem: Theorem, source: str) -> Line:
    """A line of the record."""
    from theorysim.engine.verify.recorded import to_record
    from theorysim.engine.verify.verify import verify

    return to_record(verify(theorem), source)


def record(entries: Iterable[Entry], client: Client | None = None) -> None:
    """Verify these statements and write each line."""
    for line, _ in measure_anew(RECORD, entries, partial(measure), client=client):
        found = {reading["name"]: reading["verdict"] for reading in line["readings"]}
        print(line["theorem"], found, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_choice(parser)
    options = parser.parse_args()
    with cluster(options) as client:
        record(chosen(options), client)
