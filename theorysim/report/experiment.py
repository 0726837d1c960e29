"""What an experiment showed, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from theorysim.claims.verdict import Verdict
from theorysim.engine.registry.records import experiments, is_fresh, own_experiments
from theorysim.engine.reproduce.reproduce import OURS, WORDS

if TYPE_CHECKING:
    from rich.console import Console

    from theorysim.engine.reproduce.reproduce import Reproduction

STYLES = {"shown": "green", "contrary": "red"}


def render(found: Reproduction, console: Console) -> None:
    """A table of what is said to be shown, with means, differences and errors; then the runs."""
    from rich.text import Text

    report = found.report
    console.print(Text(f"{report.theorem}: {report.title}", style="bold"))
    render_table(found, console)
    for line in about_nulls(found):
        console.print(Text(line))
    sizes = ", ".join(f"{name} = {size}" for name, size in report.sizes.items())
    console.print(f"{sizes}; {found.seconds:.0f} s of training, seed {report.seed}")


def about_nulls(found: Reproduction) -> Iterator[str]:
    """What is shown of the experiment itself, and on record of its nulls, too; how to run one."""
    for reading in found.report.readings:
        if not reading.primary:
            continue
        recorded = {c["name"]: c["nulls"] for c in _recorded(found.report.theorem)}
        for claim in reading.claims:
            nulls = recorded.get(claim.name, {})
            showing = [null for null, verdict in nulls.items() if verdict == Verdict.HOLDS]
            if claim.verdict is Verdict.HOLDS and showing:
                names = ", ".join(f"“{null}”" for null in showing)
                yield f"on record a null shows “{claim.name}”, too: {names}"
        every = dict.fromkeys(null for nulls in recorded.values() for null in nulls)
        if every:
            yield f"nulls, which were not run now (--reading NAME): {', '.join(every)}"


def _recorded(id: str) -> Sequence[Mapping[str, Any]]:
    """The claims of the record of an experiment of this package; none of one that has changed."""
    entries = {entry.id: entry for entry in own_experiments()}
    line = experiments().get(id)
    return line["claims"] if id in entries and is_fresh(line, entries[id]) else ()


def render_table(found: Reproduction, console: Console) -> None:
    """What each reading is said to show, and whether it does."""
    from rich.table import Table
    from rich.text import Text

    for reading in found.report.readings:
        console.print(Text(str(reading.source)))
        table = Table("said to be shown", "", "left", "right", "difference", "runs", box=None)
        for claim in reading.claims:
            word = WORDS[claim.verdict]
            table.add_row(
                claim.name + OURS * (not claim.claim.printed),
                Text(word, style=STYLES.get(word, "yellow")),
                f"{claim.lhs:.3g}",
                f"{claim.rhs:.3g}",
                f"{claim.slack:.2g} ± {claim.error:.1g}",
                claim.note,
            )
        console.print(table)
        if reading.note:
            console.print(Text(reading.note))
