"""Deciding a relation between two formulas at one instance, with as many bits as it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from flint import arb, ctx

from theorysim.enclosures.arithmetic.balls import BALLS
from theorysim.enclosures.arithmetic.base import Undecided
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.rules import RULES
from theorysim.enclosures.relation import Formula, RelationValues

# Digits of a printed enclosure.
DIGITS = 20

PRECISION = 64
MAX_PRECISION = 4096
# Enclosures of two equal sides always overlap: no precision proves an equality, and a difference
# below this one is none that a formula of a paper means.
EQUALITY_PRECISION = 1024


class Outcome(StrEnum):
    """What a certificate says."""

    CERTIFIED = "certified"
    VIOLATED = "certified violated"
    UNDECIDED = "undecided"
    OUTSIDE = "outside the hypotheses"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Decision:
    """What is certain at one instance.

    `lhs`, `rhs`, `slack` are decimal enclosures at `place`, the entry that decided (or the one that
    is least clear); `precision` is the number of bits that it took. `undecided` counts entries.
    `relative` is roughly the slack as a part of both sides.
    """

    outcome: Outcome
    lhs: str = ""
    rhs: str = ""
    slack: str = ""
    place: tuple[int, ...] = ()
    precision: int = 0
    undecided: int = 0
    entries: int = 0
    relative: float = math.nan


def decide(
    formula: Formula,
    inputs: Callable[[Interpreter], list[Any]],
    precision: int = PRECISION,
    max_precision: int = MAX_PRECISION,
) -> Decision:
    """Evaluate at one instance with ever more bits until the outcome is certain.

    `inputs(interpreter)` encloses the instance at the current precision.
    """
    bits, most = precision, max_precision
    if formula.equality:
        most = min(most, EQUALITY_PRECISION)
    while True:
        with ctx.workprec(bits):
            interpreter = Interpreter(BALLS, RULES, formula.subject)
            try:
                decision = _decision_on(formula, formula.run(interpreter, inputs(interpreter)))
            except Undecided:
                decision = Decision(Outcome.UNDECIDED, precision=bits)
        if decision.outcome is not Outcome.UNDECIDED or 2 * bits > most:
            return decision
        bits *= 2


def _decision_on(formula: Formula, values: RelationValues) -> Decision:
    """What the balls of an instance, at the current precision, decide."""
    entries = len(values.slack)
    applicable = [place for place, condition in enumerate(values.condition) if not condition < 0]
    outside = any(m < 0 for m in values.margins) or any(m <= 0 for m in values.open_margins)
    if outside or not applicable:
        return Decision(Outcome.OUTSIDE, precision=ctx.prec, entries=entries)
    met = all(m >= 0 for m in values.margins) and all(m > 0 for m in values.open_margins)
    bad = [p for p in applicable if values.condition[p] >= 0 and formula.is_bad(values.slack[p])]
    unclear = [p for p in applicable if not formula.is_fine(values.slack[p])]
    if bad and met:
        outcome = Outcome.VIOLATED
        place = min(bad, key=lambda p: float(values.slack[p].upper()))
    elif unclear:
        outcome = Outcome.UNDECIDED
        place = max(unclear, key=lambda p: _doubt(values.slack[p]))
    else:
        outcome = Outcome.CERTIFIED
        place = min(applicable, key=lambda p: float(values.slack[p].lower()))
    return Decision(
        outcome,
        lhs=values.lhs[place].str(DIGITS),
        rhs=values.rhs[place].str(DIGITS),
        slack=values.slack[place].str(DIGITS),
        place=tuple(int(i) for i in np.unravel_index(place, values.shape)),
        precision=ctx.prec,
        undecided=len(unclear) if outcome is Outcome.UNDECIDED else 0,
        entries=entries,
        relative=relative_size(values.slack[place], values.lhs[place], values.rhs[place]),
    )


def relative_size(slack: arb, lhs: arb, rhs: arb) -> float:
    """Roughly, the slack as a part of both sides; NaN where they may be zero."""
    both = abs(lhs) + abs(rhs)
    return float((abs(slack) / both).mid()) if both > 0 else math.nan


def _doubt(slack: arb) -> float:
    """Roughly, to choose what to show."""
    return float(slack.abs_upper()) if slack.is_finite() else math.inf
