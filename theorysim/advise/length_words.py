"""What an answer about checkpoints says: its sentence, what its columns mean, its picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from theorysim.advise.answer import explained
from theorysim.advise.pictures import Panel, Series
from theorysim.advise.problem import Loss, risk_name
from theorysim.advise.sensitivity import COVERED, Change


def sentence(
    order: list[float],
    row: dict[str, Any],
    starts: np.ndarray,
    rows: list[dict[str, Any]],
    seeds: int,
    loss: Loss,
) -> str:
    """Where to stop, by how much the end is worse, and where the new task does best."""
    risk, name = f"{risk_name(loss)} on the old task", _why(row, rows)
    least = order[int(np.argmin(starts))]
    where = f"checkpoint {row['turns at']:g} ({row['from']:g} to {row['to']:g} in {seeds} seeds)"
    if row["turns"]:
        told = f"Stop at {where} {name}: the {risk} is then {row['least loss']}, and "
        told += f"{row['rise']} more at the last checkpoint, {order[-1]:g}{row['rise'].near}"
    else:
        told = f"Pretrain on {name}: no checkpoint before the last, {where}, has a lesser {risk} "
        told += f"than its {row['least loss']}"
    told += f"; unchanged, it is least at checkpoint {least:g}"
    if row["new best at"] is not None:
        told += f"; the new task does best from checkpoint {row['new best at']:g}: "
        told += f"{row['new risk']} {row['new loss']}, {row['new untuned']:.3g} without fine-tuning"
        if row["new loss"].value >= row["new untuned"]:
            told += ", which only harms: take fewer steps or smaller rates"
    return told + "."


def _why(row: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """The change that the answer is about, and why it is this one of those that were tried."""
    if row["new loss"] is None:
        return f"under {row['change']} (the strongest that was tried; give new= to fine-tune)"
    tried = sum(one["new loss"] is not None for one in rows)
    return f"if it is {row['change']} (the rate of least loss on the new task, of {tried} tried)"


def meanings(seeds: int, loss: Loss, columns: Sequence[str]) -> list[str]:
    """What the columns are."""
    told = {
        "turns at": "the checkpoint after which the old task's loss rises once parameters are "
        "changed",
        "from": f"its {COVERED[0]:.0%} quantile over {seeds} seeds",
        "to": f"its {COVERED[1]:.0%} quantile",
        "predicted": "turns at, to second order",
        "two-layer": "turns at, by the theory of two-layer linear networks, its unit of time and "
        "initial weights fitted to the losses without noise",
        "least loss": f"{risk_name(loss)} on the old task where it turns (± one standard error "
        "over seeds)",
        "new loss": "held-out loss on the new task from the checkpoint that is best for it",
    }
    return [
        explained(columns, told),
        "noise is in units of each parameter's root mean square, rates are those of Adam, per "
        "step; checkpoints are in the steps or tokens that they are named by",
    ]


def panel(order: list[float], starts: np.ndarray, changes: list[Change], loss: Loss) -> Panel:
    """Losses of all checkpoints, unchanged and changed."""
    at = tuple(map(float, order))
    shown = [Series("unchanged", at, tuple(map(float, starts)))]
    for change in changes:
        error = change.losses.std(0, ddof=1) / np.sqrt(len(change.losses))
        mean = tuple(map(float, change.losses.mean(0)))
        shown.append(Series(change.name, at, mean, tuple(map(float, error)), True))
        if change.predicted is not None:
            shown.append(
                Series(f"{change.name}, predicted", at, tuple(map(float, change.predicted)))
            )
    positive = bool(min(order) > 0)
    return Panel(
        "Length of pretraining",
        "checkpoint (steps or tokens)",
        f"{risk_name(loss)} on the old task",
        tuple(shown),
        log_x=positive,
        log_y=True,
    )
