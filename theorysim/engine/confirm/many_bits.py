"""Whether a violation is still there where formulas are evaluated with many more bits.

The sides are run in ball arithmetic, whose enclosures are certain. This also settles what no
perturbation of double precision shows: 1 - logistic(x) at x = 40, where 1 absorbs all of e^-40.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx
from jaxtyping import Array

from theorysim.claims.instance import Instance, field_values, size_items
from theorysim.claims.margins import is_strict
from theorysim.enclosures import Formula, RelationValues
from theorysim.enclosures.arithmetic import UNDEFINED
from theorysim.enclosures.arithmetic.balls import BALLS
from theorysim.enclosures.arithmetic.base import Undecided
from theorysim.enclosures.interpreter import (
    RULES,
    IntegerOverflow,
    Interpreter,
    UnknownPrimitive,
    object_array,
)
from theorysim.engine.certify.spaces import enclose
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.confirm.traced import formula_of, traced
from theorysim.jaxprs.work import work


class Effort(NamedTuple):
    """The bits that are tried in turn, and how many entries one evaluation may compute."""

    precisions: tuple[int, ...]
    most_work: int


# Four times the 53 of double precision: what 160 of them cancel is far below any double's error.
# What these leave open gets three times as many. Some tenths of a second.
FIRST = Effort((212, 636), 400_000)
# Before a look that compiles a long program for some seconds: at most about as long.
MORE = Effort((1908,), 1_000_000)
# Where nothing else could tell: some seconds.
LAST = Effort((636, 1908), 4_000_000)

# Formulas that are made for floating point drop terms below its rounding, a dozen of them: what
# is smaller than this part of both sides says nothing of what they mean.
DROPPED = 16 * float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


# What is nearer to 0 than 1e-270 is 0, by the way that it is written. With the bits of `MORE` all
# differences of numbers up to 1e300 are known so well, and the root of one of numbers of size 1.
LEAST = 2.0**-900

OVERLAP = "its enclosures overlap"
OPEN = "its enclosures do not tell whether the claim speaks of it"
TOO_MUCH = "it is too much work with many bits"
OVERFLOW = "where integers do not overflow"


class _TooMuchWork(Exception):
    """The program runs longer than what is worth a second look."""


def look_with_many_bits(case: Case, suspect: Suspect, effort: Effort) -> Finding:
    """Whether a suspect violates its claim where the sides are evaluated with many more bits.

    The violation counts beyond what the integrator, limits and averages may err by, and at a point
    that was violated in double precision, too. Its hypotheses are not asked for.
    """
    sizes = size_items(suspect.instance)
    facts = traced(case, sizes)
    if obstacle := _unrelated(case) or facts.obstacle:
        return Finding(Answer.UNKNOWN, obstacle)
    if facts.work > effort.most_work:
        return Finding(Answer.UNKNOWN, TOO_MUCH)
    formula, computed = formula_of(case, sizes), 0
    finding = Finding(Answer.UNKNOWN, OVERLAP)
    for bits in dict.fromkeys((*effort.precisions, *MORE.precisions)):
        if bits not in effort.precisions and finding.means != OPEN:
            break
        interpreter = _Guarded(effort.most_work, BALLS, RULES, case.claim.name)
        finding = _look(case, formula, suspect, interpreter, bits)
        computed += facts.work + interpreter.computed
        if finding.means not in (OVERLAP, OPEN):
            break
    return replace(finding, work=computed)


def _look(
    case: Case, formula: Formula, suspect: Suspect, interpreter: _Guarded, bits: int
) -> Finding:
    try:
        with ctx.workprec(bits):
            values = _values(case, formula, suspect.instance, suspect.key, interpreter)
            return _judged(case, values, suspect, bits)
    except Undecided:
        return Finding(Answer.UNKNOWN, OVERLAP)
    except UnknownPrimitive as unknown:
        return Finding(Answer.UNKNOWN, str(unknown))
    except _TooMuchWork:
        return Finding(Answer.UNKNOWN, TOO_MUCH)
    except IntegerOverflow:
        return Finding(Answer.VANISHED, OVERFLOW)


def values_with_bits(
    case: Case,
    formula: Formula,
    x: Instance,
    key: np.ndarray | Array,
    bits: int,
    most_work: int,
) -> RelationValues | None:
    """What a formula of the fields and the key encloses at an instance; None where it cannot."""
    try:
        with ctx.workprec(bits):
            interpreter = _Guarded(most_work, BALLS, RULES, case.claim.name)
            return _values(case, formula, x, key, interpreter)
    except (Undecided, UnknownPrimitive, IntegerOverflow, _TooMuchWork):
        return None


def counts(case: Case, condition: arb, bits: int) -> bool | None:
    """Whether the claim speaks of a point; None where an enclosure of so many bits does not tell.

    A condition that is not strict is met where it is 0 by the way that it is written.
    """
    where = case.claim.where
    strict = where is not None and is_strict(where)
    if condition > 0 or (not strict and (condition >= 0 or is_nothing(condition, bits))):
        return True
    return False if condition < 0 or (condition <= 0 and strict) else None


def is_nothing(value: arb, bits: int) -> bool:
    """Whether a number is 0 as far as these bits can tell, which are enough to tell."""
    return bits >= MORE.precisions[-1] and value.contains(0) and value.rad() < LEAST


def _unrelated(case: Case) -> str:
    """Why enclosures decide no point of the claim; "" where they do."""
    if case.claim.relation is None:
        return f"enclosures do not know the relation of {case.claim.kind}"
    return ""


def _values(
    case: Case, formula: Formula, x: Instance, key: np.ndarray | Array, interpreter: Interpreter
) -> RelationValues:
    values = field_values(x)
    fields = case.theorem.space.fields
    inputs = [enclose(interpreter, field, values[name]) for name, field in fields.items()]
    return formula.run(interpreter, [*inputs, object_array([UNDEFINED], ()), np.asarray(key)])


def _judged(case: Case, values: RelationValues, suspect: Suspect, bits: int) -> Finding:
    """Violated where one point certainly is; vanished where none that was can be."""
    other, means = suspect.points.non_rounding_error[0], f"with {bits} bits"
    overlap = is_open = False
    for column in np.argsort(suspect.room, kind="stable")[: np.sum(suspect.violated)]:
        slack, speaks = values.slack[column], counts(case, values.condition[column], bits)
        size = abs(values.lhs[column]) + abs(values.rhs[column])
        least = arb(float(other[column])) + arb(DROPPED) * size
        if slack < -least and speaks:
            return Finding(Answer.VIOLATED, means, int(column))
        if not (slack >= -least or speaks is False):
            is_open |= speaks is None
            overlap |= speaks is True
    if is_open or overlap:
        return Finding(Answer.UNKNOWN, OPEN if is_open else OVERLAP)
    return Finding(Answer.VANISHED, means)


class _Guarded(Interpreter):
    """An interpreter that gives up on programs that run long."""

    def __init__(self, most_work: int, *arguments: Any):
        super().__init__(*arguments)
        self._most_work = most_work
        self.computed = 0  # entries, in loops

    def expect(self, rounds: int, program: Any) -> None:
        """Give up on a loop before it starts, where its rounds are too many."""
        if self.computed + rounds * work(program) > self._most_work:
            raise _TooMuchWork

    def loop(self, program: Any, inputs: list[Any]) -> list[Any]:
        """One round of a loop, if there is still time for it."""
        self.computed += work(program)
        if self.computed > self._most_work:
            raise _TooMuchWork
        return super().loop(program, inputs)
