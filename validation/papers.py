"""The measured numbers in docs/papers: filled in from the recorded verdicts.

    python -m validation.papers

rewrites what stands between markers, which readers do not see:

    it falls as n^<!-- measured: lemma-3 "as printed" "the rate" lhs 4 -->-1.001<!-- end -->

A marker names a statement of the page's paper, a reading, one of its claims (not for what is
measured of the whole reading), a quantity of theorysim/records/verdicts.jsonl, and how many digits
are written, 3 if it does not say. A claim's note has two more: `power`, a fitted exponent with its
interval, and `"over n"`, the constants along the ladder of n. A test compares the pages with what
would be written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from theorysim.engine.registry.records import verdicts
from theorysim.engine.review.words import number
from theorysim.errors import UsageError
from validation import write_whole

PAGES = sorted((Path(__file__).resolve().parents[1] / "docs" / "papers").glob("*.md"))
DIGITS = 3

# What can be named: of a claim, and of a whole reading.
QUANTITIES = (
    *("verdict", "lhs", "rhs", "slack", "error", "tightness", "excluded"),
    *("ties", "checked", "resolved", "draws", "satisfying", "drawn"),
)

POWER = re.compile(r"\^\((?P<exponent>-?[\d.]+) \+- (?P<half>[\d.]+)\)")

MARKED = re.compile(
    r"(?P<marker><!-- measured: (?P<names>.*?) -->)(?P<told>[^<]*)<!-- end -->", re.DOTALL
)


def slug(page: Path) -> str:
    """The paper that a page is about."""
    return page.stem.replace("_", "-")


def with_measured(text: str, paper: str) -> str:
    """The page of a paper with its numbers up to date.

    Raises:
        UsageError: for a marker that names what the record does not have.
    """

    def filled(found: re.Match[str]) -> str:
        try:
            told = measured(paper, shlex.split(found["names"]))
        except ValueError as error:  # of the names, or of their quotes
            raise UsageError(f"{paper}: {found['marker']}: {error}") from None
        return f"{found['marker']}{told}<!-- end -->"

    return MARKED.sub(filled, text)


def measured(paper: str, names: Sequence[str]) -> str:
    """The quantity of the record that a marker names, as it is written.

    Raises:
        UsageError: for a name that the record does not have, with those it has.
    """
    *path, last = names
    digits = int(last) if last.isdecimal() else DIGITS
    path += [] if last.isdecimal() else [last]
    if len(path) not in (3, 4):
        raise UsageError("expected statement, reading, claim if it is of one, and quantity")
    statement, reading, *claim, quantity = path
    lines = verdicts().items()
    known = {id.removeprefix(f"{paper}/"): v for id, v in lines if id.startswith(f"{paper}/")}
    found = _named(_of(known, statement)["readings"], reading)
    for name in claim:
        found = _named(found["claims"], name)
    if claim and (quantity == "power" or quantity.startswith("over ")):
        return _noted(found["note"], quantity)
    return _written(_of({k: v for k, v in found.items() if k in QUANTITIES}, quantity), digits)


def _noted(note: str, quantity: str) -> str:
    """What only the note of a claim has, as it is written."""
    if quantity == "power" and (found := POWER.search(note)):
        half = ceil(100 * float(found["half"])) / 100  # an interval is not made smaller
        return f"{float(found['exponent']):.2f} ± {half:.2f}"
    if found := re.search(rf"{re.escape(quantity)} [^:]*: (?P<constants>[^;]*)", note):
        return found["constants"]
    raise UsageError(f"the note has no {quantity!r}: {note!r}")


def _named(several: Iterable[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    """The reading or claim of that name."""
    return _of({one["name"]: one for one in several}, name)


def _of(known: Mapping[str, Any], name: str) -> Any:
    if name not in known:
        raise UsageError(f"the record has no {name!r}; it has {list(known)}")
    return known[name]


def _written(value: float | int | str | None, digits: int) -> str:
    """A quantity as it stands in a sentence."""
    if value is None:
        raise UsageError("the record has no number there")
    if isinstance(value, float):
        return number(value, digits)
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    for page in PAGES:
        write_whole(page, with_measured(page.read_text("utf-8"), slug(page)))
