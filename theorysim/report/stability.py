"""Whether verdicts stay the same at other seeds and sizes, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theorysim.engine.review.words import count, sizes_in_words

Line = Mapping[str, Any]


def stability_in_words(line: Line) -> str:
    """What a recorded line says: "same verdicts at 20 seeds and 3 sizes", or which ones differ."""
    differing = [text for reading in line["readings"] if (text := _differing(line, reading))]
    return "; ".join(differing) or f"same verdicts at {_range(line)}"


def is_stable(line: Line, reading: str) -> bool:
    """Whether a reading came out as one verdict at all seeds and sizes."""
    return not _differing(line, reading)


def _range(line: Line) -> str:
    """The seeds at the theorem's own sizes, and how many sizes could be run."""
    own, *others = line["runs"]
    seeds = count(own["seeds"], "seed")
    ran = [run for run in others if not run["problem"]]
    if not others:
        return f"{seeds} ({'its sizes are fixed' if own['sizes'] else 'it has no sizes'})"
    failed = [f"not run at {sizes_in_words([r['sizes']])}" for r in others if r["problem"]]
    return "; ".join([f"{seeds} and {count(1 + len(ran), 'size')}", *failed])


def _differing(line: Line, reading: str) -> str:
    """What most seeds give, then what else there is and where; empty where nothing else is."""
    own, *others = line["runs"]
    counts = own["verdicts"][reading]
    usual = max(counts, key=counts.__getitem__)
    parts = [f"{verdict} at {many}" for verdict, many in counts.items() if verdict != usual]
    parts += [
        f"{verdict} at {many} of {run['seeds']} with {sizes_in_words([run['sizes']])}"
        for run in others
        for verdict, many in run["verdicts"].get(reading, {}).items()
        if verdict != usual
    ]
    most = f"{usual} at {counts[usual]} of {count(own['seeds'], 'seed')}"
    return f"{reading}: {', '.join([most, *parts])}" if parts else ""
