"""How well the scores of `theorysim advise` rank what was really tuned, on digits.

    python -m validation.advise [--only layers|transfer] [--page]

tunes networks for many tasks, and records the rank correlation of every score with the measured
held-out risk in theorysim/records/advise.json, from which `theorysim advise` takes the score that it
ranks by; the page is docs/records/advise.md. `--page` runs nothing and rewrites the page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.advise import demo
from theorysim.advise.layer_choice import correlations
from theorysim.advise.kernels import fitting, kernels
from theorysim.advise.problem import as_inputs, problem
from theorysim.advise.scores import SCORES, TRIVIAL, moved, score
from theorysim.advise.subject import subject
from theorysim.advise.tuning import tune
from theorysim.numerics.statistics import student_quantile
from validation import row, write_whole

RECORD = Path(str(files("theorysim"))) / "records" / "advise.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "records" / "advise.md"

CASES = (("mlp", 0), ("mlp", 1), ("convolutions", 0), ("convolutions", 1), ("attention", 0))
"""networks and seeds; every one is tuned for all tasks of `demo`"""
SPLITS = 2
"""of the training examples, for every candidate"""
CONFIDENCE = 0.95


def layer_case(kind: str, task: str, seed: int) -> dict[str, Any]:
    """One network and task: the correlation of every score with the measured risks."""
    begun = time.process_time()
    setting = demo.setting(task, seed)
    module = demo.pretrained(kind, setting, seed)
    inputs = as_inputs(setting.train[0])
    found = subject(module, inputs, groups="layer" if kind == "mlp" else "block")
    whole = problem(found, inputs, setting.train[1], setting.test)
    small, _ = fitting(whole, seed)
    grams = kernels(small)
    head, rest = found.order[-1:], found.order[:-1]
    scored = moved(small, {group: score(small, grams, head, (group,)) for group in rest})
    tuned = tune(whole, [(*head, group) for group in rest], SPLITS, seed=seed)
    risks = {group: tuned.risk(place) for place, group in enumerate(rest)}
    jax.clear_caches()
    return {
        "network": kind,
        "task": task,
        "seed": seed,
        "seconds": round(time.process_time() - begun, 1),
        "measured": {group: [round(x, 4) for x in risk] for group, risk in risks.items()},
        "predicted": {g: round(one.scores["linearised"], 4) for g, one in scored.items()},
        "correlations": {
            name: round(value, 4)
            for name, value in correlations(scored, {g: r[0] for g, r in risks.items()}).items()
        },
        "loss of choice": {name: round(_regret(scored, risks, name), 4) for name in SCORES},
    }


def _regret(scored: Mapping[str, Any], risks: Mapping[str, tuple], name: str) -> float:
    """By how much the measured risk of the group that a score puts first exceeds the least one."""
    first = min(scored, key=lambda group: SCORES[name][1] * scored[group].scores[name])
    return risks[first][0] - min(risk for risk, _ in risks.values())


def summary(cases: list[dict[str, Any]], trivial: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Mean rank correlation of every score over cases, with its interval."""
    return {
        name: {
            **_interval([case["correlations"][name] for case in cases]),
            "trivial": name in trivial,
            "loss of choice": round(float(np.mean([c["loss of choice"][name] for c in cases])), 4),
        }
        for name in cases[0]["correlations"]
    }


def _interval(values: list[float]) -> dict[str, float]:
    array = np.asarray(values)
    half = student_quantile((1 + CONFIDENCE) / 2, len(array) - 1) * array.std(ddof=1)
    half /= np.sqrt(len(array))
    mean = float(array.mean())
    return {
        k: round(v, 4) for k, v in zip(("mean", "low", "high"), (mean, mean - half, mean + half))
    }


def layer_cases() -> Iterator[dict[str, Any]]:
    """All cases of `advise layers`."""
    for (kind, seed), task in itertools.product(CASES, demo.TASKS):
        case = layer_case(kind, task, seed)
        print(kind, task, seed, case["seconds"], case["correlations"], flush=True)
        yield case


def main() -> None:
    """Measures and writes record and page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["layers"])
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    if not asked.page:
        if asked.only in (None, "layers"):
            cases = list(layer_cases())
            record["layers"] = {
                "cases": len(cases),
                "scores": summary(cases, TRIVIAL),
                "measured": cases,
            }
        write_whole(RECORD, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
