"""Whether the theory of pulls applies to a model, and which pulls let it move at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from theorysim.advise.answer import Check, number
from theorysim.advise.groups import shown
from theorysim.advise.layer_checks import STRAIGHT
from theorysim.advise.paths import Path
from theorysim.advise.problem import Problem, slopes_of

ROUNDED = 1e-4
"""Single precision loses less than this share of how far outputs move, over thousands of steps"""
ROUNDINGS = 100
"""so many roundings of the outputs, and of what is left to learn, are no movement"""


class Bounds(NamedTuple):
    """What the theorems say with estimated constants, for every pull and recorded step."""

    gap: Float[np.ndarray, "pulls times"]
    """Theorem 3: distance of the outputs from those of the linearised model, trained beside"""
    distance: Float[np.ndarray, "pulls times"]
    """Theorem 2: distance of the parameters from their start"""


def held(path: Path, start: Float[np.ndarray, "n k"], task: Problem) -> Bool[np.ndarray, " pulls"]:
    """For which pulls no recorded step leaves the untuned model by more than rounding.

    Args:
        path: predicted or measured.
        start: outputs of the untuned model.
        task: what is learnt.
    """
    kind = jax.eval_shape(task.subject.batch, task.subject.params, task.train.inputs).dtype
    slopes = slopes_of(start, task.train.targets, task.loss)
    scale = float(np.linalg.norm(start) + np.linalg.norm(slopes))
    return moved(path).max(axis=1) <= ROUNDINGS * float(jnp.finfo(kind).eps) * scale


def moved(path: Path) -> np.ndarray:
    """How far outputs are from their start, for every pull and step."""
    return np.maximum(np.linalg.norm(path.change, axis=(2, 3)), np.finfo(float).tiny)


def gap_of(measured: Path, path: Path) -> np.ndarray:
    """How far measured outputs are from linearised ones, for every pull and step."""
    return np.linalg.norm(measured.change - path.change, axis=(2, 3))


def checks_of(
    task: Problem,
    path: Path,
    share: np.ndarray,
    bounds: Bounds | None,
    measured: Path | None,
    rows: Sequence[dict[str, Any]],
) -> list[Check]:
    """What the theorems need, and what was measured; of pulls that let the model move."""
    squared = task.loss == "squared"
    checks = [
        Check(
            "Theorems 2 to 4 are about the squared loss",
            squared,
            "it is yours" if squared else "yours is the cross-entropy: no bound is given",
        )
    ]
    moving = np.array([not row["held"] for row in rows])
    stuck = [row["lambda"] for row in rows if row["held"]]
    if stuck:
        checks.append(
            Check(
                "every pull lets the outputs move by more than rounding",
                False,
                f"not {len(stuck)} of {len(rows)}: lambda = {shown(stuck)}; nothing else is "
                "checked of them",
            )
        )
    if not moving.any():
        return checks
    rows = [row for row in rows if not row["held"]]
    end = [row["trusted to"] == path.steps[-1] for row in rows]
    checks.append(
        Check(
            f"both models are estimated to stay together to the end (share below {STRAIGHT})",
            all(end),
            f"for {sum(end)} of {len(end)} pulls, along the predicted paths; the largest share is "
            f"{number(float(share[moving].max()))}",
        )
    )
    if measured is None:
        return checks
    checks += _theorem_checks(path, bounds, measured, moving)
    return [*checks, *_measured_checks(rows)]


def _theorem_checks(
    path: Path, bounds: Bounds | None, measured: Path, moving: Bool[np.ndarray, " pulls"]
) -> list[Check]:
    """Theorems 2 and 3 on the measured paths."""
    if bounds is None:
        return []
    gaps = gap_of(measured, path)
    kept = (gaps <= bounds.gap + ROUNDED * moved(path))[moving]
    inside = (measured.distance <= bounds.distance)[moving]
    return [
        Check(
            "Theorem 3, constants estimated: measured gap below its bound",
            bool(kept.all()),
            f"at {kept.sum()} of {kept.size} points of the measured paths",
        ),
        Check(
            "Theorem 2, constants estimated: measured distance below its bound",
            bool(inside.all()),
            f"at {inside.sum()} of {inside.size} points",
        ),
    ]


def _measured_checks(rows: list[dict[str, Any]]) -> list[Check]:
    """Predictions against what was measured."""
    early = [row["straight to"] >= row["trusted to"] for row in rows]
    near = [
        abs(row["predicted"].value - row["measured"].value)
        <= 2 * float(np.hypot(row["predicted"].error, row["measured"].error))
        for row in rows
    ]
    return [
        Check(
            "measured paths leave the linearised ones no earlier than estimated",
            all(early),
            f"for {sum(early)} of {len(early)} pulls",
        ),
        Check(
            "predicted and measured risks at the end agree within two standard errors",
            all(near),
            f"for {sum(near)} of {len(near)} pulls",
        ),
    ]
