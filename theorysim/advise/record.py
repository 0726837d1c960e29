"""How well scores have ranked alternatives that were really tuned: the record of the campaign.

`python -m validation.advise` measures it on digits and writes theorysim/records/advise.json;
answers use the score that won, and say how it fared.
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
    """What is recorded of a question: `cases`, `setting` and the summary of every score.

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
    """The score with the best record of those that are available; the first of them without one."""
    ranked = [row.score for row in fared(question) if row.score in available]
    return ranked[0] if ranked else available[0]


def told(question: str, score: str) -> str:
    """How a score fared beside the best trivial one, in a sentence."""
    rows = {row.score: row for row in fared(question)}
    if score not in rows:
        return f"how well `{score}` ranks is not recorded"
    own, cases = rows[score], record(question)["cases"]
    trivial = max((row for row in rows.values() if row.trivial), key=lambda row: row.mean)
    low, high = own.ahead
    beats = "beats" if low > 0 else "does not surely beat"
    return (
        f"ranking by `{score}`: over {cases} recorded cases its rank correlation with the measured "
        f"result was {own.mean:.2f} ({own.low:.2f} to {own.high:.2f}); it {beats} the best trivial "
        f"score, `{trivial.score}` ({trivial.mean:.2f}; case by case {low:.2f} to {high:.2f} more)"
    )
