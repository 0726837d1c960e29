"""One operation in Monte Carlo arithmetic: its operands are moved, then its results.

A program has many operations and few different ones: each is traced once, for all places where the
same is done to numbers of the same shapes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from theorysim.jaxprs.directions import Moves, is_inexact
from theorysim.jaxprs.exactness import Exact, exact_results
from theorysim.jaxprs.moved_operands import SPECIAL, WHOLE, with_moved_operands, within_domain
from theorysim.jaxprs.moved_origins import ORIGIN, apart, of_origin, sorts
from theorysim.jaxprs.moved_roundings import in_range, moved_rounding, rounds_nothing
from theorysim.jaxprs.overflow import may_overflow
from theorysim.jaxprs.ties import ORDERS, compared, from_whole, jumps

EQUALITIES = frozenset({"eq", "ne"})


@dataclass(frozen=True)
class _Operation:
    """What is done to numbers, whichever they are; `equation` stands for all that do the same."""

    equation: Any = field(compare=False)
    exact: tuple[Exact, ...]
    turned: bool
    origins: bool
    ties: bool
    roundings: bool
    known_by: Hashable

    def on(self, moving: Sequence[Any], given: list[Any]) -> Sequence[Any]:
        """The results; `moving` is what is traced of how numbers are moved."""
        seed, lane, in_round, alike, way = moving
        moves = Moves(seed, self.origins, self.ties, lane, self.roundings, in_round, alike, way)
        return _results(self.equation, moves, given, list(self.exact), self.turned)


def moved_operation(
    equation: Any, moves: Moves, given: list[Any], exact: list[Exact], turned: bool
) -> Sequence[Any]:
    """The results of an operation that is neither a call nor a loop, in Monte Carlo arithmetic."""
    known_by = _known_by(equation)
    same = tuple(exact), turned, moves.origins, moves.ties, moves.roundings
    operation = _Operation(equation, *same, known_by)
    moving = moves.seed, moves.lane, moves.round, moves.alike, moves.way
    if known_by is None:
        return _apart(operation, moving, given)
    return _traced_once(operation, moving, given)


def _apart(operation: _Operation, moving: Sequence[Any], given: list[Any]) -> list[Any]:
    """The results, which no compiler fuses with what follows: it uses each of them many times."""
    results = list(operation.on(moving, given))
    return jax.lax.optimization_barrier(results) if operation.roundings else results


_traced_once = partial(jax.jit, static_argnums=0)(_apart)


def _known_by(equation: Any) -> Hashable:
    """What tells an operation from others: all of it but which numbers it is given.

    None where that cannot be compared, as functions of Python cannot.
    """
    if "callback" in equation.primitive.name:
        return None
    atoms = equation.invars
    same = [next(place for place, other in enumerate(atoms) if other is atom) for atom in atoms]
    places = tuple(
        (str(atom.aval), isinstance(atom, Literal), first)
        for atom, first in zip(atoms, same, strict=True)
    )
    params = tuple((name, _exactly(value)) for name, value in sorted(equation.params.items()))
    known_by = equation.primitive, places, params
    try:
        hash(known_by)
    except TypeError:
        return None
    return known_by


def _exactly(value: Any) -> Hashable:
    """Numbers by types and digits: 0.0 and -0.0 are equal, as 1 and True, and not the same."""
    if isinstance(value, tuple):
        return tuple(map(_exactly, value))
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return type(value), repr(value)
    return value


def _results(
    equation: Any, moves: Moves, given: list[Any], exact: list[Exact], turned: bool
) -> Sequence[Any]:
    name, params = equation.primitive.name, equation.params
    if not moves.roundings:
        return _overflowing(equation, moves, given)
    integers = [one is Exact.INTEGER for one in exact]
    if moves.ties and jumps(equation):
        given = from_whole(equation, moves, given, integers)
    elif moves.ties and moves.origins and sorts(equation):
        given = apart(moves, given, integers)
    elif name in WHOLE or name in SPECIAL:
        given = with_moved_operands(equation, moves, given, ORIGIN if moves.origins else 1)
    given = within_domain(name, given)
    found = equation.primitive.bind(*given, **params)
    results = found if equation.primitive.multiple_results else [found]
    if name in ORDERS and (moves.ties or (name in EQUALITIES and not moves.origins)):
        return [compared(equation, moves, given, exact, results[0], turned)]
    if moves.origins:
        return [of_origin(equation, moves, given, exact, result) for result in results]
    if rounds_nothing(equation):
        return results
    arrays = list(map(jnp.asarray, given))
    if may_overflow(equation):
        return [in_range(equation, moves, arrays, results[0])]
    return [
        moved_rounding(equation, moves, arrays, value, made is Exact.INTEGER)
        if is_inexact(value)
        else value
        for value, made in zip(results, exact_results(equation, exact), strict=True)
    ]


def _overflowing(equation: Any, moves: Moves, given: list[Any]) -> Sequence[Any]:
    """The results, computed plainly, but for integers that leave their range."""
    found = equation.primitive.bind(*given, **equation.params)
    results = found if equation.primitive.multiple_results else [found]
    if not may_overflow(equation):
        return results
    return [in_range(equation, moves, list(map(jnp.asarray, given)), results[0])]
