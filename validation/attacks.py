"""What withstands the falsifier, and for how long: planted errors are found, true readings survive.

    python -m validation.attacks [--seconds 60] [--only TEXT]

attacks, from a cold start, the `wrong` and the primary reading of every theorem, and records in
validation/attacks.json and docs/attacks.md how many evaluations it took or withstood. A primary
reading gets as many evaluations, up to a million runs, as fit into its seconds.
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

# A larger budget must be worth its time; the last one should reach the million.
LEAST, MARGIN = 1.5, 1.05

INEQUALITIES = (Kind.AT_MOST, Kind.AT_LEAST, Kind.INCREASING, Kind.DECREASING)
FIRST, GROWTH, MOST = 1024, 4, 1_000_000

HEAD = """# What withstands the falsifier

`python -m validation.attacks` attacks every theorem from a cold start. *Planted error*: evaluations
until the theorem's deliberately false reading was refuted. *Withstood*: evaluations that found no
counterexample to a claim of the primary reading (the least over its claims), and the runs of the
simulation in them. An evaluation is one instance that meets the hypotheses; it takes several runs
where a claim averages over them or speaks of a probability. *Largest ratio* of the two sides of an
inequality that was reached (1: it is attained; "within errors": points above 1 were measured, and
their violation is numerical error). Each reading had a minute or more on one core. Survival is no
proof; where a primary reading fell, it says so. Nearly half of the lines are of an earlier search,
which attacked each claim alone and counted points outside of the hypotheses as well.

| theorem | planted error found after | primary reading withstood | in runs | largest ratio |
| --- | ---: | ---: | ---: | ---: |
"""


def growing(theorem: Theorem, reading: str, seconds: float) -> Iterator[tuple[Attack, ...]]:
    """Attacks on a reading with ever larger budgets while the next one fits into the seconds.

    The first one compiles and does not count.
    """
    attacks = falsify(theorem, reading=reading, budget=FIRST).attacks
    yield attacks
    begin, budget = time.perf_counter(), FIRST
    while True:
        start = time.perf_counter()
        attacks = falsify(theorem, reading=reading, budget=budget).attacks
        yield attacks
        now = time.perf_counter()
        reached = max(1, min(attack.runs for attack in attacks))
        growth = min(GROWTH, MARGIN * MOST / reached, (begin + seconds - now) / (now - start))
        if reached >= MOST or growth < LEAST:
            return
        budget = int(budget * growth)


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
        "evaluations": min(attack.evaluations for attack in attacks),
        "runs": min(attack.runs for attack in attacks),
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
    stood, runs = f"{line['evaluations']:,}", f"{line['runs']:,}"
    if line["refuted"]:
        stood = f"REFUTED: {', '.join(line['refuted'])}"
    reached = line["ratio"]
    ratio = "" if reached is None else f"{reached:.3g}" if reached <= 1 else "1 within errors"
    return id, found, stood, runs, ratio


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
