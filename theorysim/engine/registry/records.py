"""What campaigns recorded of the statements, as the package carries it; listing it needs no JAX."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from theorysim.engine.registry.entries import Catalogue, Entry
from theorysim.engine.registry.index import OWN, catalogue
from theorysim.engine.registry.sources import source_hash
from theorysim.errors import UsageError

RECORDS = files("theorysim") / "records"
VERDICTS = RECORDS / "verdicts.jsonl"

# At most so many ids are named in one message.
NAMED = 6


def own_statements() -> Catalogue:
    """The statements of this package: those of packs and single files have no records here."""
    entries = (entry for entry in catalogue() if entry.path.is_relative_to(OWN))
    return Catalogue(tuple(entries))


def verdicts() -> dict[str, dict[str, Any]]:
    """By theorem, its last recorded verification, without instances: see `verify.recorded`."""
    lines = VERDICTS.read_text("utf-8").splitlines() if VERDICTS.is_file() else []
    return {line["theorem"]: line for line in map(json.loads, lines)}


def attacks() -> dict[str, dict[str, Any]]:
    """By theorem, how long its primary reading withstood the falsifier."""
    return json.loads((RECORDS / "attacks.json").read_text("utf-8"))


def mutants() -> dict[str, dict[str, Any]]:
    """By theorem, which small false variants its claims refute."""
    return json.loads((RECORDS / "mutants.json").read_text("utf-8"))


def fresh_verdicts(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """The recorded verifications of these statements.

    Raises:
        UsageError: naming the statements of which there is none, or one of other code.
    """
    known = verdicts()
    stale = [e.id for e in entries if known.get(e.id, {}).get("source") != source_hash(e)]
    if stale:
        more = f" and {len(stale) - NAMED} more" if len(stale) > NAMED else ""
        raise UsageError(
            f"the recorded verdicts of {', '.join(stale[:NAMED])}{more} are missing or of other "
            "code: record them with `python -m validation.catalogue --only ID`"
        )
    return {entry.id: known[entry.id] for entry in entries}
