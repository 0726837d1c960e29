"""What withstands the falsifier, and for how long: planted errors are found, true readings survive.

    python -m validation.attacks [--seconds 60] [--only TEXT]

attacks, from a cold start, the `wrong` and the primary reading of every theorem, and records in
validation/attacks.json and docs/attacks.md how many evaluations it took or withstood. A primary
reading gets as many evaluations per claim, up to a million, as fit into its seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from theorysim.claims import Theorem
from theorysim.engine import registry
from theorysim.engine.falsify import Attack, falsify

RECORD = Path(__file__).with_suffix(".json")
TABLE = Path(__file__).resolve().parent.parent / "docs" / "attacks.md"

FIRST, MOST = 1000, 1_000_000

HEAD = """# What withstands the falsifier

`python -m validation.attacks` attacks every theorem from a cold start. *Planted error*: evaluations
until the theorem's deliberately false reading was refuted. *Primary reading*: evaluations per claim
that found no counterexample, and the largest ratio of the two sides of an inequality that was
reached (1: it is attained). Survival is no proof; where a primary reading fell, it says so.

| theorem | planted error found after | primary reading withstood | largest ratio |
| --- | ---: | ---: | ---: |
"""


def planted(theorem: Theorem) -> int | None:
    """Evaluations until a claim of `wrong` was refuted; None where none was."""
    for budget in (FIRST // 4, 4 * FIRST, 16 * FIRST):
        attacks = falsify(theorem, reading=theorem.wrong.name, budget=budget).attacks
        hits = [attack.evaluations for attack in attacks if attack.refuted]
        if hits:
            return min(hits)
    return None


def survived(theorem: Theorem, seconds: float) -> tuple[Attack, ...]:
    """Attacks on the primary reading; the first ones also measure what an evaluation costs."""
    name = theorem.primary().name
    falsify(theorem, reading=name, budget=FIRST // 4)  # compiles
    start = time.perf_counter()
    attacks = falsify(theorem, reading=name, budget=FIRST).attacks
    affordable = int(FIRST * seconds / (time.perf_counter() - start))
    if affordable < 2 * FIRST or any(attack.refuted for attack in attacks):
        return attacks
    return falsify(theorem, reading=name, budget=min(affordable, MOST)).attacks


def measured(theorem: Theorem, seconds: float) -> dict[str, Any]:
    """One line of the record."""
    attacks = survived(theorem, seconds)
    ratios = [attack.ratio for attack in attacks if math.isfinite(attack.ratio)]
    return {
        "planted": planted(theorem),
        "evaluations": min((attack.evaluations for attack in attacks), default=0),
        "refuted": [attack.claim for attack in attacks if attack.refuted],
        "ratio": max(ratios, default=None),
    }


def table(lines: dict[str, dict[str, Any]]) -> str:
    """The record in Markdown."""
    return HEAD + "".join(f"| {' | '.join(_cells(id, line))} |\n" for id, line in lines.items())


def _cells(id: str, line: dict[str, Any]) -> Iterable[str]:
    found = "not found" if line["planted"] is None else f"{line['planted']:,}"
    stood = f"{line['evaluations']:,}"
    if line["refuted"]:
        stood = f"REFUTED: {', '.join(line['refuted'])}"
    ratio = "" if line["ratio"] is None else f"{line['ratio']:.3g}"
    return id, found, stood, ratio


def record(seconds: float, only: str) -> None:
    """Attack what is asked for and write both files, theorem by theorem."""
    for entry in registry.entries():
        if only not in entry.id:
            continue
        line = measured(registry.load(entry), seconds)
        known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        lines = dict(sorted({**known, entry.id: line}.items()))
        RECORD.write_text(json.dumps(lines, indent=1, allow_nan=False) + "\n")
        TABLE.write_text(table(lines))
        print(entry.id, line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each primary reading")
    parser.add_argument("--only", default="", help="only ids that contain this text")
    options = parser.parse_args()
    record(options.seconds, options.only)
