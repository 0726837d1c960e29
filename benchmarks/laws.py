"""Exponents of ladders: how cost grows with the size that their rows vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from theorysim.numerics.statistics import loglog_slope

CONFIDENCE = 0.95
# Two rungs always lie on a line.
FEWEST = 3


class Exponent(NamedTuple):
    """A fitted exponent with its interval, and the slope between the two largest sizes."""

    value: float
    low: float
    high: float
    end: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


class Law(NamedTuple):
    """How the costs of ours and of a peer grow over a size, from its first value to its last.

    `memory` is the exponent of our program's memory, None where it was not measured.
    """

    name: str
    peer: str
    over: str
    first: float
    last: float
    ours: Exponent
    theirs: Exponent
    memory: float | None


def laws(rows: Sequence[Mapping[str, Any]]) -> list[Law]:
    """The laws of all ladders of a benchmark; rows are JSON data, rungs in any order."""
    ladders: dict[tuple, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["over"]:
            ladders.setdefault((row["name"], row["peer"], row["over"], row["dtype"]), []).append(
                row
            )
    return [_law(rungs) for rungs in ladders.values() if len(rungs) >= FEWEST]


def _law(rungs: Sequence[Mapping[str, Any]]) -> Law:
    over = rungs[0]["over"]
    rungs = sorted(rungs, key=lambda row: row["size"][over])
    sizes = np.array([row["size"][over] for row in rungs], float)
    held = [row["mib"] for row in rungs]
    return Law(
        rungs[0]["name"],
        rungs[0]["peer"],
        over,
        sizes[0],
        sizes[-1],
        exponent(sizes, [row["seconds"] for row in rungs]),
        exponent(sizes, [row["peer_seconds"] for row in rungs]),
        exponent(sizes, held).value if all(held) else None,
    )


def exponent(sizes: np.ndarray, costs: Sequence[float] | np.ndarray) -> Exponent:
    """The exponent of costs in sizes, which increase."""
    values = np.asarray(costs, float)
    slope = loglog_slope(sizes, values, confidence=CONFIDENCE)
    end = np.log(values[-1] / values[-2]) / np.log(sizes[-1] / sizes[-2])
    return Exponent(float(slope.value), float(slope.low), float(slope.high), float(end))
