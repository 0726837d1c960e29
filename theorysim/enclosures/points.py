"""Deciding a relation between two formulas at one instance, with as many bits as it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import ctx
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array

from theorysim.enclosures.balls import BALLS, Undecided, arb
from theorysim.enclosures.interpreter import Machine

# Digits of a printed enclosure.
DIGITS = 20

PRECISION = 64
MAX_PRECISION = 4096
# Enclosures of two equal sides overlap for ever: no precision proves an equality, and a difference
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
class Points:
    """The values of a relation at its points; `margins` are common to all."""

    shape: tuple[int, ...]
    slack: list[Any]
    lhs: list[Any]
    rhs: list[Any]
    given: list[Any]
    margins: list[Any]


@dataclass(frozen=True)
class Formula:
    """A relation as a program: inputs -> (slack, left side, right side, given, margins).

    The slack is to be >= 0 (`strict`: > 0) at every point whose `given` is >= 0, if no margin is
    negative. `needs` tells which of the traced inputs enter at all.
    """

    program: Any
    needs: tuple[bool, ...]
    strict: bool
    equality: bool
    subject: str

    def run(self, machine: Machine, inputs: list[Any]) -> Points:
        """All points of the relation in the arithmetic of the machine.

        Raises:
            UnknownPrimitive: naming the operation that has no enclosure.
            Undecided: where the enclosures do not decide a branch.
        """
        used = [value for value, needed in zip(inputs, self.needs) if needed]
        outputs = machine.run(self.program, used)
        return Points(outputs[0].shape, *(output.ravel().tolist() for output in outputs))

    def is_fine(self, slack: arb) -> bool:
        """Whether the relation certainly holds."""
        return slack > 0 if self.strict else slack >= 0

    def is_bad(self, slack: arb) -> bool:
        """Whether the relation certainly fails."""
        return slack <= 0 if self.strict else slack < 0


def traced(
    relation: Callable[..., tuple],
    examples: Iterable[Any],
    kind: str,
    strict: bool,
    subject: str,
) -> Formula:
    """The formula of `relation(*examples) -> (lhs, rhs, given or None, margins)`.

    `kind` is "at_most", "at_least" or "equal"; `subject` is named in errors.
    """

    def points(*inputs: Any) -> tuple[Array, ...]:
        lhs, rhs, given, margins = relation(*inputs)
        lhs, rhs = jnp.broadcast_arrays(jnp.asarray(lhs, float), jnp.asarray(rhs, float))
        slack = {
            "at_most": lambda: rhs - lhs,
            "at_least": lambda: lhs - rhs,
            "equal": lambda: -jnp.abs(lhs - rhs),
        }
        spoken = jnp.zeros(()) if given is None else jnp.asarray(given, float)
        flat = [jnp.ravel(jnp.asarray(margin, float)) for margin in margins]
        together = jnp.concatenate(flat) if flat else jnp.zeros(0)
        return slack[kind](), lhs, rhs, jnp.broadcast_to(spoken, lhs.shape), together

    with jax.enable_x64(True):
        closed = jax.make_jaxpr(points)(*examples)
    jaxpr, needs = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    program = closed.replace(jaxpr=jaxpr)
    return Formula(program, tuple(needs), strict, kind == "equal", subject)


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
    inputs: Callable[[Machine], list[Any]],
    precision: int = PRECISION,
    max_precision: int = MAX_PRECISION,
) -> Decision:
    """Evaluate at one instance with ever more bits until the outcome is certain.

    `inputs(machine)` encloses the instance at the current precision.
    """
    bits, most = precision, max_precision
    if formula.equality:
        most = min(most, EQUALITY_PRECISION)
    while True:
        with ctx.workprec(bits):
            machine = Machine(BALLS, formula.subject)
            try:
                decision = decision_on(formula, formula.run(machine, inputs(machine)))
            except Undecided:
                decision = Decision(Outcome.UNDECIDED, precision=bits)
        if decision.outcome is not Outcome.UNDECIDED or 2 * bits > most:
            return decision
        bits *= 2


def decision_on(formula: Formula, points: Points) -> Decision:
    """What the balls of an instance, at the current precision, decide."""
    entries = len(points.slack)
    spoken = [place for place, given in enumerate(points.given) if not given < 0]
    if any(margin < 0 for margin in points.margins) or not spoken:
        return Decision(Outcome.OUTSIDE, precision=ctx.prec, entries=entries)
    met = all(margin >= 0 for margin in points.margins)
    bad = [p for p in spoken if points.given[p] >= 0 and formula.is_bad(points.slack[p])]
    unclear = [p for p in spoken if not formula.is_fine(points.slack[p])]
    if bad and met:
        outcome = Outcome.VIOLATED
        place = min(bad, key=lambda p: float(points.slack[p].upper()))
    elif unclear:
        outcome = Outcome.UNDECIDED
        place = max(unclear, key=lambda p: _doubt(points.slack[p]))
    else:
        outcome, place = (
            Outcome.CERTIFIED,
            min(spoken, key=lambda p: float(points.slack[p].lower())),
        )
    return Decision(
        outcome,
        lhs=points.lhs[place].str(DIGITS),
        rhs=points.rhs[place].str(DIGITS),
        slack=points.slack[place].str(DIGITS),
        place=tuple(int(i) for i in np.unravel_index(place, points.shape)),
        precision=ctx.prec,
        undecided=len(unclear) if outcome is Outcome.UNDECIDED else 0,
        entries=entries,
        relative=_relative(points.slack[place], points.lhs[place], points.rhs[place]),
    )


def _relative(slack: arb, lhs: arb, rhs: arb) -> float:
    both = abs(lhs) + abs(rhs)
    return float((abs(slack) / both).mid()) if both > 0 else math.nan


def _doubt(slack: arb) -> float:
    """Roughly, to choose what to show."""
    return float(slack.abs_upper()) if slack.is_finite() else math.inf
