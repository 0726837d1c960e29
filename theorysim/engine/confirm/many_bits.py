"""Whether what is told is still there where formulas are evaluated with many more bits.

The sides are run in ball arithmetic, whose enclosures are certain. This also settles what no
perturbation of double precision shows: 1 - logistic(x) at x = 40, where 1 absorbs all of e^-40.
A violation is looked at by itself; a witness, or an instance that misses a probability, is judged
anew with the sides that many bits give it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import numpy as np
from flint import arb, ctx
from jaxtyping import Array

from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, SizeItems, field_values, size_items
from theorysim.claims.margins import is_strict
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
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
from theorysim.engine.certify.formulas import hypotheses_formula
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

# Of a witness, before a look that compiles two long programs.
WITNESS = Effort((636,), 1_000_000)

# Formulas that are made for floating point drop terms below its rounding, a dozen of them: what
# is smaller than this part of both sides says nothing of what they mean.
DROPPED = 16 * float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)


OVERLAP = "its enclosures overlap"
TOO_MUCH = "it is too much work with many bits"
OVERFLOW = "where integers do not overflow"


class _TooMuchWork(Exception):
    """The program runs longer than what is worth a second look."""


def look_with_many_bits(case: Case, suspect: Suspect, effort: Effort) -> Finding:
    """Whether a suspect violates its claim where the sides are evaluated with many more bits.

    The violation counts beyond what the integrator, limits and averages may err by, and at a point
    that was violated in double precision, too. Its hypotheses were judged where it was drawn.
    """
    sizes = size_items(suspect.instance)
    facts = traced(case, sizes)
    if obstacle := _unrelated(case) or facts.obstacle:
        return Finding(Answer.UNKNOWN, obstacle)
    if facts.work > effort.most_work:
        return Finding(Answer.UNKNOWN, TOO_MUCH)
    formula, computed = formula_of(case, sizes), 0
    finding = Finding(Answer.UNKNOWN, OVERLAP)
    for bits in effort.precisions:
        interpreter = _Guarded(effort.most_work, BALLS, RULES, case.claim.name)
        finding = _look(case, formula, suspect, interpreter, bits)
        computed += facts.work + interpreter.computed
        if finding.means != OVERLAP:
            break
    return replace(finding, work=computed)


def _look(
    case: Case, formula: Formula, suspect: Suspect, interpreter: _Guarded, bits: int
) -> Finding:
    try:
        with ctx.workprec(bits):
            values = _values(case, formula, suspect.instance, suspect.key, interpreter)
            return _judged(case, values, suspect, f"with {bits} bits")
    except Undecided:
        return Finding(Answer.UNKNOWN, OVERLAP)
    except UnknownPrimitive as unknown:
        return Finding(Answer.UNKNOWN, str(unknown))
    except _TooMuchWork:
        return Finding(Answer.UNKNOWN, TOO_MUCH)
    except IntegerOverflow:
        return Finding(Answer.VANISHED, OVERFLOW)


def measured_with_bits(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Measurement | None:
    """The measurement of one stacked instance with the sides that many bits give it.

    Rounding is then the width of enclosures and what formulas drop that are made for floating
    point. It is infinite at points that are left open: where sides differ by no more than that, and
    are not equal for certain, or where it is unknown whether the claim speaks of them. It speaks of
    none where a hypothesis certainly fails. None where there are no enclosures, and of means and
    limits: their errors were measured in double precision.
    """
    x, key = jax.tree.map(lambda leaf: np.asarray(leaf)[0], (instances, keys))
    shape = np.shape(measurement.lhs)
    if misses_hypotheses(case, x, key, WITNESS.precisions[0]):
        return replace(measurement, applies=np.zeros(shape, bool), rounding=np.zeros(shape))
    values = _with_bits(case, x, key)
    if values is None:
        return None
    counted = [_counts(case, condition) for condition in values.condition]
    points = [_rounded(lhs, rhs) for lhs, rhs in zip(values.lhs, values.rhs, strict=True)]
    lhs, rhs, rounding = np.reshape(np.transpose(points), (3, *shape))
    unclear = np.reshape([one is None for one in counted], shape)
    return replace(
        measurement,
        lhs=lhs,
        rhs=rhs,
        applies=np.reshape([one is not False for one in counted], shape),
        rounding=np.where(unclear, np.inf, rounding),
    )


def _with_bits(case: Case, x: Instance, key: np.ndarray) -> RelationValues | None:
    """Both sides at an instance; None where no enclosure tells them."""
    sizes = size_items(x)
    facts = traced(case, sizes)
    if facts.obstacle or facts.estimates or facts.work > WITNESS.most_work:
        return None
    try:
        with ctx.workprec(WITNESS.precisions[0]):
            interpreter = _Guarded(WITNESS.most_work, BALLS, RULES, case.claim.name)
            return _values(case, formula_of(case, sizes), x, key, interpreter)
    except (Undecided, UnknownPrimitive, IntegerOverflow, _TooMuchWork):
        return None


def _rounded(lhs: arb, rhs: arb) -> tuple[float, float, float]:
    """Two sides as floats, and what they may err by; infinite where they may be equal or not."""
    sides = float(lhs.mid()), float(rhs.mid())
    if lhs - rhs == 0:
        return *sides, 0.0
    apart = float((abs(lhs - sides[0]) + abs(rhs - sides[1])).abs_upper())
    # Beside `TINY` floats have fewer digits, or none.
    error = apart + DROPPED * (abs(sides[0]) + abs(sides[1])) + TINY
    return *sides, error if abs(sides[0] - sides[1]) > 2 * error else np.inf


def _counts(case: Case, condition: arb) -> bool | None:
    """Whether the claim speaks of a point; None where its enclosure does not tell."""
    where = case.claim.where
    strict = where is not None and is_strict(where)
    if condition > 0 or (condition >= 0 and not strict):
        return True
    return False if condition < 0 or (condition <= 0 and strict) else None


def misses_hypotheses(
    case: Case, x: Instance, key: np.ndarray | Array, bits: int = FIRST.precisions[0]
) -> bool:
    """Whether a hypothesis certainly fails at an instance that meets it in double precision.

    There 1 - c >= cos x where both are 1, though c > 1 - cos x. False where no enclosure tells.
    """
    formula = _hypotheses(case.theorem, case.reading, size_items(x))
    if formula is None:
        return False
    try:
        with ctx.workprec(bits):
            interpreter = _Guarded(FIRST.most_work, BALLS, RULES, case.claim.name)
            values = _values(case, formula, x, key, interpreter)
    except (Undecided, UnknownPrimitive, IntegerOverflow, _TooMuchWork):
        return False
    return any(m < 0 for m in values.margins) or any(m <= 0 for m in values.open_margins)


@lru_cache(maxsize=256)
def _hypotheses(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Formula | None:
    """The hypotheses of a reading as a program, if there are some and it is short enough."""
    if not reading.hypotheses:
        return None
    formula = hypotheses_formula(theorem, reading, dict(sizes))
    return formula if work(formula.program) <= FIRST.most_work else None


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


def _judged(case: Case, values: RelationValues, suspect: Suspect, means: str) -> Finding:
    """Violated where one point certainly is; vanished where none that was can be."""
    other = suspect.points.non_rounding_error[0]
    unclear = False
    for column in np.argsort(suspect.room, kind="stable")[: np.sum(suspect.violated)]:
        slack, counts = values.slack[column], _counts(case, values.condition[column])
        size = abs(values.lhs[column]) + abs(values.rhs[column])
        least = arb(float(other[column])) + arb(DROPPED) * size
        if slack < -least and counts:
            return Finding(Answer.VIOLATED, means, int(column))
        unclear |= not (slack >= -least or counts is False)
    return Finding(Answer.UNKNOWN, OVERLAP) if unclear else Finding(Answer.VANISHED, means)


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
