"""How well scores have ranked alternatives that were really tuned: the record of the campaign.

`python -m validation.advise` measures it on digits and text and writes
theorysim/records/advise.json. A score is chosen on the first cases and judged on later ones;
answers use the score that was chosen, and say how it fared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

RECORD = files("theorysim") / "records" / "advise.json"


class Fared(NamedTuple):
    """A score's mean rank correlation with what was measured, over cases, and its 95 % interval.

    `ahead` is the interval of what it has above the best trivial score, case by case.
    """

    score: str
    mean: float
    low: float
    high: float
    trivial: bool
    ahead: tuple[float, float]


@cache
def record(question: str) -> dict[str, Any]:
    """What is recorded of a question: its cases, the order of scores, and how each did.

    Empty where nothing is.
    """
    if not RECORD.is_file():
        return {}
    return json.loads(RECORD.read_text("utf-8")).get(question, {})


def fared(question: str) -> list[Fared]:
    """All scores, the best first."""
    found = record(question).get("scores", {})
    rows = [
        Fared(
            name,
            one["mean"],
            one["low"],
            one["high"],
            one["trivial"],
            (one["ahead"]["low"], one["ahead"]["high"]),
        )
        for name, one in found.items()
    ]
    return sorted(rows, key=lambda row: -row.mean)


def winner(question: str, available: Sequence[str]) -> str:
    """The first of those that are available, in the order of the cases on which it is chosen.

    Without a record the first of `available`.
    """
    order = record(question).get("order") or [row.score for row in fared(question)]
    ranked = [score for score in order if score in available]
    return ranked[0] if ranked else available[0]


def told(question: str, score: str) -> str:
    """How a score fared beside the best trivial one, in a sentence."""
    rows = {row.score: row for row in fared(question)}
    if score not in rows:
        return f"how well `{score}` ranks is not recorded"
    own, cases = rows[score], record(question)["cases"]
    trivial = max((row for row in rows.values() if row.trivial), key=lambda row: row.mean)
    low, high = own.ahead
    chosen = record(question).get("chosen", {}).get("measured")
    later = ", on none of which it was chosen," if chosen != record(question)["measured"] else ""
    beats = "beats" if low > 0 else "does not surely beat"
    return (
        f"ranking by `{score}`: over {cases} recorded cases{later} its rank correlation with the "
        f"measured result was {own.mean:.2f} ({own.low:.2f} to {own.high:.2f}); it {beats} the "
        f"best trivial score, `{trivial.score}` ({trivial.mean:.2f}; case by case {low:.2f} to "
        f"{high:.2f} more)"
    )
