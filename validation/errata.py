"""The ledger of errata: every printed reading that is refuted, with a minimal counterexample.

    python -m validation.errata [--only TEXT] [--missing] [--again] [--words]

attacks every printed claim whose recorded verdict is "violated" from a cold start and rewrites
theorysim/records/errata.jsonl, which `theorysim errata` prints and the test suite replays. With
`--again` nothing is searched: what is recorded is confirmed and certified anew; with
`--words` what the statements' files say of it is written anew. What they no longer print leaves the
ledger, and is named.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Collection
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from theorysim.chunks import forget
from theorysim.claims import Corrected, Printed, ResolvedReading, Theorem, UsageError, Verdict
from theorysim.claims.kinds import Pointwise
from theorysim.engine import registry
from theorysim.engine.certify.certify import certify
from theorysim.engine.falsify.falsify import falsify
from theorysim.engine.falsify.report import Attack
from theorysim.engine.registry.ledger import LEDGER, errata
from theorysim.engine.registry.records import verdicts
from theorysim.engine.verify.verify import verify
from validation import write_whole
from validation.catalogue import catalogue
from validation.generic import DEGENERATE, drawn_attacks

BUDGET = 20_000
SHARES = (16, 4, 1)
# What a search finds; the rest of a line is what the statement's file says.
FOUND = (
    *("theorem", "reading", "claim", "kind", "lhs", "rhs", "error", "evaluations"),
    *("instance", "confirmation", "certificate", "note"),
)
# The verdict of a correction that was written after the last record.
UNRECORDED = "not recorded yet"

# A theorem, a reading and a claim.
Place: TypeAlias = tuple[str, str, str]


def misprint(theorem: Theorem, reading: str) -> dict[str, Any]:
    """Where it stands, its words and what is wrong with them, and what the corrections change.

    `instead` has the change of each corrected reading that answers it, with its recorded verdict.
    """
    printed, verdicts = theorem.reading(reading), catalogue()[theorem.id]
    return {
        "place": printed.source.place,
        "words": printed.source.words,
        "wrong": printed.note,
        "instead": [
            [change, verdicts.get(name, UNRECORDED)] for name, change in answers(theorem, reading)
        ],
    }


def answers(theorem: Theorem, reading: str) -> list[tuple[str, str]]:
    """Names and changes of what corrects a reading X: "X, corrected", or what no other owns."""
    every = theorem.all_readings()
    changes = {r.name: r.source.change for r in every if isinstance(r.source, Corrected)}
    owned = {f"{each.name}, corrected" for each in every}
    own = [(name, change) for name, change in changes.items() if name == f"{reading}, corrected"]
    return own or [(name, change) for name, change in changes.items() if name not in owned]


def warrants(theorem: Theorem, reading: str, claim: str, instance: Any) -> dict[str, str]:
    """How a counterexample is confirmed, and whether it is certified or why not."""
    if instance is None:
        return {"confirmation": "", "certificate": "no single instance"}
    proof = certificate(theorem, reading, claim, instance)
    report = verify(theorem, reading=reading, claims=claim, instance=instance)
    (found,) = report.reading(reading).claims
    if isinstance(found.claim, Pointwise) and found.verdict is not Verdict.VIOLATED:
        raise RuntimeError(f"{theorem.id}, {reading}, {claim}: {found.verdict}, {found.note}")
    return {"confirmation": found.confirmation, "certificate": proof}


def in_print(theorem: Theorem, reading: str) -> ResolvedReading | None:
    """The reading of that name, if the paper has it: only what stands there can be an erratum.

    Readings become findings or get other names after they were refuted.
    """
    readings = {found.name: found for found in theorem.all_readings()}
    found = readings.get(reading)
    return found if found is not None and isinstance(found.source, Printed) else None


def is_stated(line: dict[str, Any]) -> bool:
    """Whether a statement's file still has the claim of a line in a reading of the print."""
    if line["theorem"] not in {entry.id for entry in registry.catalogue()}:
        return False
    reading = in_print(registry.theorem(line["theorem"]), line["reading"])
    return reading is not None and line["claim"] in {claim.name for claim in reading.claims}


def drop_unstated(only: str) -> None:
    """Take what the statements' files no longer print from the ledger, and name it."""
    lines = errata()
    gone = [line for line in lines if only in line["theorem"] and not is_stated(line)]
    for line in gone:
        print(f"{line['theorem']}, {line['reading']}, {line['claim']}: NOT IN PRINT ANY MORE")
    if gone:
        write_whole(Path(str(LEDGER)), as_text([line for line in lines if line not in gone]))


def certificate(theorem: Theorem, reading: str, claim: str, instance: Any) -> str:
    """Whether ball arithmetic confirms the counterexample, or why it cannot."""
    try:
        report = certify(theorem, claim=claim, reading=reading, instance=instance)
    except UsageError as error:
        return f"not certified: {error}"
    return "certified" if report.exit_code == 3 else "undecided"


def entry(theorem: Theorem, attack: Attack) -> dict[str, Any]:
    """One line of the ledger."""
    return {
        "theorem": theorem.id,
        "reading": attack.reading,
        "claim": attack.claim,
        "kind": attack.kind,
        **{name: finite(getattr(attack, name)) for name in ("lhs", "rhs", "error")},
        "evaluations": attack.evaluations,
        "instance": attack.instance,
        **warrants(theorem, attack.reading, attack.claim, attack.instance),
        "note": attack.note,
        "strict": attack.strict,
        **misprint(theorem, attack.reading),
    }


def replace(sought: Collection[Place], lines: list[dict[str, Any]]) -> None:
    """Write the ledger with these lines for what was sought and without what is not refuted now.

    It is read anew, so that a long run keeps what another one recorded meanwhile.
    """
    refuted = refutations()
    kept = [line for line in errata() if where(line) in set(refuted) - set(sought)]
    ordered = sorted(kept + lines, key=lambda line: refuted.index(where(line)))
    write_whole(Path(str(LEDGER)), as_text(ordered))


def as_text(lines: list[dict[str, Any]]) -> str:
    """The ledger with these lines, as its file has them."""
    return "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)


def where(line: dict[str, Any]) -> Place:
    """The theorem, the reading and the claim of a line."""
    return line["theorem"], line["reading"], line["claim"]


def finite(value: float) -> float | None:
    """JSON has neither NaN nor infinity: a constant over a ladder has no right side."""
    return value if math.isfinite(value) else None


def found_by_attack(
    theorem: Theorem, reading: str, claims: Collection[str], budget: int
) -> list[Attack]:
    """Which of these claims are refuted; what is not found yet is given more of the budget."""
    if (theorem.id, reading) in DEGENERATE:
        return drawn_attacks(theorem, reading, claims)
    found: dict[str, Attack] = {}
    for share in SHARES:
        left = [claim for claim in claims if claim not in found]
        if left:
            report = falsify(theorem, reading=reading, claim=left, budget=budget // share)
            found |= {attack.claim: attack for attack in report.attacks if attack.refuted}
    return list(found.values())


def restate(only: str = "") -> None:
    """Write anew what the statements' files say of each recorded line; search nothing."""
    drop_unstated(only)
    lines = [stated_anew(line) if only in line["theorem"] else line for line in errata()]
    write_whole(Path(str(LEDGER)), as_text(lines))


def stated_anew(line: dict[str, Any]) -> dict[str, Any]:
    """A line of the ledger with strictness, place, words, what is wrong and what holds instead."""
    theorem = registry.theorem(line["theorem"])
    claims = {claim.name: claim for claim in theorem.reading(line["reading"]).claims}
    told = misprint(theorem, line["reading"])
    found = {name: line[name] for name in FOUND}
    return {**found, "strict": claims[line["claim"]].strict, **told}


def record(budget: int, only: str = "", missing: bool = False) -> None:
    """Attack the refuted claims and write the ledger; name what was not found again.

    The ledger is written after every reading, so that `missing` can go on where a run was stopped.
    """
    there = {where(line) for line in errata()} if missing else set()
    wanted = [place for place in refutations() if only in place[0] and place not in there]
    for (id, reading), group in groupby(wanted, key=lambda place: place[:2]):
        forget()
        start = time.perf_counter()
        sought, theorem = list(group), registry.theorem(id)
        if in_print(theorem, reading) is None:
            print(f"{id}, {reading}: NOT IN PRINT ANY MORE: record its verdict anew", flush=True)
            continue
        hits = found_by_attack(theorem, reading, [claim for *_, claim in sought], budget)
        replace(sought, [entry(theorem, attack) for attack in hits])
        lost = sorted({claim for *_, claim in sought} - {attack.claim for attack in hits})
        found = ", ".join(attack.claim for attack in hits)
        found += "".join(f"; {claim}: NOT FOUND AGAIN" for claim in lost)
        print(f"{id}, {reading}: {found} ({time.perf_counter() - start:.0f} s)", flush=True)


def warrant_again(only: str = "") -> None:
    """Confirm and certify what is recorded, and write the ledger after each line."""
    drop_unstated(only)
    for line in errata():
        id, reading, claim = where(line)
        if only not in id:
            continue
        forget()
        theorem = registry.theorem(id)
        found = warrants(theorem, reading, claim, line["instance"])
        found |= misprint(theorem, reading)
        lines = [{**old, **found} if old == line else old for old in errata()]
        write_whole(Path(str(LEDGER)), as_text(lines))
        print(f"{id}, {reading}, {claim}: {found}", flush=True)


@cache
def refutations() -> list[Place]:
    """Claims of printed readings that are recorded as violated, sorted by theorem.

    Only what stands in the paper can be an erratum. The record says what does: no theorem is
    imported for it.
    """
    return [
        (id, reading["name"], claim["name"])
        for id, line in sorted(verdicts().items())
        for reading in line["readings"]
        if reading["source"]["kind"] == "printed"
        for claim in reading["claims"]
        if claim["verdict"] == "violated"
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=BUDGET, help="evaluations per claim")
    parser.add_argument("--only", default="", help="only ids that contain this text")
    parser.add_argument("--missing", action="store_true", help="only what the ledger lacks")
    parser.add_argument("--words", action="store_true", help="only what the files say")
    parser.add_argument("--again", action="store_true", help="confirm and certify, search nothing")
    options = parser.parse_args()
    if options.words:
        restate(options.only)
    elif options.again:
        warrant_again(options.only)
    else:
        record(options.budget, options.only, options.missing)
