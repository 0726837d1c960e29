"""How strongly to pull fine-tuning back to its start, and how long the linearisation is to trust.

Theorems are those of Afzal et al., "Linearization Explains Fine-Tuning in Large Language Models",
NeurIPS 2025, as corrected and verified here: they are about R = ||f - y||^2, summed, with
lambda/2 ||theta - theta_0||^2. A mean over n inputs is the same with n lambda and time t / n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from theorysim.advise import record
from theorysim.advise.answer import Advice, Uncertain, number
from theorysim.advise.given import checked
from theorysim.advise.groups import Grouping
from theorysim.advise.kernels import PAIRS, Kernels, few_landmarks, fitting, kernels
from theorysim.advise.layer_checks import STRAIGHT
from theorysim.advise.layer_words import standard_error
from theorysim.advise.lipschitz import Bends, bends
from theorysim.advise.paths import (
    LinearPath,
    Path,
    curvature,
    linear_path,
    real_path,
    recorded,
)
from theorysim.advise.problem import Loss, Problem, as_inputs, problem, slopes_of
from theorysim.advise.strength_checks import Bounds, checks_of, gap_of, held, moved
from theorysim.advise.strength_words import NONE, meanings, panels, sentence
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
CLOSE = 1e-9


@checked
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
    small, notes = fitting(task, seed, pairs, learnt=1)  # both paths on the same inputs
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
    told = _advice(small, grams, wanted, rate, predicted, bent, bounds, measured, notes)
    return told.warned(few_landmarks(task, pairs))


def _pulls(given: Sequence[float] | None, unit: float) -> list[float]:
    wanted = [pull * unit for pull in PULLS] if given is None else sorted(set(map(float, given)))
    if len(wanted) < 2:
        raise UsageError(f"pulls {wanted}: give two or more to choose from")
    if wanted[0] < 0:
        raise UsageError(f"pull {number(wanted[0])}: expected finite numbers from 0 upwards")
    return wanted


def _rate(given: float | None, curved: float, strongest: float) -> float:
    limit = 1 / (curved + strongest)
    if given is None:
        return SAFE * limit
    if not 0 < given <= 2 * limit:
        raise UsageError(
            f"rate={given:g}: expected above 0, and up to {number(2 * limit)}, where linearised "
            "descent stops being stable at these pulls"
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
    stuck = held(path, grams.start, task)
    if measured is not None:
        stuck |= held(measured, grams.start, task)
    # Of what did not move, shares would be those of roundings.
    far = np.where(stuck[:, None], np.nan, moved(path))
    share = bent.gap / far
    straight = None if measured is None else gap_of(measured, path) / far
    bound_share = None if bounds is None else bounds.gap / far
    shares = (share, bound_share, straight)
    rows = [_row(i, pulls, path, shares, measured, bool(stuck[i])) for i in range(len(pulls))]
    kind = "predicted" if measured is None else "measured"
    risks = np.array([row[kind].value for row in rows])
    order = np.argsort(np.where(np.isfinite(risks), risks, np.inf), kind="stable").tolist()
    checks = checks_of(task, path, share, bounds, measured, rows)
    columns = ["lambda", "predicted", "trusted to"]
    columns += [] if bounds is None else ["bound to"]
    columns += ["best step", "distance"] if measured is None else ["measured", "straight to"]
    return Advice(
        "strength",
        NONE if stuck.all() else rows[order[0]]["lambda"],
        sentence(order, rows, path, measured, task),
        tuple(rows),
        tuple(columns),
        tuple(checks),
        (
            record.told("strength", "linearised"),
            *meanings(path, rate, task, columns),
            *notes,
            *task.notes,
            *task.subject.notes,
        ),
        panels(pulls, path, measured, shares, task),
    )


def _row(
    i: int,
    pulls: list[float],
    path: Path,
    shares: tuple[np.ndarray, np.ndarray | None, np.ndarray | None],
    measured: Path | None,
    stuck: bool,
) -> dict[str, Any]:
    risks = path.held_out[i].mean(-1)
    until = [None if one is None or stuck else trusted(one[i], path.steps) for one in shares]
    row: dict[str, Any] = {
        "lambda": number(pulls[i]),
        "predicted": Uncertain(float(risks[-1]), standard_error(path.held_out[i, -1])),
        "best step": None if stuck else int(path.steps[int(np.argmin(risks))]),
        "least": float(risks.min()),
        "distance": float(path.distance[i, -1]),
        "held": stuck,
        "trusted to": until[0],
        "bound to": until[1],
        "measured": None,
        "straight to": until[2],
    }
    if measured is not None:
        end = measured.held_out[i, -1]
        row |= {
            "measured": Uncertain(float(end.mean()), standard_error(end)),
            "measured best step": int(path.steps[int(np.argmin(measured.held_out[i].mean(-1)))]),
            "measured distance": float(measured.distance[i, -1]),
        }
    return row
