"""Runs of pretraining whose checkpoints are really disturbed and tuned, beside what scores say.

Scores see one half of the old task's spare inputs and draws of noise of their own; what is measured
uses the other half and other draws.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from theorysim.advise import demo
from theorysim.advise import subject as subjects
from theorysim.advise.kernels import fitting, kernels
from theorysim.advise.length_choice import CLOSE, NOISE_SCORES, NOISES, SCORES, everything
from theorysim.advise.problem import Problem, as_inputs, problem, rank_correlation
from theorysim.advise.sensitivity import Change, inflection, mean_loss, noisy, tuned
from theorysim.advise.source_choice import from_scratch
from theorysim.advise.two_layer import TwoLayer, constant_loss, spectrum, two_layer
from validation.advise_cases import ROOMS, Case

STEPS, RATES = 100, (1e-3, 3e-3)
"""steps of Adam from every checkpoint, and rates: the one of least loss on the new task counts"""
DRAWS = 5
"""of noise, and of the examples to tune on"""
OTHER = 1000
"""is added to the seed for draws that scores do not see"""


class Run(NamedTuple):
    """A run of pretraining: its checkpoints, and what they are disturbed on."""

    order: list[int]
    stages: list[Any]
    old: Problem
    """training examples are what scores see, held-out ones what is measured"""
    new: Problem


def length_case(case: Case) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """How scores rank the checkpoints of one run, in three cases.

    By the old task's loss under the strongest noise; by its loss after fine-tuning; and by the
    held-out loss of the new task.
    """
    begun = time.process_time()
    run = _pretraining(case)
    subject, loss = run.old.subject, run.old.loss
    seen = noisy(subject, run.old.train, loss, run.stages, NOISES, DRAWS, case.seed)
    away = noisy(subject, run.old.test, loss, run.stages, NOISES, DRAWS, case.seed + OTHER)
    own = mean_loss(subject, run.old.train, loss)
    unchanged = np.array([own(stage) for stage in run.stages], float)
    theory = _theory(run, unchanged)
    scores = _scores(unchanged, seen[-1], theory) | _tangent_scores(run, case.seed)
    best = _tuned(run, case.seed)
    jax.clear_caches()
    shared = {**case._asdict(), "seconds": round(time.process_time() - begun, 1)}
    ranked = [
        shared | _ranked(run.order, scores, names, losses.mean(0))
        for names, losses in (
            (NOISE_SCORES, away[-1].losses),
            (SCORES, best.losses),
            (SCORES, np.asarray(best.new)),
        )
    ]
    ranked[0]["noise"] = [
        _foretold(run.order, unchanged, *parts)
        for parts in zip(NOISES, seen, away, _by_theory(theory))
    ]
    ranked[1]["turns"] = inflection(run.order, best.losses)
    return ranked[0], ranked[1], ranked[2]


def _pretraining(case: Case) -> Run:
    room = ROOMS[case.data]
    setting = room.setting(case.task, case.seed)
    start = room.network(case.network, jax.random.key(case.seed))
    given = demo.checkpoints(start, setting, case.seed, room.LENGTHS)
    inputs, targets = as_inputs(given["inputs"]), given["targets"]
    half = len(targets) // 2
    modules = given["checkpoints"].values()
    stages = [subjects.subject(one, inputs, groups=everything).params for one in modules]
    found = subjects.subject(start, inputs, groups=everything)
    return Run(
        list(given["checkpoints"]),
        stages,
        problem(found, inputs[:half], targets[:half], (inputs[half:], targets[half:])),
        problem(found, as_inputs(setting.train[0]), setting.train[1], setting.test),
    )


def _theory(run: Run, unchanged: np.ndarray) -> TwoLayer | None:
    constant = constant_loss(run.old.train.targets, run.old.loss)
    return two_layer(run.order, unchanged, constant, spectrum(run.old.train), NOISES)


def _by_theory(theory: TwoLayer | None) -> list[np.ndarray | None]:
    return [None] * len(NOISES) if theory is None else list(theory.losses)


def _scores(unchanged: np.ndarray, noise: Change, theory: TwoLayer | None) -> dict[str, np.ndarray]:
    """Of every checkpoint; all equal where the theory says nothing."""
    places = np.arange(len(unchanged))
    return {
        "noise": noise.losses.mean(0),
        "second_order": np.asarray(noise.predicted),
        "two_layer": 0.0 * places if theory is None else theory.losses[-1],
        "unchanged": unchanged,
        "last": -places,
        "first": places,
        "middle": np.abs(places - places.mean()),
    }


def _tangent_scores(run: Run, seed: int) -> dict[str, np.ndarray]:
    """Risks on the new task of the model linearised around every checkpoint."""
    small, _ = fitting(run.new, seed)
    found: dict[str, list[float]] = {"linearised": [], "left_out": []}
    for stage in run.stages:
        there = replace(small, subject=replace(small.subject, params=stage))
        told = from_scratch(there, kernels(there), np.inf).scores
        for name, values in found.items():
            values.append(told[name])
    return {name: np.array(values) for name, values in found.items()}


def _tuned(run: Run, seed: int) -> Change:
    parts = (run.new.train, run.new.test, run.old.test)
    losses = (run.new.loss, run.old.loss)
    runs = tuned(run.new.subject, parts, losses, run.stages, RATES, STEPS, DRAWS, seed)
    return min(runs, key=lambda one: np.asarray(one.new).mean(0).min())


def _ranked(
    order: Sequence[int],
    scores: Mapping[str, np.ndarray],
    names: Mapping[str, tuple[str, int]],
    measured: np.ndarray,
) -> dict[str, Any]:
    """Correlations of scores with what was measured, and what the choice of each loses."""
    told = {name: sign * scores[name] for name, (_, sign) in names.items()}
    return {
        "measured": {str(at): round(float(loss), 4) for at, loss in zip(order, measured)},
        "predicted": {
            name: [round(float(value), 4) for value in scores[name]]
            for name in names
            if name not in ("last", "first", "middle")
        },
        "correlations": {
            name: round(rank_correlation(list(values), list(measured)), 4)
            for name, values in told.items()
        },
        "loss of choice": {
            name: round(float(measured[int(np.argmin(values))] - measured.min()), 4)
            for name, values in told.items()
        },
    }


def _foretold(
    order: Sequence[int],
    unchanged: np.ndarray,
    noise: float,
    seen: Change,
    away: Change,
    theory: np.ndarray | None,
) -> dict[str, Any]:
    """Of a noise: what it costs, by the same draws; where it turns, on other inputs and draws."""
    predicted = np.asarray(seen.predicted)
    cost, rise = predicted - unchanged, seen.losses.mean(0) - unchanged
    turn, low, high = inflection(order, away.losses)
    return {
        "noise": noise,
        "cost": [round(float(value), 5) for value in rise],
        "predicted cost": [round(float(value), 5) for value in cost],
        "close": int(np.sum(np.abs(cost - rise) <= CLOSE * np.abs(rise))),
        "turns": [turn, low, high],
        "turns by": {
            "second_order": _turn(order, predicted),
            "two_layer": None if theory is None else _turn(order, theory),
            "unchanged": _turn(order, unchanged),
            "last": order[-1],
            "first": order[0],
            "middle": order[len(order) // 2],
        },
    }


def _turn(order: Sequence[int], losses: np.ndarray) -> int:
    return order[int(np.argmin(losses))]
