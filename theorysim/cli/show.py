"""What `theorysim show` says of a statement, as lines of text."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theorysim.citation import Citation
    from theorysim.claims import Assumption, Claim, ResolvedReading, Theorem
    from theorysim.claims.margins import Margin
    from theorysim.engine.registry import Entry
    from theorysim.engine.registry.notation import Notation


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


def description(
    entry: Entry, citation: Citation | None, theorem: Theorem, notation: Notation
) -> Iterator[str]:
    """The statement in its notation, its claims and assumptions, then the parts of its theorem."""
    yield from _printed(notation)
    readings = theorem.all_readings()
    yield "claims"
    claims = {claim.name: claim for reading in readings for claim in reading.claims}
    for claim in claims.values():
        yield from _claim(claim, notation)
    hypotheses = {n: margin for reading in readings for n, margin in reading.hypotheses.items()}
    if hypotheses:
        yield "hypotheses"
        yield from _hypotheses(hypotheses.items(), notation)
    assumptions = dict.fromkeys(a for reading in readings for a in reading.assumes)
    for assumption in assumptions:
        yield from _assumption(assumption)
    for reading in readings:
        yield from _reading(theorem, reading)
    yield "space (shapes at the default sizes)"
    for name, size in theorem.space.sizes.items():
        yield _part(name, f"size {size.default}, in {size.low}..{size.high}", notation)
    for name, field in theorem.space.fields.items():
        shape = field.shape(theorem.space.default_sizes())
        yield _part(name, field.describe() + (f", shape {shape}" if shape else ""), notation)
    yield from _mutants(theorem)
    yield from _links(entry, citation)


def _printed(notation: Notation) -> Iterator[str]:
    """What the paper says, what holds instead, and what is run."""
    from theorysim.report.mathematics import text

    told = {
        "statement": notation.statement,
        "corrected": notation.corrected,
        "simulated": notation.simulated,
    }
    for label, source in told.items():
        if source:
            yield label
            for paragraph in text(source).split("\n\n"):
                yield wrap(paragraph, "  ", "  ")


def _claim(claim: Claim, notation: Notation) -> Iterator[str]:
    from theorysim.report.mathematics import plain

    yield wrap(f"{claim.name} ({claim.kind})", "  ", "  ")
    formula = notation.claims.get(claim.name)
    shown = plain(formula) if formula else claim.statement
    if shown:
        yield wrap(shown, "      ", "      ")


def _assumption(assumption: Assumption) -> Iterator[str]:
    yield f"assumption  {assumption.name}"
    yield wrap(str(assumption.source), "  ", "  ")
    yield wrap(f"if {'; '.join(assumption.hypotheses)}", "  ", "     ")
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
    own = [name for name in reading.hypotheses if name not in shared]
    if own:
        yield wrap(f"if {'; '.join(own)}", "  ", "     ")
    first = theorem.all_readings()[0]
    if reading is not first:
        parts = ("simulate", "predict", "claims")
        changed = [part for part in parts if getattr(reading, part) != getattr(first, part)]
        yield f"  changes {' and '.join(changed) or 'neither simulation, prediction nor claims'}"
    if reading is first or reading.claims != first.claims:
        yield wrap(f"claims {'; '.join(claim.name for claim in reading.claims)}", "  ", "         ")


def _hypotheses(hypotheses: Iterable[tuple[str, Margin]], notation: Notation) -> Iterator[str]:
    from theorysim.claims.margins import is_strict
    from theorysim.report.mathematics import plain

    for name, margin in hypotheses:
        strictly = " (strictly)" if is_strict(margin) else ""
        formula = notation.hypotheses.get(name)
        demands = f": {plain(formula)}" if formula else ""
        yield wrap(f"{name}{strictly}{demands}", "  ", "      ")


def _mutants(theorem: Theorem) -> Iterator[str]:
    yield "mutants" if theorem.mutants else "mutants     none: nothing shows that a claim can fail"
    for mutant in theorem.mutants:
        of = f" (of {', '.join(mutant.of)})" if mutant.of else ""
        yield wrap(f"{mutant.name}{of}", "  ", "  ")
    for claim, reason in theorem.survivors.items():
        yield wrap(f"{claim} refutes no mutant: {reason}", "  ", "    ")


def _links(entry: Entry, citation: Citation | None) -> Iterator[str]:
    from theorysim.engine.registry.records import own_statements
    from theorysim.scenes.catalogue import scene_of
    from theorysim.site.addresses import page_of

    if citation:
        paper = f"{citation.authors} ({citation.year}). {citation.title}. {citation.where}."
        yield wrap(paper, "paper       ", " " * 12)
        if citation.read_from:
            yield wrap(citation.read_from, "read from   ", " " * 12)
    yield f"file        {entry.path}"
    if entry.aliases:
        yield f"aliases     {', '.join(entry.aliases)}"
    if any(entry.id == own.id for own in own_statements()):
        yield f"page        {page_of(entry.id)}, of theorysim site --out DIR"
        yield wrap(_stability(entry), "stability   ", " " * 12)
    if scene_of(entry.id):
        yield "figure      an own one: --plot FILE draws it"
    command = "reproduce {} --out DIR" if entry.is_experiment else "verify {} --plot FILE"
    yield f"next        theorysim {command.format(entry.handle)}"


def _stability(entry: Entry) -> str:
    """Whether its verdicts stay the same at other seeds and sizes, as far as that was measured."""
    from theorysim.engine.registry.records import is_fresh, stability
    from theorysim.report.stability import stability_in_words

    line = stability().get(entry.id)
    if is_fresh(line, entry):
        return stability_in_words(line)
    return f"not measured: python -m validation.stability --only {entry.id}"


def _part(name: str, drawn: str, notation: Notation) -> str:
    from theorysim.report.mathematics import text

    meaning = f"{text(notation.fields[name])}; " if name in notation.fields else ""
    return wrap(meaning + drawn, f"  {name:<13} ", " " * 16)
