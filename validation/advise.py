"""How well the scores of `theorysim advise` rank what was really tuned, on digits and text.

    python -m validation.advise [--only QUESTION] [--part chosen|judged] [--page]

tunes networks for many tasks, and records the rank correlation of every score with what was
measured in theorysim/records/advise.json. The score that `theorysim advise` ranks by is the best on
the first part of the cases, and is judged on the second, whose seeds nobody had looked at and whose
text is in no case of the first; the page is docs/records/advise.md. `--page` runs nothing and
rewrites the page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from theorysim.advise import demo, demo_text
from theorysim.advise.length_choice import TRIVIAL as LENGTH_TRIVIAL
from theorysim.advise.scores import TRIVIAL
from theorysim.advise.source_checks import TRIVIAL as SOURCE_TRIVIAL
from theorysim.advise.strength_choice import TRIVIAL as PULL_TRIVIAL
from validation import write_whole
from validation.advise_cases import Case, interval, layer_case, strength_case, transfer_case
from validation.advise_lengths import length_case
from validation.advise_page import page

RECORD = Path(str(files("theorysim"))) / "records" / "advise.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "records" / "advise.md"
PARTS = ("chosen", "judged")
"""Cases on which the score was chosen, and those on which it is judged"""


def _cases(
    data: str, networks: Sequence[str], tasks: Sequence[str], seeds: Sequence[int]
) -> list[Case]:
    return [Case(data, *one) for one in product(networks, tasks, seeds)]


NEW_CLASSES = ("new digits", "inverted", "new classes", "noise")
"""tasks of digits with classes"""
WORDS = ("programs", "backwards", "new classes", "typos")
"""tasks of text with classes"""
MLP = ("mlp",)

CASES: dict[str, dict[str, list[Case]]] = {
    "layers": {
        "chosen": [
            *_cases("digits", MLP, demo.TASKS, (0, 1)),
            *_cases("digits", ("convolutions", "attention"), demo.TASKS, (0,)),
        ],
        "judged": [
            *_cases("digits", MLP, demo.TASKS, (20, 21)),
            *_cases("digits", ("convolutions", "attention"), ("inverted", "new classes"), (20,)),
            *_cases("text", MLP, demo_text.TASKS, (20, 21)),
        ],
    },
    "transfer": {
        "chosen": _cases("digits", MLP, NEW_CLASSES, (0, 1, 2)),
        "judged": [
            *_cases("digits", MLP, NEW_CLASSES, (20,)),
            *_cases("digits", MLP, ("inverted", "noise"), (21,)),
            *_cases("text", MLP, WORDS, (20,)),
            *_cases("text", MLP, ("programs", "typos"), (21,)),
        ],
    },
    "strength": {
        "chosen": _cases("digits", MLP, demo.TASKS, (0, 1)),
        "judged": [
            *_cases("digits", MLP, demo.TASKS, (20, 21)),
            *_cases("text", MLP, demo_text.TASKS, (20, 21)),
        ],
    },
    "length": {
        "chosen": [
            *_cases("digits", MLP, ("inverted", "new classes", "noise"), (100,)),
            *_cases("text", MLP, ("programs", "backwards", "typos"), (100,)),
        ],
        "judged": [
            *_cases("digits", MLP, ("new digits", "inverted", "new classes"), (20,)),
            *_cases("digits", MLP, ("inverted", "noise"), (21,)),
            *_cases("text", MLP, ("programs", "backwards", "new classes"), (20,)),
            *_cases("text", MLP, ("programs", "typos"), (21,)),
        ],
    },
}
"""By question and part"""

QUESTIONS: dict[str, tuple[str, ...]] = {
    "layers": ("layers",),
    "transfer": ("transfer", "checkpoints"),
    "strength": ("strength",),
    "length": ("noise", "length", "new task"),
}
"""What the cases of a question are recorded as"""

RUNS: dict[str, Callable[[Case], Any]] = {
    "layers": layer_case,
    "transfer": transfer_case,
    "strength": strength_case,
    "length": length_case,
}

TRIVIALS = {
    "layers": TRIVIAL,
    "transfer": SOURCE_TRIVIAL,
    "checkpoints": SOURCE_TRIVIAL,
    "strength": PULL_TRIVIAL,
    "noise": LENGTH_TRIVIAL,
    "length": LENGTH_TRIVIAL,
    "new task": LENGTH_TRIVIAL,
}


def summary(cases: list[dict[str, Any]], trivial: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Of every score the mean rank correlation over cases, and what it has above a trivial one.

    Both with intervals; the latter is paired, case by case, with the best trivial score.
    """
    names = list(cases[0]["correlations"])
    found = {name: np.array([case["correlations"][name] for case in cases]) for name in names}
    rival = max(trivial, key=lambda name: found[name].mean())
    return {
        name: {
            **interval(found[name]),
            "trivial": name in trivial,
            "ahead": interval(found[name] - found[rival]),
            "loss of choice": round(float(np.mean([c["loss of choice"][name] for c in cases])), 4),
        }
        for name in names
    }


def measure(question: str, part: str) -> dict[str, list[dict[str, Any]]]:
    """All cases of a part of a question, by what they are recorded as."""
    names = QUESTIONS[question]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for case in CASES[question][part]:
        told = RUNS[question](case)
        for name, one in zip(names, told if isinstance(told, tuple) else (told,)):
            found[name].append(one)
            print(name, *case, one["seconds"], one["correlations"], flush=True)
    return found


def summarised(cases: Mapping[str, list[dict[str, Any]]], trivial: Iterable[str]) -> dict[str, Any]:
    """What is recorded of a question: its judged cases, and how scores ranked where one was chosen.

    `order` has the scores, the best on the cases of the choice first.
    """
    chosen, judged = (cases[part] for part in PARTS)
    before = summary(chosen, trivial)
    return {
        "cases": len(judged),
        "order": sorted(before, key=lambda name: -before[name]["mean"]),
        "scores": summary(judged, trivial),
        "measured": judged,
        "chosen": {"cases": len(chosen), "scores": before, "measured": chosen},
    }


def resummarised(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its summaries computed from its cases."""
    return {
        name: summarised(
            {"chosen": part["chosen"]["measured"], "judged": part["measured"]}, TRIVIALS[name]
        )
        for name, part in record.items()
    }


def main() -> None:
    """Measures and writes record and page."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", choices=list(QUESTIONS))
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    for question in () if asked.page else [asked.only] if asked.only else QUESTIONS:
        for part in [asked.part] if asked.part else PARTS:
            _keep(measure(question, part), part)
    write_whole(PAGE, page(json.loads(RECORD.read_text("utf-8"))))


def _keep(measured: Mapping[str, list[dict[str, Any]]], part: str) -> None:
    """Puts the cases of a part into the record, and leaves the other part alone."""
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    for name, cases in measured.items():
        old = record.get(name, {"measured": [], "chosen": {"measured": []}})
        both = {"chosen": old["chosen"]["measured"], "judged": old["measured"], part: cases}
        # Until both are there, one stands for the other.
        both = {key: both[key] or cases for key in PARTS}
        record[name] = summarised(both, TRIVIALS[name])
    write_whole(RECORD, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
