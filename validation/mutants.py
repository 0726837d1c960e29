"""Which mutants every claim refutes: a claim that no small false variant kills says nothing.

    python -m validation.mutants [--only TEXT] [--seed 0]

tries the mutants of every primary reading, and of every printed reading that is recorded to hold,
and writes theorysim/records/mutants.json and docs/records/mutants.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import jax

from theorysim.claims import ResolvedReading, Theorem
from theorysim.engine import registry
from theorysim.engine.registry.records import RECORDS, own_statements
from theorysim.engine.verify.mutation import mutation
from validation import read_record, row, write_whole
from validation.catalogue import catalogue

RECORD = Path(str(RECORDS / "mutants.json"))
TABLE = Path(__file__).resolve().parent.parent / "docs" / "records" / "mutants.md"

HEAD = """# Mutants

A mutant is a small false variant of a statement: a lost factor, a swapped pair, a wrong power.
`python -m validation.mutants` tries the mutants of every primary reading, and of every printed
reading that holds. *Refuted* counts the mutants that some claim refutes, of those that there are;
*claims* counts the claims that refute at least one.

| theorem | reading | mutants refuted | claims that refute one |
| --- | --- | ---: | ---: |
"""

SURVIVORS = """
## Claims that refute no mutant

| theorem | claim | reason |
| --- | --- | --- |
"""


def readings_to_try(theorem: Theorem) -> list[ResolvedReading]:
    """The readings whose claims must refute a mutant."""
    recorded = catalogue().get(theorem.id, {})
    return [
        reading
        for reading in theorem.all_readings()
        if reading.primary
        or (reading.source.kind == "printed" and recorded.get(reading.name) == "holds")
    ]


def measure(theorem: Theorem, seed: int) -> dict[str, Any]:
    """Per reading, the mutants that each claim refutes; and the reasons of survivors."""
    found = {}
    for reading in readings_to_try(theorem):
        outcome = mutation(theorem, reading=reading.name, seed=seed)
        found[reading.name] = {
            "mutants": [m.name for m in theorem.mutants_of(reading)],
            "refuted_by": {claim: outcome.killed_by(claim) for claim in outcome.verdicts},
        }
    return {"readings": found, "survivors": dict(theorem.survivors)}


def table(lines: dict[str, Any]) -> str:
    """The record in Markdown."""
    rows, survivors = [], {}
    for id, line in lines.items():
        for reading, found in line["readings"].items():
            claims = found["refuted_by"]
            refuted = {mutant for mutants in claims.values() for mutant in mutants}
            share = f"{len(refuted)} of {len(found['mutants'])}"
            killing = f"{sum(map(bool, claims.values()))} of {len(claims)}"
            rows.append(row(id, reading, share, killing))
            for claim in (claim for claim, mutants in claims.items() if not mutants):
                reason = line["survivors"].get(claim, "UNEXPLAINED")
                survivors[id, claim] = row(id, claim, reason)
    return HEAD + "".join(rows) + SURVIVORS + "".join(survivors.values())


def record(only: str, seed: int) -> None:
    """Try the mutants of what is asked for; statements that are gone leave the record."""
    entries = own_statements()
    ids = {entry.id for entry in entries}
    for entry in (e for e in entries if only in e.id):
        jax.clear_caches()  # a process has room for some hundreds of compiled programs
        line = measure(registry.load(entry), seed)
        lines = {
            k: v for k, v in sorted({**read_record(RECORD), entry.id: line}.items()) if k in ids
        }
        write_whole(RECORD, json.dumps(lines, indent=1, allow_nan=False) + "\n")
        write_whole(TABLE, table(lines))
        print(entry.id, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only ids that contain this text")
    parser.add_argument("--seed", type=int, default=0, help="seed of instances and runs")
    options = parser.parse_args()
    record(options.only, options.seed)
