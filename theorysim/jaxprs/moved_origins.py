"""Where origins of numbers are moved in place of roundings, and what is compared apart.

Inputs, constants that are rounded, what is drawn, and what is first rounded from whole numbers.
With them go sums and differences, by parts of their terms, and, by much more, what is compared,
sorted or made an integer. That shows chaos, magnified errors and ties.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from theorysim.jaxprs.directions import Moves, bits_of, hashed, is_power_of_two, nudged
from theorysim.jaxprs.exactness import exact_results
from theorysim.jaxprs.moved_roundings import (
    DIFFERENCES,
    NEAR,
    SUMS,
    perhaps_none,
    rounds_nothing,
    size_of_error,
)

# What jumps where operands tie; of an array's entries, where some of these do.
AMONG_ENTRIES = frozenset({"argmax", "argmin", "sort", "top_k"})

_JUMPS = "lt le gt ge sign rem floor ceil round convert_element_type"

JUMPS = AMONG_ENTRIES | frozenset(_JUMPS.split())

# Units of the last place by which operands of these are moved where origins are, and origins: one
# unit would be absorbed where a function is flat.
TIE, ORIGIN = 1000, 64


def as_origin(values: Any, moves: Moves) -> Any:
    """Floats moved by some units of their last place, up or down."""
    values = jnp.asarray(values)
    if not moves.origins or not jnp.issubdtype(values.dtype, jnp.floating):
        return values
    return nudged(values, ORIGIN * jnp.abs(values), bits_of(values), moves.seed, False)


def moved_constant(value: Any, moves: Moves) -> Any:
    """A constant, moved as an origin unless it is a whole number or a power of two."""
    if not moves.origins or not jnp.issubdtype(jnp.asarray(value).dtype, jnp.floating):
        return value
    fixed = (value == np.round(value)) | is_power_of_two(jnp.asarray(value))
    return jnp.where(fixed, value, as_origin(value, moves))


def of_origin(equation: Any, moves: Moves, given: list[Any], exact: list[bool], value: Any) -> Any:
    """A result, moved where it is drawn, first rounded, or a sum."""
    name = equation.primitive.name
    if name == "bitcast_convert_type":
        return as_origin(value, moves)
    if not jnp.issubdtype(value.dtype, jnp.floating) or rounds_nothing(equation):
        return value
    if all(exact):
        return value if all(exact_results(equation, exact)) else as_origin(value, moves)
    if not moves.ties or name not in SUMS | DIFFERENCES:
        return value
    arrays = list(map(jnp.asarray, given))
    if name in SUMS:
        size = size_of_error(equation, arrays, value)
    else:
        size = jnp.maximum(*map(jnp.abs, arrays))
    moved = nudged(value, ORIGIN * size, bits_of(value), moves.seed, False)
    return perhaps_none(value, ORIGIN * size, moves.seed, moved)


def perhaps_equal(
    equation: Any, moves: Moves, given: list[Any], exact: list[bool], value: Any
) -> Any:
    """Whether floats are equal, at random where they nearly are; what asks for NaN is sure.

    Where roundings are moved what is equal stays so: it was made alike.
    """
    a, b = map(jnp.asarray, given)
    asks_for_nan = equation.invars[0] is equation.invars[1]
    if asks_for_nan or all(exact) or not jnp.issubdtype(a.dtype, jnp.floating):
        return value
    units = TIE if moves.origins else NEAR
    near = jnp.abs(a - b) <= units * jnp.finfo(a.dtype).eps * jnp.maximum(jnp.abs(a), jnp.abs(b))
    near &= jnp.isfinite(a) & jnp.isfinite(b)  # nothing finite is near infinity
    if not moves.origins:
        near &= a != b
    bits = bits_of(a) + bits_of(b)
    return jnp.where(near, hashed(bits ^ moves.seed.astype(bits.dtype)) & 1 == 1, value)


def jumps(equation: Any) -> bool:
    """Whether a result changes by much where a float changes by little."""
    name = equation.primitive.name
    if name == "convert_element_type":
        return not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.inexact)
    # Values that are sorted alone are the same in any order.
    return name in JUMPS and (name != "sort" or len(equation.invars) > 1)


def apart(equation: Any, moves: Moves, given: list[Any], exact: list[bool]) -> list[Any]:
    """Operands moved beyond all ties; what is equal moves differently at another place."""

    def moved(place: int, value: Any, is_exact: bool) -> Any:
        values = jnp.asarray(value)
        if not jnp.issubdtype(values.dtype, jnp.floating):
            return value
        salt = bits_of(values) + place
        if equation.primitive.name in AMONG_ENTRIES:
            salt += jnp.arange(values.size, dtype=salt.dtype).reshape(values.shape)
        return nudged(values, TIE * jnp.abs(values), salt, moves.seed, is_exact)

    return [moved(*one) for one in zip(range(len(given)), given, exact)]
