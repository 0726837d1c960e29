"""What campaigns recorded of the statements, as the package carries it; listing it needs no JAX."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeGuard

from theorysim.engine.registry.entries import Catalogue, Entry
from theorysim.engine.registry.index import OWN, catalogue
from theorysim.engine.registry.sources import source_hash
from theorysim.errors import UsageError

RECORDS = files("theorysim") / "records"
VERDICTS = RECORDS / "verdicts.jsonl"
STABILITY = RECORDS / "stability.jsonl"
HYPOTHESES = RECORDS / "hypotheses.jsonl"
ATTACKS = RECORDS / "attacks.jsonl"
MUTANTS = RECORDS / "mutants.jsonl"
EXPERIMENTS = RECORDS / "experiments.jsonl"

# At most so many ids are named in one message.
NAMED = 6


def own_entries() -> Catalogue:
    """All of this package: what packs and single files state has no records here."""
    return Catalogue(tuple(e for e in catalogue() if e.path.is_relative_to(OWN)))


def own_statements() -> Catalogue:
    """The theorems of this package, which campaigns verify and attack."""
    return Catalogue(tuple(entry for entry in own_entries() if not entry.is_experiment))


def own_experiments() -> Catalogue:
    """The experiments of this package, whose records are of their runs."""
    return Catalogue(tuple(entry for entry in own_entries() if entry.is_experiment))


def lines_of(record: Traversable) -> dict[str, dict[str, Any]]:
    """By theorem, the lines of a record; none where it has not been written yet."""
    lines = record.read_text("utf-8").splitlines() if record.is_file() else []
    return {line["theorem"]: line for line in map(json.loads, lines)}


def verdicts() -> dict[str, dict[str, Any]]:
    """By theorem, its last recorded verification, without instances: see `verify.recorded`."""
    return lines_of(VERDICTS)


def stability() -> dict[str, dict[str, Any]]:
    """By theorem, its verdicts at many seeds and other sizes: see validation.stability."""
    return lines_of(STABILITY)


def hypotheses() -> dict[str, dict[str, Any]]:
    """By theorem, which hypotheses are needed and how sharp constants are: see validation."""
    return lines_of(HYPOTHESES)


def is_fresh(line: Mapping[str, Any] | None, entry: Entry) -> TypeGuard[Mapping[str, Any]]:
    """Whether there is a recorded line of a statement, of the code that it has now."""
    return line is not None and line["source"] == source_hash(entry)


def attacks() -> dict[str, dict[str, Any]]:
    """By theorem, how long its primary reading withstood the falsifier."""
    return lines_of(ATTACKS)


def experiments() -> dict[str, dict[str, Any]]:
    """By experiment, what its runs and those of its nulls showed: see validation.experiments."""
    return lines_of(EXPERIMENTS)


def mutants() -> dict[str, dict[str, Any]]:
    """By theorem, which small false variants its claims refute."""
    return lines_of(MUTANTS)


def fresh_verdicts(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """The recorded verifications of these statements.

    Raises:
        UsageError: naming the statements of which there is none, or one of other code.
    """
    return _fresh(verdicts(), entries, "verdicts", "validation.catalogue")


def fresh_experiments(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """The recorded runs of these experiments.

    Raises:
        UsageError: naming the experiments of which there are none, or some of other code.
    """
    return _fresh(experiments(), entries, "runs", "validation.experiments")


def _fresh(
    known: Mapping[str, dict[str, Any]], entries: Iterable[Entry], what: str, campaign: str
) -> dict[str, dict[str, Any]]:
    entries = list(entries)
    stale = [entry.id for entry in entries if not is_fresh(known.get(entry.id), entry)]
    if stale:
        more = f" and {len(stale) - NAMED} more" if len(stale) > NAMED else ""
        raise UsageError(
            f"the recorded {what} of {', '.join(stale[:NAMED])}{more} are missing or of other "
            f"code: record them with `python -m {campaign} --only ID`"
        )
    return {entry.id: known[entry.id] for entry in entries}
