"""Short sentences of the pages about what was recorded."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from theorysim.claims.kinds import Claim, Pointwise
from theorysim.claims.verdict import SEVERITY, Verdict
from theorysim.engine.verify.report import ClaimReport
from theorysim.report.answer import Place, count
from theorysim.report.answer import sides as both_sides

# First words that take a capital. Symbols do not: theirs would be other symbols.
GREEK = "alpha|beta|gamma|delta|epsilon|eta|kappa|lam|lambda|mu|sigma|tau|theta|xi"
PLAIN_WORD = re.compile(rf"(?!({GREEK})\b)(a|[a-z]*[aeiouy][a-z-]+|[a-z]+[aeiouy])[\s,:]")
# What the ledger writes before and after the reason why there is no certificate.
NOT_CERTIFIED = re.compile(
    r"not certified: claim '.*' of \S+, reading '.*' (?P<reason>.*?)(: verify it)?$"
)


def sides(claim: Claim, line: Mapping[str, Any]) -> str:
    """What a counterexample measures against what was claimed; empty where its note says it."""
    if not isinstance(claim, Pointwise):
        return ""
    lhs, rhs, error = (math.nan if line[n] is None else line[n] for n in ("lhs", "rhs", "error"))
    found = ClaimReport(claim, Verdict.VIOLATED, lhs=lhs, rhs=rhs, error=error)
    return f"Measured {both_sides(found)}."


def warrant(line: Mapping[str, Any]) -> str:
    """How a counterexample is confirmed, and whether it is certified or why not."""
    confirmed = f"Confirmed {line['confirmation']}." if line["confirmation"] else ""
    return f"{confirmed} {_certificate(line['certificate'])}".strip()


def _certificate(recorded: str) -> str:
    if recorded == "certified":
        return "Certified in ball arithmetic: no rounding can change it."
    if recorded == "undecided":
        return "Ball arithmetic leaves it undecided."
    found = NOT_CERTIFIED.match(recorded)
    return f"No certificate: it {found['reason']}." if found else f"No certificate: {recorded}."


def withstood(attack: Mapping[str, Any]) -> str:
    """How long a primary reading withstood the falsifier, and how soon an error was found."""
    tried = count(attack["evaluations"], "evaluation")
    runs = f" ({count(attack['runs'], 'run')})" if attack["runs"] != attack["evaluations"] else ""
    if attack["refuted"]:
        outcome = f"An adversary refuted {', '.join(attack['refuted'])} of the primary reading"
    else:
        outcome = f"An adversary found no counterexample to the primary reading in {tried}{runs}"
    ratio = attack["ratio"]
    reached = "" if ratio is None else f"; the largest ratio of the sides it reached is {ratio:.3g}"
    planted = attack.get("planted")  # not of an attack on the primary reading alone
    found = f"A planted error was found after {count(planted, 'evaluation')}." if planted else ""
    return f"{outcome}{reached}. {found}".strip()


def killed(found: Mapping[str, Any]) -> str:
    """How many mutants of a reading its claims refute."""
    refuted = {mutant for mutants in found["refuted_by"].values() for mutant in mutants}
    return f"{len(refuted)} of {len(found['mutants'])} ({', '.join(found['mutants'])})"


def tally(places: Iterable[Place]) -> list[tuple[Verdict, int]]:
    """Each verdict with how many places came out so, the worst first."""
    counted = Counter(place.verdict for place in places)
    return [(verdict, counted[verdict]) for verdict in SEVERITY if counted[verdict]]


def shares(verdicts: Mapping[Verdict, int]) -> str:
    """Such as "12 violated, 40 hold"."""
    plural = {Verdict.HOLDS: "hold"}
    return ", ".join(
        f"{many} {plural.get(verdict, verdict) if many > 1 else verdict}"
        for verdict, many in verdicts.items()
    )


def spoken(text: str) -> str:
    """A sentence: a capital first, where a word is, and a full stop last."""
    text = text.strip()
    capital = text[:1].upper() if PLAIN_WORD.match(text) else text[:1]
    return text and capital + text[1:] + "." * (text[-1] not in ".!?")
