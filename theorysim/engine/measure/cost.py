"""What one run of a program costs, counted on its trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jax.stages import Traced

from theorysim.jaxprs.cost import LIBRARIES, operations
from theorysim.jaxprs.largest import largest_array
from theorysim.jaxprs.overflow import grows_integers
from theorysim.jaxprs.structure import contains
from theorysim.jaxprs.waiting import waits
from theorysim.kept import kept_value
from theorysim.memory import tree_bytes


class Cost(NamedTuple):
    """The operations of a program, the bytes of its results, and whether its integers may grow.

    `largest`: bytes of the largest array of a step (`largest_array`). `waits`: whether its runs
    differ in length. `calls_libraries`: whether it has linear algebra.
    """

    operations: float
    held: int
    largest: int
    grows_integers: bool
    waits: bool
    calls_libraries: bool


def cost_of(known_by: str | None, what: str, trace: Callable[[], Traced]) -> Cost:
    """The cost of a program; traced only where it is not kept by what it is known by."""

    def count() -> list[float]:
        traced = trace()
        program = traced.jaxpr.jaxpr
        held = tree_bytes(traced.out_info)
        differ, calls = waits(program), contains(program, LIBRARIES)
        largest = largest_array(program)
        return [operations(program), held, largest, grows_integers(program), differ, calls]

    cost, held, largest, *said = kept_value(known_by, what, count)
    return Cost(cost, int(held), int(largest), *map(bool, said))
