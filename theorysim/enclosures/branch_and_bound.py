"""Certifying a relation over a box by bisecting what resists."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import ctx

from theorysim.enclosures.boxes import Box, Coordinate, Point, Problem, check_coordinate
from theorysim.enclosures.decision import MAX_PRECISION, PRECISION, Decision, Outcome
from theorysim.enclosures.examine import Examiner
from theorysim.enclosures.interpreter.arrays import object_array
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.relation import trace
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent

# Enclosures of two equal sides always overlap: boxes can only refute an equality.
EQUALITY_BOXES = 64

MAX_BOXES = 4096

# Called with the boxes examined and the budget.
Side = Callable[..., Any]


@dataclass(frozen=True)
class BoxOutcome:
    """What is certain over a box.

    Attributes:
        boxes, dropped, depth: how many boxes were examined, how many of them lie outside the
            hypotheses, and how many bisections led to the smallest.
        left: roughly, the part of the box that resists; `resisting` encloses it.
        point: the violating point, with the `decision` on it; `place` holds the index of its
            problem and its coordinates.
        cuts: of every problem, the coordinate and the number at which its boxes were halved, by
            their paths.
    """

    outcome: Outcome
    boxes: int
    dropped: int
    depth: int
    left: float = 0.0
    resisting: Mapping[str, tuple[float, float]] | None = None
    point: Mapping[str, float] | None = None
    decision: Decision | None = None
    place: tuple[int, Point] | None = None
    cuts: tuple[Mapping[str, tuple[int, float]], ...] = ()

    def __str__(self) -> str:
        counted = f"boxes examined: {self.boxes}, successive bisections: {self.depth}"
        if self.dropped:
            counted += f", outside the hypotheses: {self.dropped}"
        if self.point is not None and self.decision is not None:
            where = ", ".join(f"{name} = {value!r}" for name, value in self.point.items())
            return f"{self.outcome} at {where}: slack {self.decision.slack} ({counted})"
        if self.resisting is None:
            return f"{self.outcome} on the box ({counted})"
        ends = (f"{name} in [{a!r}, {b!r}]" for name, (a, b) in self.resisting.items())
        return f"{self.outcome}; {self.left:.2g} of the box is left: {', '.join(ends)} ({counted})"


def certify_box(
    lhs: Side,
    rhs: Side,
    box: Mapping[str, tuple[float, float]],
    *,
    relation: str = "at_most",
    strict: bool = False,
    given: Mapping[str, Side] | None = None,
    log: tuple[str, ...] = (),
    precision: int = PRECISION,
    max_precision: int = MAX_PRECISION,
    max_boxes: int = MAX_BOXES,
    progress: Progress = silent,
) -> BoxOutcome:
    """Certify `lhs <= rhs` for all numbers of a box, or find numbers that violate it.

    Args:
        lhs, rhs: jnp functions of scalars, called with the names of the box as keywords.
        box: the closed interval of every number; a float of few digits stands for its decimal.
        relation: "at_most", "at_least" or "equal"; `strict` excludes equality.
        given: named signed margins; the relation is claimed where all of them are >= 0.
        log: names of positive numbers to bisect at geometric means.
        precision, max_precision: bits for boxes, and for violating points.
        max_boxes: budget; what it leaves undecided is returned.
        progress: called with the boxes examined, the budget, and what is being done.

    Raises:
        UsageError: for an empty interval, an unknown relation or an unknown operation.
    """
    if relation not in ("at_most", "at_least", "equal"):
        raise UsageError(f"relation {relation!r}: expected at_most, at_least or equal")
    coordinates = tuple(
        check_coordinate(Coordinate(name, float(low), float(high), name in log))
        for name, (low, high) in box.items()
    )
    margins = list((given or {}).values())

    def points(*numbers: Any) -> tuple:
        named = dict(zip(box, numbers))
        return lhs(**named), rhs(**named), None, [margin(**named) for margin in margins], []

    subject = getattr(lhs, "__name__", "the left side")
    formula = trace(points, [np.float64(0)] * len(box), relation, strict, subject)
    problem = Problem(formula, coordinates, _scalars, {})
    return certify_problems([problem], precision, max_precision, max_boxes, progress)


def _scalars(interpreter: Interpreter, numbers: list[Any]) -> list[Any]:
    return [object_array([number], ()) for number in numbers]


def certify_problems(
    problems: list[Problem],
    precision: int = PRECISION,
    max_precision: int = MAX_PRECISION,
    max_boxes: int = MAX_BOXES,
    progress: Progress = silent,
) -> BoxOutcome:
    """Certify all problems, or find a point of one that violates its relation.

    Breadth first, so that what is left when the budget ends is what resists.
    """
    if any(problem.formula.equality for problem in problems):
        max_boxes = min(max_boxes, EQUALITY_BOXES * len(problems))
    examiners = {id(p): Examiner(p, precision, max_precision) for p in problems}
    queue = deque(Box(p, tuple((c.low, c.high) for c in p.coordinates)) for p in problems)
    cuts: dict[int, dict[str, tuple[int, float]]] = {id(p): {} for p in problems}
    resisting: list[Box] = []
    boxes = certified = dropped = depth = 0
    while queue and boxes < max_boxes:
        box = queue.popleft()
        boxes, depth = boxes + 1, max(depth, len(box.path))
        progress(boxes, max_boxes, "examining boxes")
        with ctx.workprec(precision):
            found = examiners[id(box.problem)].examine(box)
        if found.point is not None:
            return BoxOutcome(
                Outcome.VIOLATED,
                boxes,
                dropped,
                depth,
                point=box.named(found.point),
                decision=found.decision,
                place=(problems.index(box.problem), found.point),
            )
        certified += found.outcome is Outcome.CERTIFIED
        dropped += found.outcome is Outcome.OUTSIDE
        if found.bisect is not None:
            cuts[id(box.problem)][box.path] = found.bisect, box.middle()[found.bisect]
            queue.extend(box.halves(found.bisect))
        elif found.outcome is Outcome.UNDECIDED:
            resisting.append(box)
    rest = [*resisting, *queue]
    if rest:
        left = sum(math.prod(box.shares()) for box in rest) / len(problems)
        return BoxOutcome(Outcome.UNDECIDED, boxes, dropped, depth, left, _around(rest))
    outcome = Outcome.CERTIFIED if certified else Outcome.OUTSIDE
    return BoxOutcome(outcome, boxes, dropped, depth, cuts=tuple(cuts[id(p)] for p in problems))


def _around(boxes: list[Box]) -> dict[str, tuple[float, float]]:
    """The smallest box around some boxes; boxes of other sizes may lack a name."""
    ends: dict[str, tuple[float, float]] = {}
    for box in boxes:
        lows = box.named(tuple(low for low, _ in box.ends))
        highs = box.named(tuple(high for _, high in box.ends))
        for name, low in lows.items():
            least, most = ends.get(name, (low, low))
            ends[name] = min(least, low), max(most, highs[name])
    return ends
