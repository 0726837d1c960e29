"""Whether statements whose truth is known come out as they should.

    python -m validation.known_truths [--seeds 200] [--only TEXT] [--processes 1]

verifies each of `traps` with many seeds, attacks the false ones that come out holding, and writes
docs/records/known_truths.md. A true statement that comes out violated is a false alarm. A false one
that holds must say what its draws exclude, and fall to the falsifier. Unlike `verdict_rates`, whose
errors have a size, these are the traps that readers set for the engine.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from theorysim.chunks import forget
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.verify.verify import verify
from validation import write_whole
from validation.traps import Known, known_truths

TABLE = Path(__file__).resolve().parent.parent / "docs" / "records" / "known_truths.md"

# What the falsifier may spend on a false statement that the draws did not refute.
BUDGET = 50_000


def verdicts(known: Known, seeds: int) -> Counter[str]:
    """How often each verdict comes out."""
    return Counter(str(verify(known.theorem, seed=seed).verdict) for seed in range(seeds))


def attacked(known: Known) -> str:
    """What the falsifier makes of a statement."""
    (attack,) = falsify(known.theorem, budget=BUDGET).attacks
    return f"refuted after {attack.evaluations:,}" if attack.refuted else "not refuted"


HEAD = """# Statements of known truth

Measured by `python -m validation.known_truths` over {seeds} seeds: traps whose truth is known. A
true statement that is violated is a false alarm. A false one that holds on its draws is attacked
with {budget:,} evaluations.

| trap | statement | true | holds | inconclusive | violated | falsifier |
| --- | --- | --- | ---: | ---: | ---: | --- |
"""


def row(number: int, seeds: int) -> str:
    """One line of the table, of the statement of this number; its programs are let go of."""
    known = known_truths()[number]
    found = verdicts(known, seeds)
    shares = [f"{found[v] / seeds:.3f}" for v in ("holds", "inconclusive", "violated")]
    attack = attacked(known) if known.truth or found["holds"] else ""
    forget()
    cells = (known.trap, known.name, "yes" if known.truth else "no", *shares, attack)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    texts = [f"{known.trap} {known.name}" for known in known_truths()]
    chosen = [number for number, text in enumerate(texts) if arguments.only in text]
    lines = []
    with ProcessPoolExecutor(arguments.processes, get_context("spawn")) as pool:
        for line in pool.map(row, chosen, repeat(arguments.seeds)):
            lines.append(line)
            print(line, flush=True)
    if not arguments.only:
        head = HEAD.format(seeds=arguments.seeds, budget=BUDGET)
        write_whole(TABLE, head + "\n".join(lines) + "\n")
