"""A review as a page of a terminal, the answer first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from theorysim.engine.review.review import Review
from theorysim.report.review_sections import sections
from theorysim.report.table import COLOURS

# A page: so many lines at most for recommendations and for each section; the HTML has them all.
RECOMMENDED = 16
MOST = {
    "Verdicts": 8,
    "Adversary": 5,
    "Hypotheses, each dropped in turn": 8,
    "Constants": 6,
    "Measured beside printed": 5,
    "What the hypotheses ask for": 5,
    "Planted errors": 3,
    "Not checked": 8,
}
WIDTH = 80
WEIGHTS = {"major": "bold red", "minor": "yellow", "remark": "cyan"}


def render(review: Review, console: Console) -> None:
    """Print the page."""
    console.print(Text(f"{review.theorem}  {review.title}", style="bold"))
    width = min(console.width, WIDTH)
    verdict = Text(f"\n{review.decision.upper()}", style=COLOURS[str(review.verdict)])
    console.print(verdict)
    for line in textwrap.wrap(review.sentence, width, break_on_hyphens=False):
        console.print(line)
    entries = [(f"{one.weight}: ", one.text) for one in review.recommendations]
    if entries:
        console.print()
    for line in _capped([_item(text, width, label) for label, text in entries], RECOMMENDED):
        label, colon, rest = line.partition(": ")
        style = WEIGHTS.get(label)
        text = Text(label + colon, style=style).append(rest, style="not bold") if style else line
        console.print(text)
    for section in sections(review):
        console.print(Text(f"\n{section.title}", style="bold"))
        for line in _capped([_item(line, width) for line in section.lines], MOST[section.title]):
            console.print(line)
    spent = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in review.spent.items())
    console.print()
    for line in textwrap.wrap(f"seed {review.seed}; {spent}", width):
        console.print(line)


def _item(text: str, width: int, label: str = "  ") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=label,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _capped(items: list[list[str]], most: int) -> Iterator[str]:
    """The lines of whole items, as many as fit; then how many are left out."""
    used = 0
    for place, item in enumerate(items):
        last = place == len(items) - 1
        if used + len(item) > most - (not last) and place:
            yield f"    ... and {len(items) - place} more, in the report of --html"
            return
        yield from item
        used += len(item)
