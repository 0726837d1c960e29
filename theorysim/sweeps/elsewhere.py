"""Tiles of a sweep that other processes compute: what these need, and what they do with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax

from theorysim.errors import UsageError
from theorysim.progress import silent
from theorysim.sweeps.dataset import Blocks
from theorysim.sweeps.grid import Grid
from theorysim.sweeps.provenance import difference, provenance
from theorysim.sweeps.run import Executor, computed, plan
from theorysim.sweeps.tiles import Tiling


class Unlike(UsageError):
    """A process would compute another sweep than the one that was asked for."""


@dataclass(frozen=True, eq=False)
class Work:
    """A sweep, as another process needs it that has the function; `block` is the shape of a tile.

    `origin` is its provenance: what must agree before cells of two processes may stand together.
    """

    grid: Grid
    block: tuple[int, ...]
    tile_bytes: int
    in_float64: bool
    origin: Mapping[str, Any]

    def computer(self, f: Callable[..., Any]) -> Computer:
        """What computes its tiles in this process.

        Raises:
            Unlike: where the function, the precision, the platform or versions are other ones here.
        """
        with jax.enable_x64(self.in_float64):
            executor = Executor(plan(f, self.grid, {}), silent)
            there = provenance(f, self.grid, executor.plan.jaxprs)
        if unlike := difference(there, dict(self.origin)):
            raise Unlike(unlike)
        return Computer(self, executor)


@dataclass(frozen=True, eq=False)
class Computer:
    """Computes tiles, with programs that are compiled once."""

    work: Work
    executor: Executor

    def blocks(self, index: int, tiles: Sequence[int]) -> Iterator[tuple[int, Blocks]]:
        """The blocks of these tiles of a combination of sizes, in order."""
        with jax.enable_x64(self.work.in_float64):
            tiling = Tiling(self.work.grid.shape, self.work.block)
            # A machine has as many workers as processors, each with one thread.
            yield from computed(self.executor, index, tiling, tiles, at_once=1)


# Called with the work and the missing tiles, each with the index of its sizes: their blocks as they
# come, in any order.
Elsewhere: TypeAlias = Callable[
    [Work, Sequence[tuple[int, int]]], Iterator[tuple[int, int, Blocks]]
]
