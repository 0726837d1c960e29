"""An answer to a question about a model: one sentence, then the table, then where theory stops."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from theorysim.advise.pictures import Panel, figure
from theorysim.tabular import Tabular, json_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

FIRST = 18
"""columns that the names of a table have at least, if they need them"""
ERRORS = 2
"""a difference of so many standard errors or less may be chance"""
LARGE = 1e15
"""whole numbers below it are written out"""
MOST_PLACES = 6
"""numbers with more decimal places are written with an exponent"""
MARKS = {True: "✓", False: "✗", None: "?"}


class Uncertain(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        if not math.isfinite(self.value):
            return "-"
        if not (math.isfinite(self.error) and self.error > 0):
            return f"{self.value:.3g}"
        places = max(0, 1 - math.floor(math.log10(self.error)))
        if places > MOST_PLACES or max(abs(self.value), self.error) >= LARGE:
            return f"{self.value:.3g} ± {self.error:.2g}"
        return f"{self.value:.{places}f} ± {self.error:.{places}f}"

    def compared(self, first: str, second: str) -> str:
        """Of a difference: `second` by how much, or `first` below 0, and if it may be chance."""
        size = Uncertain(abs(self.value), self.error)
        return f"{first if self.value < 0 else second} by {size}{self.near}"

    @property
    def near(self) -> str:
        """Said of a difference that may be chance; empty where it is none."""
        return ", within the errors" if abs(self.value) <= ERRORS * self.error else ""


class Check(NamedTuple):
    """Something that the theory needs, and whether this model has it; None where it is open."""

    what: str
    met: bool | None
    told: str


@dataclass(frozen=True)
class Advice(Tabular):
    """What `theorysim.advise` answers; printed, the answer comes first."""

    question: str
    """layers, strength, transfer or length"""
    choice: str
    """what is advised"""
    answer: str
    """one sentence, with the number and its uncertainty"""
    table: tuple[Mapping[str, Any], ...]
    """a row for each alternative; numbers with an uncertainty are `Uncertain`"""
    columns: tuple[str, ...]
    """the columns that are printed"""
    checks: tuple[Check, ...]
    """where the theory applies to this model, as was checked"""
    notes: tuple[str, ...]
    panels: tuple[Panel, ...]

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """The table in plain values: an uncertain number gives a second column, its error."""
        for row in self.table:
            plain: dict[str, Any] = {}
            for name, value in row.items():
                if isinstance(value, Uncertain):
                    plain |= {name: value.value, f"{name} ±": value.error}
                else:
                    plain[name] = value
            yield plain

    def warned(self, sentence: str) -> Advice:
        """The same, with another sentence at the end of its answer."""
        return replace(self, answer=self.answer + sentence)

    @property
    def caption(self) -> str:
        return self.answer

    def __str__(self) -> str:
        from rich.console import Console

        page = io.StringIO()
        self.render(Console(file=page, width=80, color_system=None, force_jupyter=False))
        return "\n".join(line.rstrip() for line in page.getvalue().splitlines())

    def render(self, console: Console) -> None:
        """Print it on a terminal."""
        from rich.table import Table
        from rich.text import Text

        console.print(Text(self.answer, style="bold"))
        table = Table(box=None, padding=(0, 1, 0, 0))
        first = max((len(cell(row.get(self.columns[0]))) for row in self.table), default=0)
        table.add_column(self.columns[0], min_width=min(first, FIRST), overflow="fold")
        for name in self.columns[1:]:
            table.add_column(name, justify="right", overflow="fold")
        for row in self.table:
            cells = [Text(cell(row.get(name))) for name in self.columns]
            style = "bold" if row.get(self.columns[0]) == self.choice else None
            table.add_row(*cells, style=style)
        console.print()
        console.print(table, crop=False)  # digits beyond the edge are digits
        console.print(Text("\nWhere the theory applies on this model", style="bold"))
        for check in self.checks:
            console.print(Text(f"{MARKS[check.met]} {check.what}: {check.told}"))
        if self.notes:
            console.print(Text("\nNotes", style="bold"))
        for note in self.notes:
            console.print(Text(f"- {note}"))

    def figure(self) -> Figure:
        """The answer as a picture: what is predicted, and what was measured."""
        return figure(self.answer, self.panels)

    def as_json(self) -> dict[str, Any]:
        """All of it but the picture's curves, in plain values."""
        return {
            "question": self.question,
            "choice": self.choice,
            "answer": self.answer,
            "table": [{k: _plain(v) for k, v in row.items()} for row in self.rows()],
            "checks": [check._asdict() for check in self.checks],
            "notes": list(self.notes),
        }


def cell(value: Any) -> str:
    """A value of the table as text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        whole = value.is_integer() and LARGE > value >= 1000
        return "-" if math.isnan(value) else f"{value:,.0f}" if whole else f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def explained(columns: Sequence[str], meanings: Mapping[str, str]) -> str:
    """What the columns of a table are, in their order: those that it has, and no others."""
    return "; ".join(f"{name}: {meanings[name]}" for name in columns if name in meanings)


def _plain(value: Any) -> Any:
    return json_number(value) if isinstance(value, float) else value


def number(value: float) -> str:
    """A number in a sentence."""
    return f"{value:.3g}"
