"""At which sizes an adversary searches, and for how much of its budget."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from theorysim.claims.space import Space
from theorysim.engine.measure.batch import chunk_that_fits, instance_bytes
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.errors import SizeError

# Shares of the budget for the smallest sizes, which come first, and for larger ones than the
# theorem's own; the own ones take the rest. Sizes of one are degenerate (a norm is a modulus, every
# matrix commutes), so the smallest above one are searched, too.
ONES_SHARE, SMALL_SHARE = 0.1, 0.2
LARGE_SHARE = 0.2

# The cost of a point at larger sizes: cubic in the length of matrices, so the power 3/2 of their
# bytes; below so many bytes the fixed cost of a call decides.
COST_POWER = 1.5
CHEAP_BYTES = 2**14

# Sizes at which the share pays for fewer points are not searched.
LEAST_POINTS = 64

Sizes = dict[str, int]


def small_sizes(setup: Setup, given: Mapping[str, Any], budget: int) -> Iterator[tuple[Sizes, int]]:
    """The smallest sizes and the smallest above one, those that are given apart, with points."""
    space, own = setup.theorem.space, setup.settings.sizes
    for least, share in ((1, ONES_SHARE), (2, SMALL_SHARE)):
        sizes = smallest(space, own, least, given)
        points = int(share * budget)
        if points and keeps_values(setup, sizes):
            yield sizes, points


def keeps_values(setup: Setup, sizes: Sizes) -> bool:
    """Whether the values that are fixed have the shapes of these sizes."""
    fields, own = setup.theorem.space.fields, setup.settings.sizes
    return all(
        fields[name].shape(sizes) == fields[name].shape(own) for name in setup.settings.values
    )


def large_sizes(setup: Setup, given: Mapping[str, Any], budget: int) -> Iterator[tuple[Sizes, int]]:
    """A middle and the largest sizes whose share of the budget pays for points, and for how many.

    All sizes double together, each up to its own end.
    """
    ladder = [dict(setup.settings.sizes)]
    while (larger := doubled(setup.theorem.space, ladder[-1], given)) != ladder[-1]:
        ladder.append(larger)
    share = int(LARGE_SHARE / 2 * budget)
    affordable = [
        (sizes, points) for sizes in ladder[1:] if (points := _points(setup, sizes, share))
    ]
    if affordable:
        yield affordable[-1]
        if len(affordable) > 1:
            yield affordable[len(affordable) // 2 - 1]


def smallest(
    space: Space, sizes: Mapping[str, int], least: int, given: Collection[str] = ()
) -> Sizes:
    """The smallest sizes not below `least`, none larger than it was; those that are given stay."""
    lows = {name: size.low for name, size in space.sizes.items()}
    return {n: s if n in given else min(s, max(lows[n], least)) for n, s in sizes.items()}


def doubled(space: Space, sizes: Mapping[str, int], given: Collection[str] = ()) -> Sizes:
    """All sizes twice as large, each up to its own end; those that are given stay."""
    ends = {name: size.high for name, size in space.sizes.items()}
    return {n: s if n in given else min(2 * s, ends[n]) for n, s in sizes.items()}


def _points(setup: Setup, sizes: Sizes, share: int) -> int:
    """How many points at these sizes cost as much as `share` points at the own ones.

    0 where they are too few, too large for this machine, or where shapes do not go together.
    """
    if not keeps_values(setup, sizes):
        return 0
    at = setup.at(Settings(sizes, setup.settings.values))
    try:
        need, own = (
            max(instance_bytes(setup.theorem, setup.readings, s), CHEAP_BYTES)
            for s in (sizes, setup.settings.sizes)
        )
        chunk_that_fits(at, 1)
    except (SizeError, TypeError, ValueError):
        return 0
    points = int(share * min(1, (own / need) ** COST_POWER))
    return points if points >= LEAST_POINTS else 0
