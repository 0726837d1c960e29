"""The recorded verdicts: what every reading came out as when its theorem was last reviewed.

    python -m validation.catalogue [--only TEXT] [--part 0/2]

verifies every registered theorem (or those whose ids contain the text, or every second of them) and
rewrites theorysim/records/verdicts.jsonl after each; read its difference before committing it. The
pages of `theorysim site` are made of it, and the test suite compares every verdict with the
recorded one. Several parts may run beside each other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from theorysim.engine import registry
from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import VERDICTS, own_statements, verdicts
from theorysim.engine.registry.sources import source_hash
from validation.lines import add_choice, chosen, replace

RECORD = Path(str(VERDICTS))


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """Per theorem, the recorded verdict of every reading."""
    return {
        id: {reading["name"]: reading["verdict"] for reading in line["readings"]}
        for id, line in verdicts().items()
    }


def record(entries: Iterable[Entry]) -> None:
    """Verify these statements and write each line; statements that are gone leave the record."""
    import jax

    from theorysim.engine.verify.recorded import to_record
    from theorysim.engine.verify.verify import verify

    ids = [entry.id for entry in own_statements()]
    for entry in entries:
        jax.clear_caches()  # a process has room for some hundreds of compiled programs
        source = source_hash(entry)
        report = verify(registry.load(entry))
        replace(RECORD, to_record(report, source), ids)
        print(entry.id, {r.name: str(r.verdict) for r in report.readings}, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    add_choice(parser)
    record(chosen(parser.parse_args()))
