"""What an experiment showed, on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    sizes = ", ".join(f"{name} = {size}" for name, size in report.sizes.items())
    console.print(f"{sizes}; {found.seconds:.0f} s of training, seed {report.seed}")


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
