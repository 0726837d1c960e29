"""What withstands the falsifier, and for how long: planted errors are found, true readings survive.

    python -m validation.attacks [--seconds 60] [--only TEXT] [--part 0/2] [--again] [--primary]

attacks, from a cold start, the first mutant and the primary reading of every theorem, and records
in theorysim/records/attacks.jsonl and docs/records/attacks.md how many evaluations it took or
withstood. The claims of a primary reading that are searched, and those that are drawn anew, get as
many evaluations, up to a million runs, as fit into their seconds. What is recorded of the code as
it is, with all its runs or in as many seconds, is left alone unless `--again`. With
`--primary` no mutant is attacked, which takes half of the time.
`--scheduler ADDRESS` measures statements beside each other on the workers of a Dask cluster.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import jax

from theorysim.claims import ResolvedReading, Theorem
from theorysim.claims.kinds import Attack as Way
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.falsify.report import Attack
from theorysim.engine.measure.errors import replace_tolerance_scale
from theorysim.engine.measure.setup import parse_settings, select_readings
from theorysim.engine.registry import Entry
from theorysim.engine.registry.records import ATTACKS, is_fresh, lines_of, own_statements
from theorysim.engine.review.rounds import first_points
from theorysim.jaxprs.structure import contains
from validation import row, write_whole
from validation.lines import Line, add_choice, chosen, cluster, measure_anew

if TYPE_CHECKING:
    from distributed import Client

RECORD = Path(str(ATTACKS))
TABLE = Path(__file__).resolve().parent.parent / "docs" / "records" / "attacks.md"

# A larger budget must be worth its time; the last one should reach the million.
LEAST, MARGIN = 1.5, 1.05

GROWTH = 32

# Runs that a primary reading should withstand.
CLOSED, LOOPING = 1_000_000, 10_000

HEAD = """# What withstands the falsifier

`python -m validation.attacks` attacks every theorem from a cold start. *Planted error*: evaluations
until the theorem's first mutant was refuted ("not tried" where the primary reading alone was
attacked). *Withstood*: evaluations that found no counterexample to a claim of the primary reading
(the least over its claims), and the runs of the simulation in them. An evaluation is one instance
that meets the hypotheses; it takes several runs
where a claim averages over them or speaks of a probability. *Largest ratio* of the two sides of an
inequality that was reached (1: it is attained; above 1 "not confirmed": the search saw such a
ratio, which no measurement confirmed beyond its numerical error). Survival is no proof; where a
primary reading fell, it says so. A reading should withstand 1,000,000 runs, or 10,000 where its
simulation loops (gradient descent, a flow, a chain), if only for a few steps; what is short of that
in its seconds on one core is listed last.

| theorem | planted error found after | primary reading withstood | in runs | largest ratio |
| --- | ---: | ---: | ---: | ---: |
"""


def target(theorem: Theorem) -> int:
    """Runs that a true reading should withstand: fewer where each goes step by step."""
    return LOOPING if loops(theorem) else CLOSED


def loops(theorem: Theorem) -> bool:
    """Whether the simulation of the primary reading has a loop, however short."""
    with jax.enable_x64(True):
        sizes = parse_settings(theorem, {}).sizes
        x = replace_tolerance_scale(theorem.space.sample(jax.random.key(0), sizes), 1.0)
        program = jax.make_jaxpr(theorem.primary().simulate)(x, jax.random.key(1))
    return contains(program.jaxpr, ("while", "scan"))


def parts(reading: ResolvedReading) -> list[tuple[str, ...]]:
    """Names of claims that are drawn anew, and of those that are searched: each has its budget."""
    resampled = tuple(c.name for c in reading.claims if c.attack is Way.RESAMPLE)
    searched = tuple(c.name for c in reading.claims if c.attack is not Way.RESAMPLE)
    return [names for names in (resampled, searched) if names]


def growing(
    theorem: Theorem, reading: str, claims: Collection[str] | None, seconds: float
) -> Iterator[tuple[Attack, ...]]:
    """Attacks with ever larger budgets, up to a million runs, while they fit into the seconds.

    The first one compiles and does not count.
    """

    def attack(budget: int) -> tuple[Attack, ...]:
        return falsify(theorem, reading=reading, claim=claims, budget=budget).attacks

    (attacked,) = (r.claims for r in select_readings(theorem, reading, claims))
    first = first_points(theorem, reading, [claim.name for claim in attacked], seconds)
    yield attack(first)
    begin, budget = time.process_time(), first
    while True:
        start = time.process_time()
        attacks = attack(budget)
        yield attacks
        now = time.process_time()
        reached = max(1, min(attack.runs for attack in attacks))
        left = CLOSED / reached
        growth = min(GROWTH, MARGIN * left, (begin + seconds - now) / (now - start))
        if left <= 1 or growth < min(LEAST, left):
            return
        if all(claim.attack is Way.RESAMPLE for claim in attacked):
            budget = max(budget, reached)  # one draw of all instances may exceed it
        budget = int(budget * growth)


def attack_first_mutant(theorem: Theorem, seconds: float) -> int | None:
    """Evaluations until a claim refuted the first mutant; None where none did or there is none."""
    primary = theorem.primary()
    variant = next(iter(theorem.mutants_of(primary).values()), None)
    if variant is None:
        return None
    for attacks in growing(theorem, variant.name, None, seconds):
        hits = [attack.evaluations for attack in attacks if attack.refuted]
        if hits:
            return min(hits)
    return None


def attack_primary(theorem: Theorem, seconds: float) -> tuple[Attack, ...]:
    """The longest attack on each claim of the primary reading, or the first that refuted some."""
    reading = theorem.primary()
    longest: tuple[Attack, ...] = ()
    for claims in parts(reading):
        attacks: tuple[Attack, ...] = ()
        for attacks in growing(theorem, reading.name, claims, seconds):
            if any(attack.refuted for attack in attacks):
                break
        longest += attacks
    return longest


def measure(theorem: Theorem, source: str, seconds: float, plant: bool = True) -> Line:
    """A line of the record; without "planted" where no error is planted."""
    attacks = attack_primary(theorem, seconds)
    ratios = [a.ratio for a in attacks if a.ratio_limit == 1 and math.isfinite(a.ratio)]
    return {
        "theorem": theorem.id,
        "source": source,
        "seconds": seconds,
        **({"planted": attack_first_mutant(theorem, seconds)} if plant else {}),
        "evaluations": min(attack.evaluations for attack in attacks),
        "runs": min(attack.runs for attack in attacks),
        "target": target(theorem),
        "refuted": [attack.claim for attack in attacks if attack.refuted],
        "ratio": max(ratios, default=None),
    }


def table(lines: Mapping[str, Line]) -> str:
    """The record in Markdown, with what it lacks."""
    rows = "".join(row(*_cells(id, line)) for id, line in lines.items())
    short = [f"{id} ({line['seconds']:.3g} s)" for id, line in lines.items() if is_short(line)]
    missing, older = [], []
    for entry in own_statements():
        if entry.id not in lines:
            missing.append(entry.id)
        elif not is_fresh(lines[entry.id], entry):
            older.append(entry.id)
    lacks = {
        "Short of their runs": short,
        "Not attacked since their code changed": older,
        "Not attacked yet": missing,
    }
    return HEAD + rows + "".join(f"\n{k}: {', '.join(ids)}.\n" for k, ids in lacks.items() if ids)


def is_short(line: Line) -> bool:
    """Whether a recorded primary reading withstood fewer runs than it should."""
    return line["runs"] < line["target"]


def _cells(id: str, line: Line) -> Iterable[str]:
    planted = line.get("planted", "not tried")
    words = {None: "not found", "not tried": "not tried"}
    found = words.get(planted) or f"{planted:,}"
    stood, runs = f"{line['evaluations']:,}", f"{line['runs']:,}"
    if line["refuted"]:
        stood = f"REFUTED: {', '.join(line['refuted'])}"
    reached = line["ratio"]
    ratio = "" if reached is None else f"{reached:.3g}" + ", not confirmed" * (reached > 1)
    return id, found, stood, runs, ratio


def record(
    entries: Iterable[Entry],
    seconds: float,
    again: bool,
    plant: bool,
    client: Client | None = None,
) -> None:
    """Attack these theorems, as far as they are not recorded, and write both files."""

    def is_enough(line: Line) -> bool:
        done = "planted" in line or not plant
        return (line["seconds"] >= seconds or not is_short(line)) and done and not again

    measured = partial(measure, seconds=seconds, plant=plant)
    for line, spent in measure_anew(RECORD, entries, measured, is_enough, client):
        write_whole(TABLE, table(lines_of(RECORD)))
        print(line, f"({spent:.0f} s of CPU)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each primary reading")
    parser.add_argument("--again", action="store_true", help="also what is recorded")
    parser.add_argument("--primary", action="store_true", help="attack no mutants")
    add_choice(parser)
    options = parser.parse_args()
    with cluster(options) as client:
        record(
            chosen(options),
            options.seconds,
            options.again,
            plant=not options.primary,
            client=client,
        )
