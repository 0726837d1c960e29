"""A figure or a table of a paper as an empirical statement: real training, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from theorysim.claims.instance import Instance
from theorysim.claims.kinds.average import LEAST_KEYS
from theorysim.claims.theorem import Theorem

# By the name of an axis, its values for an instance.
Axes: TypeAlias = Callable[[Instance], Mapping[str, Any]]


def no_axes(x: Instance) -> Mapping[str, Any]:
    """Results without named axes."""
    return {}


@dataclass(frozen=True, eq=False)
class Experiment(Theorem):
    """An empirical statement: `simulate` trains, and claims are about its runs, one for each key.

    It is reproduced: a space of sizes alone has one instance, whose runs are judged by their
    spread, beside which rounding is nothing. Its `simulate` returns a NamedTuple of arrays, whose
    annotations name their axes. Its mutants are nulls: runs of which no claim should hold.

    Attributes:
        keys: how many runs it has.
        data: the names of the data on which it trains, in whose place users may put files.
        axes: values along the axes of the results, by their names.
        work: the multiplications of one run, about: it says what other sizes cost.
        paper_sizes: the sizes that its paper has.

    Raises:
        ValueError: for fewer than five runs, for a space with fields, and for unknown sizes.
    """

    keys: int = 8
    instances: int = 1
    data: Sequence[str] = ()
    axes: Axes = no_axes
    work: Callable[[Instance], float] | None = None
    paper_sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self):
        super().__post_init__()
        if self.keys < LEAST_KEYS:
            raise ValueError(f"keys = {self.keys}: the spread of runs needs {LEAST_KEYS} or more")
        if self.space.fields:
            raise ValueError(
                f"the space of an experiment has sizes alone, not {min(self.space.fields)!r}: it "
                "is run at one instance"
            )
        if unknown := set(self.paper_sizes) - set(self.space.sizes):
            raise ValueError(f"paper_sizes: {min(unknown)!r} is not a size of the space")
