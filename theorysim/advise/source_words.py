"""A source with its scores; an answer's sentence about it, what columns mean, the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from theorysim.advise import record
from theorysim.advise.answer import Uncertain, explained
from theorysim.advise.layer_words import standard_error
from theorysim.advise.paths import MOST_STEPS
from theorysim.advise.pictures import Panel, Series
from theorysim.advise.problem import Problem, caution, risk_name
from theorysim.advise.tuning import Tuned, apart, unfinished_told

SCRATCH = "no source"
SHARE = 0.5
"""steps are counted until the training loss is this share of the untuned loss without a source"""


class Source(NamedTuple):
    """A source with its scores."""

    scores: Mapping[str, float]
    held_out: np.ndarray
    """loss of every held-out input after source and target, linearised"""
    steps: int | None
    """of linearised descent until the training loss is `level`"""
    rate: float
    """of that descent"""
    level: float
    """`SHARE` of the untuned loss without a source"""


def sentence(
    choice: str,
    promised: str,
    rows: Mapping[str, dict[str, Any]],
    scored: Mapping[str, Source],
    measured: Mapping[str, Tuned] | None,
    question: str,
    by: str,
    task: Problem,
) -> str:
    """The best source, what it gains beside none, and what the sign rule says of it."""
    kind = "predicted" if measured is None else "measured"
    verb = "Start from" if choice != SCRATCH else "Use"
    told = f"{verb} {choice}: {kind} {risk_name(task.loss)} {rows[choice][kind]}"
    if measured is not None:
        told += f" (predicted {rows[choice]['predicted']})"
    if choice != SCRATCH:
        behind = _apart(SCRATCH, choice, scored, measured)
        told += (
            f"; {SCRATCH}, {kind} {rows[SCRATCH][kind]}, is {behind.compared('better', 'worse')}"
        )
    told += f"; {_signs(scored) if choice == SCRATCH else _sign(choice, scored)}"
    if promised != choice:
        behind = _apart(promised, choice, scored, measured)
        told += f"; `{by}` puts {promised} first, {kind} {behind.compared('better', 'worse')}"
    if measured is not None:
        told += unfinished_told(unfinished(measured), measured[SCRATCH].longest)
    told += "."
    if any(row.score == by and row.low <= 0 for row in record.fared(question)):
        told += f" On record ranking by `{by}` is not surely better than chance."
    return told + _signs_on_record(question) + caution(task)


def unfinished(measured: Mapping[str, Tuned]) -> dict[str, int]:
    """By source: in how many seeds tuning from it did not come to its end."""
    return {name: run.unfinished_seeds(0) for name, run in measured.items()}


def _apart(
    name: str, other: str, scored: Mapping[str, Source], measured: Mapping[str, Tuned] | None
) -> Uncertain:
    """By how much more `name` risks than `other`, on the same inputs."""
    if measured is not None:
        return Uncertain(*apart(measured[name], measured[other]))
    gap = scored[name].held_out - scored[other].held_out
    return Uncertain(float(gap.mean()), standard_error(gap))


def _sign(name: str, scored: Mapping[str, Source]) -> str:
    """The sign rule on one source."""
    own, scratch = (scored[one].scores["start"] for one in (name, SCRATCH))
    pays, side = ("it pays", "below") if own < scratch else ("it does not pay", "not below")
    return (
        f"by the sign rule {pays}: fine-tuning starts at a loss of {own:.3g}, {side} the "
        f"{scratch:.3g} of {SCRATCH}"
    )


def _signs(scored: Mapping[str, Source]) -> str:
    """The sign rule on all sources."""
    start = scored[SCRATCH].scores["start"]
    below = [n for n, one in scored.items() if n != SCRATCH and one.scores["start"] < start]
    return (
        f"by the sign rule {', '.join(below) or 'no source given'} would pay: a start loss below "
        f"{start:.3g}"
    )


def _signs_on_record(question: str) -> str:
    """That the sign rule was right less often than one answer for all sources, where it was."""
    right, count, pay = signs_right(record.record(question).get("measured", []))
    usual = max(pay, count - pay)
    if right >= usual:
        return ""
    return (
        f" On record the sign rule is right for {right} of {count} sources, the same answer for "
        f"all of them for {usual}."
    )


def signs_right(cases: Sequence[Mapping[str, Any]]) -> tuple[int, int, int]:
    """For how many sources the sign rule is right, of how many, and how many of them pay."""
    rules = [case["sign rule"] for case in cases]
    right, count = (sum(part) for part in zip(*rules)) if rules else (0, 0)
    pay = sum(
        risk < case["measured"][SCRATCH] for case in cases for risk in case["measured"].values()
    )
    return right, count, pay


def meanings(task: Problem, question: str, columns: Sequence[str]) -> list[str]:
    """What the columns are."""
    around = "the untrained model" if question == "transfer" else "each checkpoint"
    risk = risk_name(task.loss)
    told = {
        "start loss": "mean training loss with which fine-tuning starts",
        "movement": "Euclidean distance that it moves the parameters",
        "steps": "of linearised descent on the inputs of the Gram, at the largest rate that is "
        f"surely stable, until the training loss there is {SHARE} of the one without a source, "
        f"untuned (more: than {MOST_STEPS})",
        "measured steps": "the same of the model itself, at the same rate and inputs",
        "left out": "leave-one-out risk on the target",
        "predicted": f"mean {risk} of {len(task.test)} inputs (± one standard error)",
        "measured": "the same of models that were really tuned from the source, by Adam",
    }
    return [
        f"predictions are of the model linearised around {around}, all groups tuned; "
        + explained(columns, told)
    ]


def panel(rows: list[dict[str, Any]], task: Problem) -> Panel:
    """Predicted risks from all sources, and measured ones."""
    names = tuple(row["source"] for row in rows)
    keys = ["predicted"] + ([] if rows[0]["measured"] is None else ["measured"])
    shown = tuple(
        Series(
            key,
            names,
            tuple(row[key].value for row in rows),
            tuple(row[key].error for row in rows),
            True,
        )
        for key in keys
    )
    return Panel("Which source", "source", f"{risk_name(task.loss)} on the target", shown)
