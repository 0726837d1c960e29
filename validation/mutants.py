"""Which mutants every claim refutes: a claim that no small false variant kills says nothing.

    python -m validation.mutants [--seed 0] [--only TEXT] [--part 0/2] [--again]

tries the mutants of every primary reading, and of every printed reading that is recorded to hold,
and writes theorysim/records/mutants.jsonl and docs/records/mutants.md after each statement. What is
recorded of the code as it is, is left alone unless `--again`.
`--scheduler ADDRESS` measures statements beside each other on the workers of a Dask cluster.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from theorysim.claims import ResolvedReading, Theorem
from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import MUTANTS, is_fresh, lines_of, own_statements
from theorysim.engine.verify.mutation import mutation
from validation import row, write_whole
from validation.catalogue import catalogue
from validation.lines import Line, add_choice, chosen, cluster, measure_anew

Verdicts: TypeAlias = Mapping[str, Mapping[str, str]]

if TYPE_CHECKING:
    from distributed import Client

RECORD = Path(str(MUTANTS))
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


def readings_to_try(theorem: Theorem, verdicts: Verdicts | None = None) -> list[ResolvedReading]:
    """The readings whose claims must refute a mutant, by the recorded verdicts."""
    recorded = (catalogue() if verdicts is None else verdicts).get(theorem.id, {})
    return [
        reading
        for reading in theorem.all_readings()
        if reading.primary
        or (reading.source.kind == "printed" and recorded.get(reading.name) == "holds")
    ]


def measure(theorem: Theorem, source: str, seed: int, verdicts: Verdicts | None = None) -> Line:
    """A line of the record: per reading, the mutants that each claim refutes; why some survive."""
    found = {}
    for reading in readings_to_try(theorem, verdicts):
        outcome = mutation(theorem, reading=reading.name, seed=seed)
        found[reading.name] = {
            "mutants": [m.name for m in theorem.mutants_of(reading)],
            "refuted_by": {claim: outcome.killed_by(claim) for claim in outcome.verdicts},
        }
    survivors = dict(theorem.survivors)
    return {"theorem": theorem.id, "source": source, "readings": found, "survivors": survivors}


def table(lines: Mapping[str, Line]) -> str:
    """The record in Markdown, with what it lacks."""
    rows: list[str] = []
    survivors: dict[tuple[str, str], str] = {}
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
    older = [e.id for e in own_statements() if not is_fresh(lines.get(e.id), e)]
    lacks = f"\nNot tried since their code changed: {', '.join(older)}.\n" if older else ""
    return "".join([HEAD, *rows, SURVIVORS, *survivors.values(), lacks])


def record(entries: Iterable[Entry], seed: int, again: bool, client: Client | None = None) -> None:
    """Try the mutants of these statements, if they are not recorded yet, and write both files."""
    # The verdicts travel: a worker's own record may be another one.
    measured = partial(measure, seed=seed, verdicts=catalogue())
    for line, spent in measure_anew(RECORD, entries, measured, lambda line: not again, client):
        write_whole(TABLE, table(lines_of(RECORD)))
        print(f"{line['theorem']} ({spent:.0f} s of CPU)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of instances and runs")
    parser.add_argument("--again", action="store_true", help="also what is recorded")
    add_choice(parser)
    options = parser.parse_args()
    with cluster(options) as client:
        record(chosen(options), options.seed, options.again, client=client)
