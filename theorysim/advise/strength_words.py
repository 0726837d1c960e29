"""What an answer about pulls says: its sentence, what its columns mean, its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theorysim.advise.answer import Uncertain, explained, number
from theorysim.advise.groups import shown
from theorysim.advise.layer_checks import STRAIGHT
from theorysim.advise.layer_words import standard_error
from theorysim.advise.paths import Path
from theorysim.advise.pictures import Panel, Series
from theorysim.advise.problem import Problem, caution, risk_name

NONE = "none"
"""what is advised where no pull lets the model move"""


def sentence(
    order: list[int],
    rows: list[dict[str, Any]],
    path: Path,
    measured: Path | None,
    task: Problem,
) -> str:
    """The best pull, by how much it is ahead, and how far its prediction is to trust.

    `order` are pulls, the best first: as measured where this was done, else as predicted.
    """
    if all(row["held"] for row in rows):
        return _nothing_moved(rows, path, task)
    own, last = rows[order[0]], path.steps[-1]
    told = f"{_advised(own)}: {_risk(own, last, measured is not None, task)}"
    other = order[1] if order[0] == 0 else 0
    ahead = _apart(other, order[0], path if measured is None else measured)
    told += f"; {_named(rows[other])} is {ahead.compared('better', 'worse')}"
    if not own["held"]:
        told += _trust(own, last, measured is not None)
    stuck = [row["lambda"] for row in rows if row["held"]]
    if stuck:
        told += f"; with lambda = {shown(stuck)} nothing moves by more than rounding: that is the "
        told += "untuned model"
    key = "best step" if measured is None else "measured best step"
    if all(row[key] == last for row in rows if not row["held"]):
        told += f"; every run is still falling at the last step, {last}: raise steps= or rate="
    return told + "." + caution(task)


def _nothing_moved(rows: list[dict[str, Any]], path: Path, task: Problem) -> str:
    return (
        f"No pull is advised: nothing moved by more than rounding in {path.steps[-1]} steps, so "
        f"that all runs have the untuned model's {risk_name(task.loss)}, {rows[0]['predicted']}; "
        f"give smaller pulls=, of which the largest, lambda = {rows[-1]['lambda']}, limits the "
        "learning rate of all, or raise steps= or rate=." + caution(task)
    )


def _trust(row: dict[str, Any], last: int, measured: bool) -> str:
    """How long the linearisation is to trust."""
    told = f"; the linearisation is trustworthy up to step {row['trusted to']} of {last} "
    told += "by estimate"
    if row["bound to"] is not None:
        told += f", {row['bound to']} by the theorem's bound with estimated constants"
    return told + (f", {row['straight to']} as measured" if measured else "")


def _advised(row: dict[str, Any]) -> str:
    return "Do not pull" if row["lambda"] == "0" else f"Pull with lambda = {row['lambda']}"


def _named(row: dict[str, Any]) -> str:
    return "no pull" if row["lambda"] == "0" else f"lambda = {row['lambda']}"


def _risk(row: dict[str, Any], last: int, measured: bool, task: Problem) -> str:
    """The risk at the end, as measured or as predicted, with a warning where this reaches far."""
    name = f"{risk_name(task.loss)} after {last} steps"
    short = f", by a linearisation trusted for {row['trusted to']} of {last} steps only"
    warning = short if not row["held"] and row["trusted to"] < last else ""
    if measured:
        return f"measured {name} {row['measured']} (predicted {row['predicted']}{warning})"
    return f"predicted {name} {row['predicted']}{warning}"


def _apart(pull: int, other: int, path: Path) -> Uncertain:
    """By how much more `pull` risks than `other` after the last step, on the same inputs."""
    gap = path.held_out[pull, -1] - path.held_out[other, -1]
    return Uncertain(float(gap.mean()), standard_error(gap))


def meanings(path: Path, rate: float, task: Problem, columns: Sequence[str]) -> list[str]:
    """How models were trained, and what the columns are."""
    last = path.steps[-1]
    told = {
        "lambda": "the pull, in units of loss / parameters^2",
        "predicted": f"mean {risk_name(task.loss)} of the linearised model on {len(task.test)} "
        f"inputs after {last} steps (± one standard error)",
        "trusted to": "the last step up to which both models, trained beside each other, are "
        f"estimated to stay within {STRAIGHT} of how far their outputs moved, by how the real "
        "model's velocity differs at the predicted parameters",
        "bound to": "the same by Theorem 3, whose Lipschitz constants are the largest met along "
        "the path, so no certificate",
        "best step": "the one of least predicted risk, of those that were looked at",
        "distance": f"how far the linearised parameters move in {last} steps",
        "measured": "the risk of the model itself after as many steps",
        "straight to": "trusted to, as measured",
    }
    return [
        f"full-batch gradient descent at learning rate {number(rate)} on {len(task.train)} inputs "
        "with lambda/2 |theta - theta_0|^2 beside the mean loss",
        explained(columns, told),
    ]


def panels(
    pulls: list[float],
    path: Path,
    measured: Path | None,
    shares: tuple[np.ndarray, np.ndarray | None, np.ndarray | None],
    task: Problem,
) -> tuple[Panel, ...]:
    """Risks along the run, and how far outputs leave the linearisation.

    `shares` is how far by estimate, by the bound and as measured, for every pull and step.
    """
    share, bound_share, straight = shares
    risk = risk_name(task.loss)
    steps = tuple(map(float, path.steps))
    risks, bend = [], []
    for i, pull in enumerate(pulls):
        name = f"lambda = {number(pull)}"
        risks.append(Series(f"{name}, predicted", steps, tuple(path.held_out[i].mean(-1))))
        if measured is not None:
            real = tuple(measured.held_out[i].mean(-1))
            risks.append(Series(f"{name}, measured", steps, real, points=True))
    for i in (0, len(pulls) - 1):
        name = f"lambda = {number(pulls[i])}"
        bend.append(Series(f"{name}, estimate", steps, tuple(share[i])))
        if bound_share is not None:
            bend.append(
                Series(f"{name}, bound (estimated constants)", steps, tuple(bound_share[i]))
            )
        if straight is not None:
            bend.append(Series(f"{name}, measured", steps, tuple(straight[i]), points=True))
    return (
        Panel(f"{risk.capitalize()} along the run", "steps", risk, tuple(risks), log_x=True),
        Panel(
            "How far outputs leave the linearisation",
            "steps",
            "share of how far they moved",
            tuple(bend),
            log_x=True,
            log_y=True,
        ),
    )
