"""Programs over rows, run on as many rows at once as fit into the memory of the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from theorysim import kept
from theorysim.kept import Program
from theorysim.memory import most_that_fit, program_bytes, programs_that_fit
from theorysim.threads import side_by_side


class Chunked:
    """A vectorised program, called with any number of rows.

    Args:
        program: its first argument is a tree of arrays that lead with the rows, and so does its
            result.
        most: rows at once, at most; fewer where the compiled program would not fit.
        what: what a row is called where not even one fits.
        threads: how many parts may run side by side (`threads_for`). They share the rows that one
            would take.
    """

    def __init__(self, program: Program, most: int, what: str, threads: int = 1):
        self._program, self._most, self._what = program, -(-most // threads), what
        self._threads = threads

    def __call__(self, rows: Any, *shared: Any) -> Any:
        """The results of all rows, as NumPy arrays; raises SizeError where not even one fits."""
        parts = list(self.parts(rows, *shared))
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)

    def parts(self, rows: Any, *shared: Any) -> Iterator[Any]:
        """The same in parts of one compiled length, the last one cut."""
        leaves, tree = jax.tree.flatten(rows)
        single = tuple(jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in leaves)
        given, shared_tree = jax.tree.flatten(shared)
        abstract = (single, tree, tuple(map(kept.shape_of, given)), shared_tree)
        fitted = _fitted(self._program, abstract, self._most, self._what, kept.standing())
        compiled, length, at_once = fitted
        total, wide = len(leaves[0]), jax.dtypes.canonicalize_dtype(float).itemsize == 8

        def part(start: int) -> Any:
            numbers = np.minimum(np.arange(start, start + length), total - 1)
            with jax.enable_x64(wide):  # which every thread has of its own
                found = compiled(jax.tree.map(lambda leaf: leaf[numbers], rows), *shared)
            return jax.tree.map(lambda leaf: np.asarray(leaf)[: total - start], found)

        starts = range(0, total, length)
        threads = min(self._threads, at_once, len(starts))
        yield from map(part, starts) if threads < 2 else side_by_side(part, starts, threads)


def forget() -> None:
    """Let go of all compiled programs, as `theorysim.kept.forget` does."""
    _fitted.cache_clear()
    kept.forget()


@lru_cache(maxsize=256)
def _fitted(
    program: Program, abstract: tuple, most: int, what: str, standing: str
) -> tuple[Callable, int, int]:
    """The program compiled for so many rows, or for as many as fit: how many, and runs at once."""
    del standing  # settings of JAX, by which programs are compiled anew
    single, tree, given, shared_tree = abstract
    shared = jax.tree.unflatten(shared_tree, given)

    def compile(length: int) -> Callable:
        stacked = [jax.ShapeDtypeStruct((length, *leaf.shape), leaf.dtype) for leaf in single]
        return program.compile(jax.tree.unflatten(tree, stacked), *shared)

    compiled, length = most_that_fit(compile, most, what)
    return compiled, length, programs_that_fit(program_bytes(compiled))
