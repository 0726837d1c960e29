"""A review as a page of a terminal, the answer first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from theorysim.engine.review.review import Review
from theorysim.report.review_sections import sections

# A page has so many lines, at most so wide; the HTML report has all.
LINES = 80
WIDTH = 80
# What the recommendations and any other section show at least, if they have so much.
ADVICE, LEAST = 16, 3
WEIGHTS = {"major": "bold red", "minor": "yellow", "remark": "cyan"}

ACCEPT = "green"

# Items of wrapped lines, each shown as a whole or not at all.
Items = Sequence[Sequence[str]]


def render(review: Review, console: Console) -> None:
    """Print the page: answer, recommendations, what every stage found, what it took."""
    width = min(console.width, WIDTH)
    title = textwrap.wrap(f"{review.theorem}  {review.title}", width)
    sentence = textwrap.wrap(review.sentence, width, break_on_hyphens=False)
    spent = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in review.spent.items())
    footer = textwrap.wrap(f"seed {review.seed}; {spent}", width)
    advice = [_item(one.text, width, f"{one.weight}: ") for one in review.recommendations]
    told = sections(review)
    parts = [advice, *([_item(line, width) for line in section.lines] for section in told)]
    # one line for the decision and one for the file that is written
    taken = len(title) + len(sentence) + len(footer) + 2
    taken += sum(3 if part is advice else 2 for part in parts)
    shown, *found = _fitted(parts, LINES - taken)

    for line in title:
        console.print(Text(line, style="bold"))
    console.print(Text(f"\n{review.decision.upper()}", style=_style(review)))
    for line in [*sentence, *[""] * bool(shown)]:
        console.print(line)
    for line in shown:
        console.print(_coloured(line))
    for section, lines in zip(told, found, strict=True):
        console.print(Text(f"\n{section.title}", style="bold"))
        for line in lines:
            console.print(line)
    console.print()
    for line in footer:
        console.print(line)


def _style(review: Review) -> str:
    accepted = review.decision == "accept"
    return ACCEPT if accepted else WEIGHTS[review.gravest]


def _coloured(line: str) -> Text:
    label, colon, rest = line.partition(": ")
    if label not in WEIGHTS:
        return Text(line)
    return Text(label + colon, style=WEIGHTS[label]).append(rest, style="not bold default")


def _item(text: str, width: int, label: str = "  ") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=label,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fitted(parts: Sequence[Items], lines: int) -> list[list[str]]:
    """The lines of every part, the longest ones cut until all fit, or show little more.

    The first part, the advice, is cut last.
    """
    most = [sum(map(len, part)) for part in parts]
    least = [ADVICE, *[LEAST] * (len(parts) - 1)]
    shown = [list(_capped(part, limit)) for part, limit in zip(parts, most, strict=True)]
    while sum(map(len, shown)) > lines:
        spare = [m - kept for m, kept in zip(most, least, strict=True)]
        longest = spare.index(max(spare))
        if spare[longest] <= 0:
            break
        most[longest] -= 1
        shown[longest] = list(_capped(parts[longest], most[longest]))
    return shown


def _capped(items: Items, most: int) -> Iterator[str]:
    """The lines of whole items, as many as fit, the first one always; then how many are left."""
    used = 0
    for place, item in enumerate(items):
        last = place == len(items) - 1
        if place and used + len(item) > most - (not last):
            yield f"    ... and {len(items) - place} more, in the report of --html"
            return
        yield from item
        used += len(item)
