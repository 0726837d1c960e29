"""How well the scores of `theorysim advise` rank what was really tuned, on digits.

    python -m validation.advise [--only layers|transfer|strength] [--page]

tunes networks for many tasks, and records the rank correlation of every score with the measured
held-out risk in theorysim/records/advise.json, from which `theorysim advise` takes the score that
it ranks by; the page is docs/records/advise.md. `--page` runs nothing and rewrites the page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.advise import demo
from theorysim.advise.kernels import PAIRS, fitting, kernels
from theorysim.advise.layer_choice import correlations
from theorysim.advise.problem import Examples, as_inputs, problem, rank_correlation
from theorysim.advise.scores import SCORES, TRIVIAL, moved, score
from theorysim.advise.source_choice import SCORES as SOURCE_SCORES
from theorysim.advise.source_choice import SCRATCH, after_task, from_scratch, sign_rule
from theorysim.advise.source_choice import TRIVIAL as SOURCE_TRIVIAL
from theorysim.advise.source_choice import correlations as source_correlations
from theorysim.advise.strength_choice import SCORES as PULL_SCORES
from theorysim.advise.strength_choice import TRIVIAL as PULL_TRIVIAL
from theorysim.advise.strength_choice import strength
from theorysim.advise.subject import subject
from theorysim.advise.tuning import pretrain, tune
from theorysim.numerics.statistics import student_quantile
from validation import row, write_whole

RECORD = Path(str(files("theorysim"))) / "records" / "advise.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "records" / "advise.md"

CASES = (("mlp", 0), ("mlp", 1), ("convolutions", 0), ("attention", 0))
"""networks and seeds; every one is tuned for all tasks of `demo`"""
SPLITS = 2
"""of the training examples, for every candidate"""
STEPS, RATES = 200, (3e-3, 1e-2)
DESCENT = 300
"""steps of gradient descent, for the pull-back"""
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
    tuned = tune(whole, [(*head, group) for group in rest], SPLITS, STEPS, RATES, seed)
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


def transfer_case(kind: str, task: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """One network and target task: correlations over sources, before and after pretraining."""
    begun = time.process_time()
    setting = demo.setting(task, seed)
    inputs = as_inputs(setting.train[0])
    found = subject(demo.network(kind, jax.random.key(seed)), inputs)
    whole = problem(found, inputs, setting.train[1], setting.test)
    small, _ = fitting(whole, seed)
    own = kernels(small)
    given = demo.sources(task, seed)
    tasks = {
        name: Examples(as_inputs(x), np.eye(demo.CLASSES)[y]) for name, (x, y) in given.items()
    }
    ready = {name: pretrain(whole, source, demo.PRETRAINING) for name, source in tasks.items()}
    starts = [found.params, *ready.values()]
    runs = tune(whole, [found.order] * len(starts), SPLITS, STEPS, RATES, seed, starts)
    risks = {name: runs.risk(place)[0] for place, name in enumerate((SCRATCH, *tasks))}
    scratch = {SCRATCH: from_scratch(small, own)}
    before = scratch | {n: after_task(small, own, t, seed, PAIRS) for n, t in tasks.items()}
    after = dict(scratch)
    for name, params in ready.items():
        there = replace(small, subject=replace(found, params=params))
        after[name] = from_scratch(there, kernels(there))
    jax.clear_caches()
    both = []
    for scored in (before, after):
        right, count = sign_rule(scored, risks)
        both.append(
            {
                "network": kind,
                "task": task,
                "seed": seed,
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


def summary(cases: list[dict[str, Any]], trivial: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of every score the mean rank correlation over cases, and what it has above a trivial one.

    Both with intervals; the latter is paired, case by case, with the best trivial score.
    """
    names = list(cases[0]["correlations"])
    found = {name: np.array([case["correlations"][name] for case in cases]) for name in names}
    rival = max(trivial, key=lambda name: found[name].mean())
    return {
        name: {
            **_interval(found[name]),
            "trivial": name in trivial,
            "ahead": _interval(found[name] - found[rival]),
            "loss of choice": round(float(np.mean([c["loss of choice"][name] for c in cases])), 4),
        }
        for name in names
    }


def _interval(array: np.ndarray) -> dict[str, float]:
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


TRANSFER_CASES = tuple(
    (kind, seed, task)
    for kind, seed in (("mlp", 0), ("mlp", 1), ("mlp", 2))
    for task in ("new digits", "inverted", "new classes", "noise")
)


def strength_case(task: str, seed: int) -> dict[str, Any]:
    """One network of dense layers and task: predicted and measured risks over the pulls."""
    begun = time.process_time()
    setting = demo.setting(task, seed)
    module = demo.pretrained("mlp", setting, seed)
    found = strength(module, *setting.train, test=setting.test, steps=DESCENT, measure=True)
    jax.clear_caches()
    rows = found.table
    measured = [row["measured"].value for row in rows]
    told = {"linearised": [row["predicted"].value for row in rows], "pull": list(range(len(rows)))}
    return {
        "network": "mlp",
        "task": task,
        "seed": seed,
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


def strength_cases() -> Iterator[dict[str, Any]]:
    """All cases of `advise strength`."""
    for seed, task in itertools.product((0, 1), demo.TASKS):
        case = strength_case(task, seed)
        print(task, seed, case["seconds"], case["correlations"], case["steps"], flush=True)
        yield case


def transfer_cases() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """All cases of `advise transfer`."""
    for kind, seed, task in TRANSFER_CASES:
        both = transfer_case(kind, task, seed)
        for case in both:
            print(kind, task, seed, case["seconds"], case["correlations"], case["sign rule"])
        sys.stdout.flush()
        yield both


HEAD = """# How well the scores of `theorysim advise` rank

Generated by `python -m validation.advise`. Small networks on digits are pretrained, then really
tuned for another task, and every score is compared with what was measured on held-out images:
Spearman's rank correlation, positive where the score puts what is good first, as the mean over
cases with its 95 % interval (Student); 0 where a score ranks nothing. *Above trivial* is what it
has above the best trivial score, case by case. *Loss of choice* is by how much the measured risk of
what a score puts first exceeds the least risk, on average. `theorysim advise` ranks by the score
with the highest mean; being the best of several, its own number is a little flattered.
"""

ABOUT = {
    "layers": (
        "Which layers to tune",
        "Candidates are single layers or blocks, tuned beside the head, for networks of dense "
        "layers, residual convolutions and attention, and five tasks: other digits, inverted "
        "images, other classes, noisy and shifted images, and the moments of the ink (squared "
        "loss).",
        SCORES,
    ),
    "transfer": (
        "Which task to pretrain on, before pretraining",
        "Candidates are five sources for networks of dense layers; scores know the untrained "
        "network and the data. All parameters are tuned, the head is kept.",
        SOURCE_SCORES,
    ),
    "checkpoints": (
        "Which checkpoint to start from, after pretraining",
        "The same sources and measurements; scores know the pretrained networks.",
        SOURCE_SCORES,
    ),
    "strength": (
        "How strongly to pull back",
        "Candidates are the default pulls, for networks of dense layers and the five tasks above, "
        f"after {DESCENT} steps of gradient descent.",
        PULL_SCORES,
    ),
}


TRIVIALS = {
    "layers": TRIVIAL,
    "transfer": SOURCE_TRIVIAL,
    "checkpoints": SOURCE_TRIVIAL,
    "strength": PULL_TRIVIAL,
}


def page(record: Mapping[str, Any]) -> str:
    """What is recorded as Markdown."""
    parts = [HEAD]
    for question, found in record.items():
        title, told, names = ABOUT[question]
        seconds = sum(case["seconds"] for case in found["measured"])
        parts.append(f"\n## {title}\n\n{told} {found['cases']} cases, {seconds:.0f} CPU s.\n\n")
        parts.append(
            row("score", "what it is", "rank correlation", "above trivial", "loss of choice")
        )
        parts.append(row("---", "---", "---", "---", "---:"))
        for name, one in sorted(found["scores"].items(), key=lambda item: -item[1]["mean"]):
            cells = (f"`{name}`", names[name][0], _shown(one), _shown(one["ahead"]))
            parts.append(row(*cells, f"{one['loss of choice']:.3f}"))
        parts.append(f"\n{_verdict(found['scores'])}\n\n")
        parts += _cases(found)
    return "".join(parts)


def _shown(one: Mapping[str, float]) -> str:
    return f"{one['mean']:.2f} ({one['low']:.2f} to {one['high']:.2f})"


def _verdict(scores: Mapping[str, Any]) -> str:
    """Whether the best score beats chance and the trivial ones."""
    best = max(scores, key=lambda name: scores[name]["mean"])
    chance = "better" if scores[best]["low"] > 0 else "not surely better"
    beats = "beats" if scores[best]["ahead"]["low"] > 0 else "does not surely beat"
    return (
        f"The best score, `{best}`, is {chance} than chance, and {beats} the best trivial one in "
        "the same cases."
    )


def _paying(risks: Mapping[str, float]) -> int:
    """How many sources lead to a lower risk than none."""
    return sum(risk < risks[SCRATCH] for risk in risks.values())


def _trust(cases: list[dict[str, Any]]) -> str:
    """How long the linearisation was said to hold, beside how long it did."""
    steps = [one for case in cases for one in case["steps"]]
    estimated = sum(measured >= trusted for trusted, _, measured in steps)
    bounded = [(bound, measured) for _, bound, measured in steps if bound is not None]
    kept = sum(measured >= bound for bound, measured in bounded)
    agree = sum(case["agree"] for case in cases)
    return (
        f"Predicted and measured risks agree within two standard errors in {agree} of {len(steps)} "
        f"runs. Both models stay near each other as long as estimated in {estimated} of "
        f"{len(steps)} (it was made on these runs, after another one was too long), and as long as "
        f"Theorem 3 says with estimated constants in {kept} of "
        f"{len(bounded)} with the squared loss, of which it says no step at all in "
        f"{sum(bound == 0 for bound, _ in bounded)}.\n\n"
    )


def _cases(found: Mapping[str, Any]) -> Iterator[str]:
    names = sorted(found["scores"], key=lambda name: -found["scores"][name]["mean"])
    rules = [case["sign rule"] for case in found["measured"] if "sign rule" in case]
    if rules:
        right, count = (sum(part) for part in zip(*rules))
        pays = sum(_paying(case["measured"]) for case in found["measured"])
        yield (
            "The sign rule (a source pays if fine-tuning starts at a lower loss than without it) "
            f"is right for {right} of {count} sources; {pays} of them pay, so that always saying "
            f"the more frequent is right for {max(pays, count - pays)}. All sources are of one "
            "size, so that `size` ranks nothing.\n\n"
        )
    if "steps" in found["measured"][0]:
        yield _trust(found["measured"])
    yield row("network", "task", "seed", *(f"`{name}`" for name in names))
    yield row("---", "---", "---", *("---:" for _ in names))
    for case in found["measured"]:
        values = (f"{case['correlations'][name]:.2f}" for name in names)
        yield row(case["network"], case["task"], str(case["seed"]), *values)


def main() -> None:
    """Measures and writes record and page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["layers", "transfer", "strength"])
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if not asked.page:
        measured = {}
        if asked.only in (None, "layers"):
            cases = list(layer_cases())
            measured["layers"] = _recorded(cases, TRIVIAL)
        if asked.only in (None, "transfer"):
            both = zip(*transfer_cases())
            for name, cases in zip(("transfer", "checkpoints"), both):
                measured[name] = _recorded(list(cases), SOURCE_TRIVIAL)
        if asked.only in (None, "strength"):
            measured["strength"] = _recorded(list(strength_cases()), TRIVIALS["strength"])
        record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
        write_whole(RECORD, json.dumps(record | measured, indent=1) + "\n")
    record = resummarised(json.loads(RECORD.read_text("utf-8")))
    write_whole(RECORD, json.dumps(record, indent=1) + "\n")
    write_whole(PAGE, page(record))


def _recorded(cases: list[dict[str, Any]], trivial: Iterable[str]) -> dict[str, Any]:
    return {"cases": len(cases), "scores": summary(cases, trivial), "measured": cases}


def resummarised(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its summaries computed from its cases."""
    return {name: _recorded(part["measured"], TRIVIALS[name]) for name, part in record.items()}


if __name__ == "__main__":
    main()
