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
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from theorysim.claims import Kind, Theorem
from theorysim.engine import registry
from theorysim.engine.attack_results import Attack
from theorysim.engine.falsify import falsify

RECORD = Path(__file__).with_suffix(".json")
TABLE = Path(__file__).resolve().parent.parent / "docs" / "attacks.md"

INEQUALITIES = (Kind.AT_MOST, Kind.AT_LEAST, Kind.INCREASING, Kind.DECREASING)
FIRST, GROWTH, MOST = 250, 16, 1_000_000

HEAD = """# What withstands the falsifier

`python -m validation.attacks` attacks every theorem from a cold start. *Planted error*: evaluations
until the theorem's deliberately false reading was refuted. *Primary reading*: evaluations per claim
that found no counterexample, and the largest ratio of the two sides of an inequality that was
reached (1: it is attained; "within errors": points above 1 were measured, and their violation is
numerical error). An evaluation is one instance with all its runs, hundreds where a claim averages
over them; where many runs decide together (probabilities, powers, limits, constants), it is one
run. Each reading had seconds to a minute on one core. Survival is no proof; where a primary reading
fell, it says so.

| theorem | planted error found after | primary reading withstood | largest ratio |
| --- | ---: | ---: | ---: |
"""


def growing(theorem: Theorem, reading: str, seconds: float) -> Iterator[tuple[Attack, ...]]:
    """Attacks on a reading with ever larger budgets while the next one fits into the seconds.

    The first one compiles and does not count.
    """
    yield falsify(theorem, reading=reading, budget=FIRST).attacks
    begin, budget = time.perf_counter(), 2 * FIRST
    while True:
        start = time.perf_counter()
        yield falsify(theorem, reading=reading, budget=budget).attacks
        now = time.perf_counter()
        growth = min(GROWTH, (begin + seconds - now) / (now - start))
        if budget == MOST or growth < 2:
            return
        budget = min(MOST, int(budget * growth))


def planted(theorem: Theorem, seconds: float) -> int | None:
    """Evaluations until a claim of `wrong` was refuted; None where none was."""
    for attacks in growing(theorem, theorem.wrong.name, seconds):
        hits = [attack.evaluations for attack in attacks if attack.refuted]
        if hits:
            return min(hits)
    return None


def survived(theorem: Theorem, seconds: float) -> tuple[Attack, ...]:
    """The longest attack on the primary reading, or the first that refuted it."""
    attacks: tuple[Attack, ...] = ()
    for attacks in growing(theorem, theorem.primary().name, seconds):
        if any(attack.refuted for attack in attacks):
            break
    return attacks


def measured(theorem: Theorem, seconds: float) -> dict[str, Any]:
    """One line of the record."""
    attacks = survived(theorem, seconds)
    ratios = [a.ratio for a in attacks if a.kind in INEQUALITIES and math.isfinite(a.ratio)]
    return {
        "planted": planted(theorem, seconds),
        "evaluations": min((attack.evaluations for attack in attacks), default=0),
        "refuted": [attack.claim for attack in attacks if attack.refuted],
        "ratio": max(ratios, default=None),
    }


def table(lines: dict[str, dict[str, Any]]) -> str:
    """The record in Markdown, with what it lacks."""
    rows = "".join(f"| {' | '.join(_cells(id, line))} |\n" for id, line in lines.items())
    missing = [entry.id for entry in registry.entries() if entry.id not in lines]
    return HEAD + rows + (f"\nNot attacked yet: {', '.join(missing)}.\n" if missing else "")


def _cells(id: str, line: dict[str, Any]) -> Iterable[str]:
    found = "not found" if line["planted"] is None else f"{line['planted']:,}"
    stood = f"{line['evaluations']:,}"
    if line["refuted"]:
        stood = f"REFUTED: {', '.join(line['refuted'])}"
    reached = line["ratio"]
    ratio = "" if reached is None else f"{reached:.3g}" if reached <= 1 else "1 within errors"
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
