"""What an answer about layers says: its sentence, what its columns mean, its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from theorysim.advise.answer import Uncertain, explained
from theorysim.advise.pictures import Panel, Series
from theorysim.advise.problem import Problem, caution, risk_name
from theorysim.advise.scores import Score
from theorysim.advise.tuning import Tuned, unfinished_told

BASE_ALONE, ALL = "nothing else", "all"


class Ranked(NamedTuple):
    """Candidates, the best first: as measured where this was done, else by a score."""

    order: tuple[str, ...]
    promised: str
    """the first by the score `by`"""
    by: str


def name_of(groups: tuple[str, ...]) -> str:
    """Of groups that are tuned together."""
    return " + ".join(groups) or BASE_ALONE


def standard_error(values: np.ndarray) -> float:
    """Of a mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def sentence(
    ranked: Ranked,
    base: tuple[str, ...],
    scored: Mapping[str, Score],
    rows: list[dict[str, Any]],
    measured: Tuned | None,
    task: Problem,
) -> str:
    """The best candidate, by how much it is ahead, and how those that tune all or nothing do."""
    kind = "predicted" if measured is None else "measured"
    by_name = {row["tuned beside"]: row for row in rows}
    order = ranked.order
    told = "Tune nothing" if order[0] == BASE_ALONE else f"Tune {order[0]}"
    told += f" beside {name_of(base)}" if base else ""
    told += f": {kind} {risk_name(task.loss)} {by_name[order[0]][kind]}"
    if measured is not None:
        told += f" (predicted {by_name[order[0]]['predicted']})"
    ahead = _apart(order[1], order[0], scored, measured)
    place = "next" if measured is not None else f"next by `{ranked.by}`"
    told += f"; {place} is {order[1]}, {kind} {ahead.compared('better', 'worse')}"
    for name in (ALL, BASE_ALONE):
        if name in by_name and name not in order[:2]:
            told += f"; {name}: {kind} {by_name[name][kind]}"
    least = min(rows, key=lambda row: row["predicted"].value)["tuned beside"]
    if measured is not None and ranked.promised != order[0]:
        behind = _apart(ranked.promised, order[0], scored, measured)
        told += f"; `{ranked.by}` puts {ranked.promised} first, measured "
        told += behind.compared("better", "worse")
    elif measured is None and least != order[0]:
        told += f"; least predicted: {least}, {by_name[least]['predicted']}"
    if measured is not None:
        told += unfinished_told(unfinished(scored, measured), measured.longest)
    return told + "." + caution(task)


def unfinished(scored: Mapping[str, Score], measured: Tuned) -> dict[str, int]:
    """By candidate: in how many seeds its tuning did not come to its end."""
    return {name: measured.unfinished_seeds(place) for place, name in enumerate(scored)}


def _apart(name: str, other: str, scored: Mapping[str, Score], measured: Tuned | None) -> Uncertain:
    """By how much more `name` risks than `other`, on the same inputs."""
    if measured is not None:
        places = {one: place for place, one in enumerate(scored)}
        return Uncertain(*measured.difference(places[name], places[other]))
    gap = scored[name].held_out - scored[other].held_out
    return Uncertain(float(gap.mean()), standard_error(gap))


def meanings(
    task: Problem, base: tuple[str, ...], columns: Sequence[str], measured: Tuned | None
) -> list[str]:
    """What the columns are."""
    risk = risk_name(task.loss)
    told = {
        "parameters": "how many are tuned, those of the base among them",
        "left out": "leave-one-out risk of the linearised model at the pull for which it is least",
        "predicted": f"mean {risk} of {len(task.test)} inputs (± one standard error) of the "
        "linearised model at that pull",
        "eta": "the size |K^(-1/2) S K^(-1/2)| of what is added (Theorem 6)",
        "bend": "how far the real model leaves its linearisation there, as a share of how far "
        "outputs moved",
    }
    if measured is not None:
        told["measured"] = (
            f"the same of models that were really tuned, by Adam on {measured.losses.shape[1]} "
            "splits (seeds=)"
        )
    beside = f"; {name_of(base)} is tuned anyway (base=)" if base else ""
    return [explained(columns, told) + beside]


def panel(rows: list[dict[str, Any]], task: Problem) -> Panel:
    """Predicted risks of all candidates, and measured ones."""
    names = tuple(row["tuned beside"] for row in rows)

    def series(label: str, key: str) -> Series:
        numbers = [row[key] for row in rows]
        return Series(
            label, names, tuple(u.value for u in numbers), tuple(u.error for u in numbers), True
        )

    shown = [series("predicted by the linearised model", "predicted")]
    if rows[0]["measured"] is not None:
        shown.append(series("measured after tuning", "measured"))
    return Panel("What to tune", "tuned", risk_name(task.loss), tuple(shown))
