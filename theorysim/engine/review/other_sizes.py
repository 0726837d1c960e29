"""At which other sizes hypotheses fail that no draw at the theorem's own sizes fails alone.

Only the hypotheses are evaluated there, not the statement, so that many sizes cost little.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from theorysim.claims.margins import is_met
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.space import Size, Space
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.draw import draw, traced_drawing
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.engine.review.rounds import Deadline
from theorysim.errors import SizeError
from theorysim.jaxprs.structure import every_operation, size
from theorysim.precision import in_precision

# Sizes that are tried, at most; every one compiles a program.
PLACES = 24
# Numbers of an instance, and of each array that its hypotheses compute, at most: some hundred
# instances are drawn side by side.
LARGEST = 1 << 15

# What a statement raises at sizes whose shapes do not go together, or that are too large.
UNFIT = (SizeError, TypeError, ValueError, ArithmeticError, IndexError)

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class OtherSizes:
    """The cheapest sizes at which a draw fails a hypothesis and meets all others, by its name.

    `tried` are all sizes that were drawn.
    """

    fails: Mapping[str, Sizes]
    tried: tuple[Sizes, ...]


def where_they_fail(
    theorem: Theorem,
    reading: ResolvedReading,
    names: Collection[str],
    seed: int,
    deadline: Deadline,
) -> OtherSizes:
    """Draw instances at the corners of the ranges of all sizes until each hypothesis has failed."""
    fails: dict[str, Sizes] = {}
    tried: list[Sizes] = []
    for sizes in _corners(theorem.space):
        if len(fails) == len(names) or not deadline.left:
            break
        try:
            met = _met(theorem, reading, sizes, seed)
        except UNFIT:
            continue
        tried.append(sizes)
        for name in set(names) - set(fails):
            others = [values for other, values in met.items() if other != name]
            if np.any(~met[name] & np.all(others, axis=0)):
                fails[name] = sizes
    return OtherSizes(fails, tuple(tried))


def _met(
    theorem: Theorem, reading: ResolvedReading, sizes: Sizes, seed: int
) -> dict[str, np.ndarray]:
    """Per hypothesis, which of some hundred draws meet it.

    Raises:
        SizeError: where they compute with arrays that are too large for that.
    """
    with in_precision(double=True):
        setup = Setup(theorem, (reading,), Settings(sizes, {}), seed)
        operations = every_operation(traced_drawing(setup).jaxpr.jaxpr)
        if max(size(made) for one in operations for made in one.outvars) > LARGEST:
            raise SizeError(f"{setup}: too large to draw many")
        drawn = draw(setup, 1)
    return {
        name: np.asarray(is_met(margin, drawn.values[margin]))
        for name, margin in reading.hypotheses.items()
    }


def _corners(space: Space) -> Iterator[Sizes]:
    """Ends and defaults of all sizes in every combination, small ones first, ones last."""
    own = space.default_sizes()
    ranges = [_values(size) for size in space.sizes.values()]
    corners = [dict(zip(own, values, strict=True)) for values in itertools.product(*ranges)]
    fitting = [c for c in corners if c != own and _numbers(space, c) <= LARGEST]
    fitting.sort(key=lambda c: (any(c[n] == 1 != own[n] for n in own), _cost(space, c)))
    yield from fitting[:PLACES]


def _values(size: Size) -> list[int]:
    small = min(size.default, max(size.low, 2))  # many formulas say nothing at a size of one
    return sorted({size.low, small, size.default, size.high})


def _cost(space: Space, sizes: Sizes) -> int:
    """How much a run may cost: some sizes count numbers, others steps or layers."""
    return max(_numbers(space, sizes), 1) * math.prod(sizes.values())


def _numbers(space: Space, sizes: Sizes) -> int:
    try:
        return space.dimension(sizes)
    except UNFIT:
        return LARGEST + 1
