"""Networks that are pretrained and really tuned, and what every score of advice said of them.

A case is a dictionary: its data, network, task and seed, what was measured and predicted, and of
every score the rank correlation with what was measured.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np

from theorysim.advise import demo, demo_text
from theorysim.advise.kernels import LEARNT, PAIRS, fitting, kernels
from theorysim.advise.layer_choice import correlations
from theorysim.advise.problem import Examples, Problem, as_inputs, problem, rank_correlation
from theorysim.advise.scores import SCORES, Score, moved, score
from theorysim.advise.source_checks import SCORES as SOURCE_SCORES
from theorysim.advise.source_checks import correlations as source_correlations
from theorysim.advise.source_checks import sign_rule, steps_apart
from theorysim.advise.source_choice import (
    SCRATCH,
    Taught,
    after_task,
    from_scratch,
    measured_steps,
)
from theorysim.advise.strength_choice import strength
from theorysim.advise.subject import subject
from theorysim.advise.tuning import tune
from theorysim.numerics.statistics import student_quantile

ROOMS = {"digits": demo, "text": demo_text}

SPLITS = 2
"""of the training examples, for every candidate"""
STEPS, RATES = 200, (3e-3, 1e-2)
CONFIDENCE = 0.95
DESCENT = 300
"""steps of gradient descent, for the pull-back"""


class Case(NamedTuple):
    """What is pretrained, and what it is tuned for."""

    data: str
    network: str
    task: str
    seed: int


class Layers(NamedTuple):
    """Groups of a pretrained network that may be tuned beside its head, for a task."""

    task: Problem
    head: tuple[str, ...]
    groups: tuple[str, ...]

    def scored(self, seed: int, learnt: int = LEARNT) -> dict[str, Score]:
        """By group; so many times as many examples as landmarks are learnt."""
        small, _ = fitting(self.task, seed, learnt=learnt)
        grams = kernels(small)
        found = {group: score(small, grams, self.head, (group,)) for group in self.groups}
        return moved(small, found)

    def risks(self, seed: int) -> dict[str, tuple[float, float]]:
        """Measured ones and their standard errors."""
        candidates = [(*self.head, group) for group in self.groups]
        tuned = tune(self.task, candidates, SPLITS, STEPS, RATES, seed)
        return {group: tuned.risk(place) for place, group in enumerate(self.groups)}


def layers_of(case: Case, train: int) -> Layers:
    """The network and the task of a case, with so many training examples."""
    data, kind, task, seed = case
    room = ROOMS[data]
    setting = room.setting(task, seed, train)
    module = room.pretrained(kind, setting, seed)
    inputs = as_inputs(setting.train[0])
    found = subject(module, inputs, groups="layer" if kind == "mlp" else "block")
    whole = problem(found, inputs, setting.train[1], setting.test)
    return Layers(whole, found.order[-1:], found.order[:-1])


def layer_case(case: Case) -> dict[str, Any]:
    """One network and task: the correlation of every score with the measured risks."""
    begun = time.process_time()
    layers = layers_of(case, demo.TRAIN)
    scored, risks = layers.scored(case.seed), layers.risks(case.seed)
    jax.clear_caches()
    return {
        **case._asdict(),
        "seconds": round(time.process_time() - begun, 1),
        "measured": {group: [round(x, 4) for x in risk] for group, risk in risks.items()},
        "predicted": {g: round(one.scores["linearised"], 4) for g, one in scored.items()},
        "correlations": {
            name: round(value, 4)
            for name, value in correlations(scored, {g: r[0] for g, r in risks.items()}).items()
        },
        "loss of choice": {name: round(_regret(scored, risks, name), 4) for name in SCORES},
    }


def transfer_case(case: Case) -> tuple[dict[str, Any], dict[str, Any]]:
    """One network and target task: correlations over sources, before and after pretraining."""
    begun = time.process_time()
    data, kind, task, seed = case
    room = ROOMS[data]
    setting = room.setting(task, seed)
    inputs = as_inputs(setting.train[0])
    found = subject(room.network(kind, jax.random.key(seed)), inputs)
    whole = problem(found, inputs, setting.train[1], setting.test)
    small, _ = fitting(whole, seed)
    own = kernels(small)
    given = room.sources(task, seed)
    tasks = {
        name: Taught(Examples(as_inputs(x), np.eye(demo.CLASSES)[y]), found, None)
        for name, (x, y) in given.items()
    }
    taught = {name: one.pretrained(whole, room.PRETRAINING) for name, one in tasks.items()}
    ready = {name: one.params for name, one in taught.items()}
    starts = [found.params, *ready.values()]
    runs = tune(whole, [found.order] * len(starts), SPLITS, STEPS, RATES, seed, starts)
    risks = {name: runs.risk(place)[0] for place, name in enumerate((SCRATCH, *tasks))}
    scratch = {SCRATCH: from_scratch(small, own)}
    before = scratch | {n: after_task(small, own, t, seed, PAIRS) for n, t in tasks.items()}
    after = dict(scratch)
    for name, params in ready.items():
        there = replace(small, subject=replace(found, params=params))
        after[name] = from_scratch(there, kernels(there), scratch[SCRATCH].level)
    before_steps, after_steps = (
        measured_steps(small, {SCRATCH: found.params, **ready}, scored)
        for scored in (before, after)
    )
    jax.clear_caches()
    both = []
    for scored, counted in ((before, before_steps), (after, after_steps)):
        right, count = sign_rule(scored, risks)
        both.append(
            {
                **case._asdict(),
                "seconds": round(time.process_time() - begun, 1),
                "measured": {name: round(risk, 4) for name, risk in risks.items()},
                "predicted": {n: round(one.scores["linearised"], 4) for n, one in scored.items()},
                "correlations": {
                    name: round(value, 4)
                    for name, value in source_correlations(scored, risks).items()
                },
                "loss of choice": {
                    name: round(_source_regret(scored, risks, name), 4) for name in SOURCE_SCORES
                },
                "sign rule": [right, count],
                "steps": {n: [one.steps, counted[n]] for n, one in scored.items()},
                "steps alike": steps_apart(scored, counted),
            }
        )
    return both[0], both[1]


def _source_regret(scored: Mapping[str, Any], risks: Mapping[str, float], name: str) -> float:
    names = [source for source in scored if source != SCRATCH]
    sign = SOURCE_SCORES[name][1]
    first = min(names, key=lambda source: sign * scored[source].scores[name])
    return risks[first] - min(risks[source] for source in names)


def _regret(scored: Mapping[str, Any], risks: Mapping[str, tuple], name: str) -> float:
    """By how much the measured risk of the group that a score puts first exceeds the least one."""
    first = min(scored, key=lambda group: SCORES[name][1] * scored[group].scores[name])
    return risks[first][0] - min(risk for risk, _ in risks.values())


def strength_case(case: Case) -> dict[str, Any]:
    """One network of dense layers and task: predicted and measured risks over the pulls."""
    begun = time.process_time()
    data, kind, task, seed = case
    room = ROOMS[data]
    setting = room.setting(task, seed)
    module = room.pretrained(kind, setting, seed)
    found = strength(module, *setting.train, test=setting.test, steps=DESCENT, measure=True)
    jax.clear_caches()
    rows = found.table
    measured = [row["measured"].value for row in rows]
    told = {"linearised": [row["predicted"].value for row in rows], "pull": list(range(len(rows)))}
    return {
        **case._asdict(),
        "seconds": round(time.process_time() - begun, 1),
        "measured": {row["lambda"]: round(risk, 4) for row, risk in zip(rows, measured)},
        "predicted": {row["lambda"]: round(row["predicted"].value, 4) for row in rows},
        "correlations": {n: round(rank_correlation(v, measured), 4) for n, v in told.items()},
        "loss of choice": {
            n: round(measured[int(np.argmin(v))] - min(measured), 4) for n, v in told.items()
        },
        "steps": [[row["trusted to"], row["bound to"], row["straight to"]] for row in rows],
        "agree": sum(
            abs(p - m.value) <= 2 * float(np.hypot(row["predicted"].error, m.error))
            for p, row, m in zip(told["linearised"], rows, (row["measured"] for row in rows))
        ),
    }


def interval(array: np.ndarray) -> dict[str, float]:
    """Mean over cases, and its 95 % interval."""
    half = student_quantile((1 + CONFIDENCE) / 2, len(array) - 1) * array.std(ddof=1)
    half /= np.sqrt(len(array))
    mean = float(array.mean())
    return {
        k: round(v, 4) for k, v in zip(("mean", "low", "high"), (mean, mean - half, mean + half))
    }
