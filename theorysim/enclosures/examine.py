"""What is certain of a relation on one box, and where to bisect the box otherwise.

The range of the slack over a box is bounded twice: directly, and by its slopes, which show on which
faces the least slack lies and, by the mean value theorem, how far it can fall below its value
there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from flint import arb

from theorysim.enclosures.arithmetic.balls import BALLS
from theorysim.enclosures.arithmetic.base import Arithmetic, Undecided
from theorysim.enclosures.arithmetic.intervals import INTERVALS, ONE, Interval
from theorysim.enclosures.arithmetic.numbers import exact_number
from theorysim.enclosures.arithmetic.slopes import Sloped, slopes_arithmetic
from theorysim.enclosures.boxes import Box, Point, Problem
from theorysim.enclosures.decision import Decision, Outcome, decide
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.rules import RULES
from theorysim.enclosures.relation import RelationValues

# Groups of points, apart by where their least slack lies, that are followed to faces of their own.
FACES = 8
# What enters no open question is bisected only where it is so much wider than what does.
WIDTH_WEIGHT = 1e-3


@dataclass(frozen=True)
class Examined:
    """What is certain on a box: an outcome, the violating point, or the coordinate to bisect."""

    outcome: Outcome
    point: Point | None = None
    decision: Decision | None = None
    bisect: int | None = None


class Examiner:
    """Examines boxes of one problem, always at the same precision of python-flint."""

    def __init__(self, problem: Problem, precision: int, max_precision: int):
        self.problem, self.formula = problem, problem.formula
        self.precision, self.max_precision = precision, max_precision
        self._interpreters: dict[str, Interpreter] = {}

    def examine(self, box: Box) -> Examined:
        """Certify or drop a box, find a violation in it, or choose how to bisect it."""
        values = self._evaluate("intervals", INTERVALS, self._intervals(box))
        if values is None:
            return self._open(box, [], _widths(box))
        if any(margin.high < 0 for margin in values.every_margin):
            return Examined(Outcome.OUTSIDE)
        applicable = [
            place for place, condition in enumerate(values.condition) if not condition.high < 0
        ]
        places = [p for p in applicable if not self.formula.is_fine(values.slack[p].low)]
        if not places:
            return Examined(Outcome.CERTIFIED if applicable else Outcome.OUTSIDE)
        sloped = self._sloped(box)
        if sloped is None:
            return self._open(box, [], _widths(box))
        suspects: list[Point] = []
        places = self._unsettled(box, sloped, places, suspects)
        if not places:
            return Examined(Outcome.CERTIFIED)
        return self._open(box, suspects, self._influence(box, sloped, places))

    def _open(self, box: Box, suspects: list[Point], influence: list[float]) -> Examined:
        for point in dict.fromkeys([*suspects, box.middle()]):
            decision = self._violation(point)
            if decision is not None:
                return Examined(Outcome.VIOLATED, point, decision)
        divisible = [i for i in range(len(box.ends)) if box.is_divisible(i)]
        best = max(divisible, key=influence.__getitem__, default=None)
        return Examined(Outcome.UNDECIDED, bisect=best)

    def _violation(self, point: Point) -> Decision | None:
        """The decision on a point, where a first look does not rule a violation out."""
        values = self._at(point)
        if values is None or any(margin < 0 for margin in values.every_margin):
            return None
        applicable = (
            slack for slack, condition in zip(values.slack, values.condition) if not condition < 0
        )
        if not any(self.formula.is_bad(slack) for slack in applicable):
            return None

        def inputs(interpreter: Interpreter) -> list[Any]:
            return self.problem.arrange(interpreter, [arb(exact_number(x)) for x in point])

        decision = decide(self.formula, inputs, self.precision, self.max_precision)
        return decision if decision.outcome is Outcome.VIOLATED else None

    def _evaluate(
        self, name: str, arithmetic: Arithmetic, numbers: list[Any]
    ) -> RelationValues | None:
        if name not in self._interpreters:
            self._interpreters[name] = Interpreter(arithmetic, RULES, self.formula.subject)
        interpreter = self._interpreters[name]
        try:
            return self.formula.run(interpreter, self.problem.arrange(interpreter, numbers))
        except Undecided:
            return None

    def _intervals(self, box: Box) -> list[Interval]:
        exact = [(arb(exact_number(low)), arb(exact_number(high))) for low, high in box.ends]
        return [Interval(low.lower(), high.upper()) for low, high in exact]

    def _sloped(self, box: Box) -> RelationValues | None:
        count = len(box.ends)
        numbers = [
            Sloped(value, tuple(ONE if i == j and low < high else None for j in range(count)))
            for i, (value, (low, high)) in enumerate(zip(self._intervals(box), box.ends))
        ]
        return self._evaluate("slopes", slopes_arithmetic(count), numbers)

    def _at(self, point: Point) -> RelationValues | None:
        return self._evaluate("balls", BALLS, [arb(exact_number(x)) for x in point])

    def _unsettled(
        self, box: Box, sloped: RelationValues, places: list[int], suspects: list[Point]
    ) -> list[int]:
        """The places whose slack is not bounded by zero, after a look at the faces."""
        rest, groups = [], defaultdict(list)
        for place in places:
            slack = sloped.slack[place]
            if not slack.value.is_finite or not all(s is None or s.is_finite for s in slack.slopes):
                rest.append(place)
            elif not self.formula.is_fine(slack.value.low):
                groups[tuple(map(_direction, slack.slopes))].append(place)
        largest = sorted(groups, key=lambda directions: -len(groups[directions]))
        for directions in largest[:FACES]:
            rest += self._unsettled_group(box, sloped, directions, groups[directions], suspects)
        return rest + [place for directions in largest[FACES:] for place in groups[directions]]

    def _unsettled_group(
        self,
        box: Box,
        sloped: RelationValues,
        directions: tuple[int, ...],
        places: list[int],
        suspects: list[Point],
    ) -> list[int]:
        """The same for places whose slack rises (1) or falls (-1) along the same coordinates."""
        picks = {1: lambda low, high, middle: low, -1: lambda low, high, middle: high}
        point = tuple(
            picks[direction](*ends, middle) if direction in picks else middle
            for direction, ends, middle in zip(directions, box.ends, box.middle())
        )
        at_point = self._at(point)
        if at_point is None:
            return places
        falls = [self._fall(box, point, directions, sloped.slack[p].slopes) for p in places]
        rest = [
            place
            for place, fall in zip(places, falls)
            if not self.formula.is_fine(at_point.slack[place] - fall)
        ]
        if any(self.formula.is_bad(at_point.slack[place]) for place in rest):
            suspects.append(point)
        flat = [i for i, (low, high) in enumerate(box.ends) if directions[i] and low < high]
        if not rest or not flat:
            return rest
        face = box.pinned(point, flat)
        on_face = self._sloped(face)
        return rest if on_face is None else self._unsettled(face, on_face, rest, suspects)

    def _fall(self, box: Box, point: Point, directions: tuple[int, ...], slopes: tuple) -> arb:
        """How far the slack can fall below its value at the point: slope times distance."""
        fall = arb(0)
        for x, direction, slope, interval in zip(point, directions, slopes, self._intervals(box)):
            if slope is not None and not direction:
                here = arb(exact_number(x))
                reach = (interval.high - here).max(here - interval.low)
                fall += slope.magnitude() * reach
        return fall

    def _influence(self, box: Box, sloped: RelationValues, places: list[int]) -> list[float]:
        """Roughly, what each coordinate contributes to the open questions."""
        worst = min(places, key=lambda place: _low(sloped.slack[place].value))
        slack, condition = sloped.slack[worst], sloped.condition[worst]
        questions = [
            margin for margin in (condition, *sloped.every_margin) if not margin.value.low >= 0
        ]
        if not self.formula.is_bad(slack.value.high):
            questions.append(slack)
        widths = _widths(box)
        total = [WIDTH_WEIGHT * width for width in widths]
        for question in questions:
            swings = [
                0.0 if slope is None else _size(slope) * (high - low)
                for slope, (low, high) in zip(question.slopes, box.ends)
            ]
            whole = sum(swings)
            shares = swings if math.isfinite(whole) and whole > 0 else widths
            total = [t + share / sum(shares) for t, share in zip(total, shares)]
        return total


def _direction(slope: Interval | None) -> int:
    """1 where the slope is nowhere negative, -1 where it is nowhere positive, else 0."""
    if slope is None:
        return 0
    return 1 if slope.low >= 0 else -1 if slope.high <= 0 else 0


def _widths(box: Box) -> list[float]:
    return [share if low < high else 0.0 for share, (low, high) in zip(box.shares(), box.ends)]


def _low(value: Interval) -> float:
    return float(value.low) if value.is_finite else -math.inf


def _size(slope: Interval) -> float:
    return float(slope.magnitude()) if slope.is_finite else math.inf
