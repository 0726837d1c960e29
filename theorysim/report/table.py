"""A verification as tables that read well in 80 columns, with or without colour."""

from __future__ import annotations

import math

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from theorysim.engine.verify.report import CONFIDENCE, ReadingReport, Report
from theorysim.report.answer import count, decisive_reading, number

COLOURS = {"holds": "green", "violated": "bold red", "vacuous": "yellow", "inconclusive": "yellow"}


def render(report: Report, console: Console) -> None:
    """Print the report: readings, claims with both sides, what the hypotheses require."""
    sizes = ", ".join(f"{name} = {number}" for name, number in report.sizes.items())
    console.print(Text(f"{report.theorem}  {report.title}", style="bold"))
    console.print(
        f"{count(report.instances, 'instance')}, seed {report.seed}"
        + (f", {sizes}" if sizes else "")
    )
    if len(report.readings) > 1:
        console.print(_summary(report))
    for reading in report.readings:
        console.print()
        _render_reading(reading, console, has_sizes=bool(sizes))
    for warning in report.warnings:
        console.print(Text(f"\nwarning: {warning}", style="yellow"))
    console.print()
    decisive = decisive_reading(report).name
    console.print(Text(f"verdict of {decisive}: ").append(_colour(str(report.verdict))))


def _summary(report: Report) -> Table:
    """One line per reading: its verdict, and the claims that decide it."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("\nreading", overflow="fold", max_width=34)
    table.add_column("\nverdict")
    table.add_column("\nclaims", overflow="fold")
    for reading in report.readings:
        name = f"* {reading.name}" if reading.primary else f"  {reading.name}"
        verdicts = [str(claim.verdict) for claim in reading.claims]
        counts = [f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts)]
        table.add_row(name, _colour(str(reading.verdict)), ", ".join(counts))
    return table


def _render_reading(reading: ReadingReport, console: Console, has_sizes: bool) -> None:
    title = Text(reading.name, style="bold")
    title.append(" (primary): " if reading.primary else ": ", style="not bold")
    console.print(title.append(_colour(str(reading.verdict))))
    if reading.note:
        console.print(Padding(reading.note, (0, 0, 0, 2)))
    for hypothesis in reading.hypotheses:
        if hypothesis.satisfied < hypothesis.drawn:
            share = f"{hypothesis.satisfied} of {hypothesis.drawn} drawn instances"
            worst = f"worst margin {number(hypothesis.worst_margin)}"
            console.print(f"  hypothesis {hypothesis.name}: {share}, {worst}", highlight=False)
    for name, (least, median) in reading.requirements.items():
        text = f"  requires {name} = {number(median)} (median), {number(least)} (least)"
        console.print(text, highlight=False)
    console.print(_claims_table(reading))
    for claim in reading.claims:
        if claim.note:
            console.print(Padding(f"{claim.name}: {claim.note}", (0, 0, 0, 2)), highlight=False)
    excluded = _excluded(reading, has_sizes)
    if excluded:
        console.print(Padding(excluded, (0, 0, 0, 2)), highlight=False)


def _excluded(reading: ReadingReport, has_sizes: bool) -> str:
    """What the draws say of violations that they did not meet, for the claim that says least."""
    shown = [claim for claim in reading.claims if not math.isnan(claim.excluded)]
    if not shown:
        return ""
    least = max(shown, key=lambda claim: claim.excluded)
    whose = f"{least.name}: " if len(shown) > 1 else ""
    where = " at these sizes" if has_sizes else ""
    return (
        f"{whose}{count(least.resolved, 'resolved draw')} exclude a violating share above "
        f"{100 * least.excluded:.2g} %{where} ({CONFIDENCE:.0%}); theorysim falsify searches for "
        "less"
    )


def _claims_table(reading: ReadingReport) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("  claim", overflow="fold", max_width=26)
    table.add_column("verdict")
    for column in ("lhs", "rhs", "slack", "error", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("resolved", justify="right", no_wrap=True)
    for claim in reading.claims:
        numbers = (claim.lhs, claim.rhs, claim.slack, claim.error, claim.tightness)
        resolved = f"{claim.resolved}/{claim.checked}"
        verdict = _colour(str(claim.verdict))
        table.add_row("  " + claim.name, verdict, *map(number, numbers), resolved)
    return table


def _colour(verdict: str) -> Text:
    return Text(verdict, style=COLOURS[verdict])
