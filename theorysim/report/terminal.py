"""The first screen of a verification: the answer in about twenty lines of 80 columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from theorysim.claims.verdict import Verdict
from theorysim.engine import registry
from theorysim.engine.registry.notation import notation_of
from theorysim.engine.verify.report import Report
from theorysim.report.answer import Answer, Place, answer
from theorysim.report.mathematics import text
from theorysim.report.table import COLOURS

MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.VIOLATED: "✗",
    Verdict.VACUOUS: "○",
    Verdict.INCONCLUSIVE: "?",
}
LABEL = 10  # columns of what stands in the margin


def answer_text(report: Report, columns: int = 80) -> str:
    """What `theorysim verify` prints first of a verification, as plain text."""
    known = [entry for entry in registry.catalogue() if entry.id == report.theorem]
    page = io.StringIO()
    console = Console(
        file=page, width=columns, color_system=None, force_jupyter=False, markup=False
    )
    render_answer(answer(report, notation_of(known[0]) if known else None), console)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def render_answer(said: Answer, console: Console) -> None:
    """Print it: printed places first, the correction, our findings apart, then what was done."""
    console.print(Text(f"{said.theorem}  {said.title}", style="bold"))
    console.print()
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=LABEL, no_wrap=True)
    table.add_column()
    _add(table, "printed", (_line(place, place.why) for place in said.printed))
    _add(table, "corrected", (_corrected(place) for place in said.corrected))
    _add(table, "ours", [_briefly(said.findings)] if said.findings else [])
    for label in ("worst", "tightness", "excluded", "simulated"):
        told = getattr(said, label)
        _add(table, label, [Text(text(told))] if told else [])
    _add(table, "warning", (Text(warning, style="yellow") for warning in said.warnings))
    _add(table, "next", [Text(said.next), Text("--full for tables, --plot FILE for a picture")])
    console.print(table)


def _add(table: Table, label: str, lines: Iterable[Text]) -> None:
    for number, line in enumerate(lines):
        table.add_row(Text("" if number else label, style="dim"), line)


def _verdict(place: Place) -> Text:
    word = str(place.verdict)
    return Text(f"{MARKS[place.verdict]} {word}", style=COLOURS[word])


def _line(place: Place, told: str) -> Text:
    line = _verdict(place).append(f"  {place.where}", style="default")
    return line.append(f": {told}", style="default") if told else line


def _corrected(place: Place) -> Text:
    """What was changed, instead of a name that says no more than the margin does."""
    told = place.why or place.words
    if place.reading != "corrected":
        return _line(place, told)
    return _verdict(place).append(f"  {told}", style="default")


def _briefly(findings: Sequence[Place]) -> Text:
    """Findings of ours in one paragraph: what they are about is in the tables."""
    return Text("; ").join(
        _verdict(place).append(f" {place.where}", "default") for place in findings
    )
