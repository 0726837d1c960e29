"""How strongly to pull fine-tuning back to its start, and how long the linearisation is to trust.

Theorems are those of Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models",
NeurIPS 2025, as corrected and verified here: they are about R = ||f - y||^2, summed, with
lambda/2 ||theta - theta_0||^2. A mean over n inputs is the same with n lambda and time t / n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from theorysim.advise import record
from theorysim.advise.answer import Advice, Check, Uncertain, number
from theorysim.advise.groups import Grouping
from theorysim.advise.kernels import PAIRS, Kernels, fitting, kernels
from theorysim.advise.layer_checks import STRAIGHT
from theorysim.advise.layer_choice import standard_error
from theorysim.advise.lipschitz import Bends, bends
from theorysim.advise.paths import LinearPath, Path, curvature, linear_path, real_path, recorded
from theorysim.advise.pictures import Panel, Series
from theorysim.advise.problem import Loss, Problem, as_inputs, problem, slopes_of
from theorysim.advise.subject import subject
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

PULLS = (0.0, 1e-2, 1e-1, 1.0, 10.0)
"""pulls that are tried, in units of the mean curvature of the linearised loss"""
SCORES: dict[str, tuple[str, int]] = {
    "linearised": ("held-out risk of the linearised model after the last step", 1),
    "pull": ("trivial: the weakest pull first", 1),
}
"""Names, what they are, and 1 where the smallest value is promising"""
TRIVIAL = ("pull",)
TIMES = 8
"""so many numbers of steps are looked at"""
SAFE = 0.5
"""the default learning rate, in units of 1 / (largest curvature + largest pull)"""
ROUNDED = 1e-4
"""Single precision loses less than this share of how far outputs move, over thousands of steps"""
CLOSE = 1e-9


class Bounds(NamedTuple):
    """What the theorems say with estimated constants, for every pull and recorded step."""

    gap: Float[np.ndarray, "pulls times"]
    """Theorem 3: distance of the outputs from those of the linearised model, trained beside"""
    distance: Float[np.ndarray, "pulls times"]
    """Theorem 2: distance of the parameters from their start"""


def strength(
    model: Any,
    inputs: Any,
    targets: Any,
    *,
    params: Any = None,
    test: tuple[Any, Any] | None = None,
    groups: Grouping = None,
    pulls: Sequence[float] | None = None,
    rate: float | None = None,
    steps: int = 500,
    loss: Loss | None = None,
    batched: bool | None = None,
    pairs: int = PAIRS,
    measure: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Advice:
    """How strong a pull lambda/2 ||theta - theta_0||^2 to add to the mean loss.

        print(advise.strength(model, inputs, targets, measure=True))

    Args:
        model, params, groups, batched: the model, see `theorysim.advise.subject.subject`; all
            groups are tuned.
        inputs, targets, test, loss: the task, see `theorysim.advise.problem.problem`.
        pulls: values of lambda; some in units of the mean curvature unless given.
        rate, steps: of gradient descent; the rate is half of a stable one unless given.
        pairs: rows of the Gram, inputs times outputs; both paths use the same inputs.
        measure: run the model itself beside its linearisation.
        seed: of all draws.
        progress: told what is being done.

    Raises:
        UsageError: for what does not fit together, in one line.
    """
    found = subject(model, as_inputs(inputs), params, groups, batched)
    task = problem(found, as_inputs(inputs), targets, test, loss, seed)
    small, notes = fitting(task, seed, pairs)
    progress(0, 3, "kernels")
    grams = kernels(small)
    gram = grams.of(found.order)[0]
    curved = curvature(gram, len(small.train), small.loss)
    mean = curved * float(np.trace(gram)) / len(gram) / float(np.linalg.eigvalsh(gram)[-1])
    wanted = _pulls(pulls, mean)
    rate = _rate(rate, curved, wanted[-1])
    if steps < 2:
        raise UsageError(f"steps={steps}: at least 2")
    times = recorded(steps, TIMES)
    progress(1, 3, "predicted paths")
    predicted = linear_path(small, grams, wanted, rate, times)
    bent = bends(small, predicted, grams.start, wanted, rate, seed)
    progress(2, 3, "measured paths")
    measured = real_path(small, wanted, rate, times) if measure else None
    bounds = None
    if small.loss == "squared":
        bounds = theorem_bounds(small, grams, bent, wanted, rate, times)
    return _advice(small, grams, wanted, rate, predicted, bent, bounds, measured, notes)


def _pulls(given: Sequence[float] | None, unit: float) -> list[float]:
    wanted = [pull * unit for pull in PULLS] if given is None else sorted(set(map(float, given)))
    if len(wanted) < 2:
        raise UsageError(f"pulls {wanted}: give two or more to choose from")
    if not (wanted[0] >= 0 and np.isfinite(wanted).all()):
        raise UsageError(f"pull {number(wanted[0])}: expected finite numbers from 0 upwards")
    return wanted


def _rate(given: float | None, curved: float, strongest: float) -> float:
    limit = 1 / (curved + strongest)
    if given is None:
        return SAFE * limit
    if not 0 < given <= 2 * limit:
        raise UsageError(
            f"rate={given:g}: linearised descent is stable up to {number(2 * limit)} at these pulls"
        )
    return given


def theorem_bounds(
    task: Problem,
    grams: Kernels,
    bent: Bends,
    pulls: Sequence[float],
    rate: float,
    times: Sequence[int],
) -> Bounds:
    """Theorems 2 and 3 with the estimated constants, at t = rate x steps."""
    n = len(task.train)
    first = float(np.linalg.norm(slopes_of(grams.start, task.train.targets, "squared")))
    time = rate * np.asarray(times)[None] / n
    pull = n * np.asarray(pulls)[:, None]
    faded, excess = _faded(pull, time), _excess(pull, time)
    # b (t - (1 - e^(-lambda t)) / lambda), with the division by lambda inside of `excess`.
    slope = 2 * bent.outputs**2 * first
    gap = slope * (4 * bent.jacobian * first + pull) * excess
    return Bounds(gap, 2 * bent.outputs * first * faded)


def _faded(pull: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(1 - e^(-lambda t)) / lambda, t where lambda is 0."""
    rate = np.broadcast_to(pull * time, np.broadcast_shapes(pull.shape, time.shape))
    return np.where(rate > CLOSE, -np.expm1(-rate) / np.maximum(pull, CLOSE**2), time + 0 * rate)


def _excess(pull: np.ndarray, time: np.ndarray) -> np.ndarray:
    """(t - (1 - e^(-lambda t)) / lambda) / lambda, t^2 / 2 where lambda is 0."""
    z = pull * time
    series = 0.5 - z / 6 + z**2 / 24 - z**3 / 120
    closed = (z + np.expm1(-z)) / np.maximum(z, CLOSE) ** 2
    # Below, the closed form loses more digits than the series leaves out.
    return time**2 * np.where(z < 1e-2, series, closed)


def trusted(share: Float[np.ndarray, " times"], steps: Sequence[int]) -> int:
    """The last recorded step up to which a share stays below `STRAIGHT`; 0 where none does."""
    beyond = np.flatnonzero(~(share < STRAIGHT))
    kept = len(share) if not beyond.size else int(beyond[0])
    return int(steps[kept - 1]) if kept else 0


def _moved(path: Path) -> np.ndarray:
    return np.maximum(np.linalg.norm(path.change, axis=(2, 3)), np.finfo(float).tiny)


def _advice(
    task: Problem,
    grams: Kernels,
    pulls: list[float],
    rate: float,
    predicted: LinearPath,
    bent: Bends,
    bounds: Bounds | None,
    measured: Path | None,
    notes: list[str],
) -> Advice:
    path = predicted.path
    share = bent.gap / _moved(path)
    bound_share = None if bounds is None else bounds.gap / _moved(path)
    rows = [_row(i, pulls, path, share, bound_share, measured) for i in range(len(pulls))]
    best = int(np.argmin([row["predicted"].value for row in rows]))
    checks = _checks(task, pulls, path, share, bounds, measured, rows)
    columns = ["lambda", "predicted", "trusted to"]
    columns += [] if bounds is None else ["bound to"]
    columns += ["best step", "distance"] if measured is None else ["measured", "straight to"]
    return Advice(
        "strength",
        rows[best]["lambda"],
        _sentence(best, rows, path, measured),
        tuple(rows),
        tuple(columns),
        tuple(checks),
        (
            record.told("strength", "linearised"),
            *_meanings(path, rate, task),
            *notes,
            *task.notes,
            *task.subject.notes,
        ),
        _panels(pulls, path, measured, share, bound_share),
    )


def _row(
    i: int,
    pulls: list[float],
    path: Path,
    share: np.ndarray,
    bound_share: np.ndarray | None,
    measured: Path | None,
) -> dict[str, Any]:
    risks = path.held_out[i].mean(-1)
    row: dict[str, Any] = {
        "lambda": number(pulls[i]),
        "predicted": Uncertain(float(risks[-1]), standard_error(path.held_out[i, -1])),
        "best step": int(path.steps[int(np.argmin(risks))]),
        "least": float(risks.min()),
        "distance": float(path.distance[i, -1]),
        "trusted to": trusted(share[i], path.steps),
        "bound to": None if bound_share is None else trusted(bound_share[i], path.steps),
        "measured": None,
        "straight to": None,
    }
    if measured is not None:
        end = measured.held_out[i, -1]
        gap = np.linalg.norm(measured.change[i] - path.change[i], axis=(1, 2))
        row |= {
            "measured": Uncertain(float(end.mean()), standard_error(end)),
            "measured best step": int(path.steps[int(np.argmin(measured.held_out[i].mean(-1)))]),
            "measured distance": float(measured.distance[i, -1]),
            "straight to": trusted(gap / _moved(path)[i], path.steps),
        }
    return row


def _sentence(best: int, rows: list[dict[str, Any]], path: Path, measured: Path | None) -> str:
    own = rows[best]
    told = (
        f"Pull with lambda = {own['lambda']}: predicted held-out risk after {path.steps[-1]} steps "
        f"{own['predicted']}"
    )
    if measured is not None:
        told += f", measured {own['measured']}"
    if best:
        gain = path.held_out[0, -1] - path.held_out[best, -1]
        told += f", better than lambda = {rows[0]['lambda']} by "
        told += str(Uncertain(float(gain.mean()), standard_error(gain)))
        if measured is not None:
            real = measured.held_out[0, -1] - measured.held_out[best, -1]
            told += f" (measured {Uncertain(float(real.mean()), standard_error(real))})"
    told += (
        f"; the linearisation is trustworthy up to step {own['trusted to']} of {path.steps[-1]} "
    )
    told += "by estimate"
    if own["bound to"] is not None:
        told += f", {own['bound to']} by the theorem's bound with estimated constants"
    if measured is not None:
        told += f", {own['straight to']} as measured"
    return told + "."


def _checks(
    task: Problem,
    pulls: list[float],
    path: Path,
    share: np.ndarray,
    bounds: Bounds | None,
    measured: Path | None,
    rows: list[dict[str, Any]],
) -> list[Check]:
    squared = task.loss == "squared"
    checks = [
        Check(
            "Theorems 2 to 4 are about the squared loss",
            squared,
            "it is yours" if squared else "yours is the cross-entropy: no bound is given",
        )
    ]
    end = [row["trusted to"] == path.steps[-1] for row in rows]
    checks.append(
        Check(
            f"both models are estimated to stay together to the end (share below {STRAIGHT})",
            all(end),
            f"for {sum(end)} of {len(end)} pulls, along the predicted paths; the largest share is "
            f"{number(float(share.max()))}",
        )
    )
    if measured is None:
        return checks
    return [*checks, *_theorem_checks(path, bounds, measured), *_measured_checks(rows)]


def _theorem_checks(path: Path, bounds: Bounds | None, measured: Path) -> list[Check]:
    """Theorems 2 and 3 on the measured paths."""
    if bounds is None:
        return []
    gaps = np.linalg.norm(measured.change - path.change, axis=(2, 3))
    held = gaps <= bounds.gap + ROUNDED * _moved(path)
    inside = measured.distance <= bounds.distance
    return [
        Check(
            "Theorem 3, constants estimated: measured gap below its bound",
            bool(held.all()),
            f"at {held.sum()} of {held.size} points of the measured paths",
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


def _meanings(path: Path, rate: float, task: Problem) -> list[str]:
    return [
        f"full-batch gradient descent at learning rate {number(rate)} on {len(task.train)} inputs "
        "with lambda/2 |theta - theta_0|^2 beside the mean loss; predicted: the linearised model, "
        f"its loss on {len(task.test)} held-out inputs (± one standard error)",
        "trusted to: the last step up to which both models, trained beside each other, are "
        f"estimated to stay within {STRAIGHT} of how far their outputs moved, by how the real "
        "model's velocity differs at the predicted parameters; bound to: the same by Theorem 3, "
        "whose Lipschitz constants are the largest met along the path, so no certificate; straight "
        "to: the same as measured",
    ]


def _panels(
    pulls: list[float],
    path: Path,
    measured: Path | None,
    share: np.ndarray,
    bound_share: np.ndarray | None,
) -> tuple[Panel, ...]:
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
        if measured is not None:
            gap = np.linalg.norm(measured.change[i] - path.change[i], axis=(1, 2)) / _moved(path)[i]
            bend.append(Series(f"{name}, measured", steps, tuple(gap), points=True))
    return (
        Panel("Held-out risk along the run", "steps", "held-out risk", tuple(risks), log_x=True),
        Panel(
            "How far outputs leave the linearisation",
            "steps",
            "share of how far they moved",
            tuple(bend),
            log_x=True,
            log_y=True,
        ),
    )
