"""Where origins of numbers are moved in place of roundings, and what is compared apart.

Inputs, constants that are rounded, what is drawn, and what is first rounded from whole numbers.
With them go sums and differences, by parts of their terms, decompositions of matrices, and, by much
more, what is compared, sorted or made an integer. That shows chaos, magnified errors and ties.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from theorysim.jaxprs.directions import Moves, bits_of, is_inexact, is_power_of_two, nudged
from theorysim.jaxprs.exactness import Exact, exact_results
from theorysim.jaxprs.moved_operands import WHOLE
from theorysim.jaxprs.moved_roundings import (
    DIFFERENCES,
    SUMS,
    beyond_range,
    rounds_nothing,
    size_of_error,
)
from theorysim.jaxprs.ties import TIE, perhaps_none

# What jumps where some entries of its operand tie.
AMONG_ENTRIES = frozenset({"argmax", "argmin", "sort", "top_k"})

# Units of the last place by which origins are moved: one is absorbed where a function is flat.
ORIGIN = 64


def as_origin(values: Any, moves: Moves) -> Any:
    """Floats moved by some units of their last place, up or down."""
    values = jnp.asarray(values)
    if not moves.origins or not is_inexact(values):
        return values
    return nudged(values, ORIGIN * jnp.abs(values), bits_of(values), moves, False)


def moved_constant(value: Any, moves: Moves) -> Any:
    """A constant, moved as an origin unless it is a whole number or a power of two."""
    value = jnp.asarray(value)
    if not moves.origins or not is_inexact(value):
        return value
    if jnp.issubdtype(value.dtype, jnp.complexfloating):
        return jax.lax.complex(moved_constant(value.real, moves), moved_constant(value.imag, moves))
    fixed = (value == jnp.round(value)) | is_power_of_two(value)
    return jnp.where(fixed, value, as_origin(value, moves))


def of_origin(equation: Any, moves: Moves, given: list[Any], exact: list[Exact], value: Any) -> Any:
    """A result, moved where it is drawn, first rounded, or a sum."""
    name = equation.primitive.name
    if name == "bitcast_convert_type":
        return as_origin(value, moves)
    if not is_inexact(value) or rounds_nothing(equation):
        return value
    if all(one is Exact.INTEGER for one in exact):
        return value if all(exact_results(equation, exact)) else as_origin(value, moves)
    arrays = list(map(jnp.asarray, given))
    if not moves.ties or name not in SUMS | DIFFERENCES | WHOLE:
        # Of the many products and quotients this would make compiling five times as long.
        cheap = name not in ("mul", "div")
        return beyond_range(equation, moves, arrays, value, value) if cheap else value
    if name in SUMS | WHOLE:
        size = size_of_error(equation, arrays, value)
    else:
        size = jnp.maximum(*map(jnp.abs, arrays))
    moved = nudged(value, ORIGIN * size, bits_of(value), moves, False)
    return perhaps_none(value, ORIGIN * size, moves, moved)


def sorts(equation: Any) -> bool:
    """Whether a result hangs on the order of entries; values that are sorted alone do not."""
    name = equation.primitive.name
    return name in AMONG_ENTRIES and (name != "sort" or len(equation.invars) > 1)


def apart(moves: Moves, given: list[Any], exact: list[bool]) -> list[Any]:
    """Operands whose entries are moved beyond all ties, equal ones differently."""

    def moved(place: int, value: Any, is_exact: bool) -> Any:
        values = jnp.asarray(value)
        if not is_inexact(values):
            return value
        salt = bits_of(values) + place
        salt += jnp.arange(values.size, dtype=salt.dtype).reshape(values.shape)
        return nudged(values, TIE * jnp.abs(values), salt, moves, is_exact)

    return [moved(*one) for one in zip(range(len(given)), given, exact)]
