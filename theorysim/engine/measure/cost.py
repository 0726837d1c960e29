"""What one run of a program costs, counted on its trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jax.stages import Traced

from theorysim.jaxprs.cost import operations
from theorysim.kept import kept_value
from theorysim.memory import tree_bytes


class Cost(NamedTuple):
    """The operations of a program, and the bytes of its results."""

    operations: float
    held: int


def cost_of(known_by: str | None, what: str, trace: Callable[[], Traced]) -> Cost:
    """The cost of a program; traced only where it is not kept by what it is known by."""

    def count() -> list[float]:
        traced = trace()
        return [operations(traced.jaxpr.jaxpr), tree_bytes(traced.out_info)]

    cost, held = kept_value(known_by, what, count)
    return Cost(cost, int(held))
