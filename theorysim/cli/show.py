"""What `theorysim show` says of a statement, as lines of text."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theorysim.citation import Citation
    from theorysim.claims import Assumption, Claim, ResolvedReading, Theorem
    from theorysim.claims.hypotheses import Margin
    from theorysim.engine.registry import Entry


def wrap(text: str, first: str = "", rest: str = "    ") -> str:
    """Text that fits the terminal; words stay whole."""
    columns = shutil.get_terminal_size().columns
    return textwrap.fill(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def description(entry: Entry, citation: Citation | None, theorem: Theorem) -> Iterator[str]:
    """The source of a statement and the parts of its theorem."""
    if citation:
        paper = f"{citation.authors} ({citation.year}). {citation.title}. {citation.venue}."
        yield wrap(paper, "paper       ", " " * 12)
    yield f"file        {entry.path}"
    if entry.aliases:
        yield f"aliases     {', '.join(entry.aliases)}"
    yield "space (shapes at the default sizes)"
    for name, size in theorem.space.sizes.items():
        yield _part(name, f"size {size.default}, in {size.low}..{size.high}")
    for name, field in theorem.space.fields.items():
        shape = field.shape(theorem.space.default_sizes())
        yield _part(name, field.describe() + (f", shape {shape}" if shape else ""))
    readings = theorem.all_readings()
    assumptions = dict.fromkeys(a for reading in readings for a in reading.assumes)
    for assumption in assumptions:
        yield from _assumption(assumption)
    for reading in readings:
        yield from _reading(theorem, reading)
    yield "mutants" if theorem.mutants else "mutants     none: nothing shows that a claim can fail"
    for mutant in theorem.mutants:
        of = f" (of {', '.join(mutant.of)})" if mutant.of else ""
        yield wrap(f"{mutant.name}{of}", "  ", "  ")
    for claim, reason in theorem.survivors.items():
        yield wrap(f"{claim} refutes no mutant: {reason}", "  ", "    ")


def _assumption(assumption: Assumption) -> Iterator[str]:
    yield f"assumption  {assumption.name}"
    yield wrap(str(assumption.source), "  ", "  ")
    yield from _hypotheses(assumption.hypotheses.items())
    for name in assumption.requirements:
        yield f"  requires  {name}"


def _reading(theorem: Theorem, reading: ResolvedReading) -> Iterator[str]:
    yield f"reading     {reading.name}" + (" (primary)" if reading.primary else "")
    yield wrap(str(reading.source), "  ", "  ")
    if reading.note:
        yield wrap(reading.note, "  ", "  ")
    for assumption in reading.assumes:
        yield f"  under {assumption.name}"
    shared = {name for assumption in reading.assumes for name in assumption.hypotheses}
    yield from _hypotheses((n, m) for n, m in reading.hypotheses.items() if n not in shared)
    own = theorem.all_readings()[0]
    if reading is not own:
        parts = ("simulate", "predict", "claims")
        changed = [part for part in parts if getattr(reading, part) != getattr(own, part)]
        yield f"  changes {' and '.join(changed) or 'neither simulation, prediction nor claims'}"
    if reading is own or reading.claims != own.claims:
        yield from _claims(reading.claims)


def _hypotheses(hypotheses: Iterable[tuple[str, Margin]]) -> Iterator[str]:
    from theorysim.claims.hypotheses import is_strict

    for name, margin in hypotheses:
        strictly = " (strictly)" if is_strict(margin) else ""
        yield wrap(f"if {name}{strictly}", "  ", "     ")


def _part(name: str, text: str) -> str:
    return wrap(text, f"  {name:<13} ", " " * 16)


def _claims(claims: Iterable[Claim]) -> Iterator[str]:
    for claim in claims:
        text = f"{claim.name}: {claim.statement}" if claim.statement else claim.name
        yield wrap(text, f"  {claim.kind:<16} ", " " * 19)
