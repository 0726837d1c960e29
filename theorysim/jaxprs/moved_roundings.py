"""What a rounded result is moved to: up or down by what its operation errs by.

A sum errs by one unit of the last place of what its terms amount to, a decomposition of a matrix by
one of its largest entry, a product of many factors by more than one unit; what underflows is zero
or the smallest number. Exempt is only what rounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorysim.jaxprs.directions import (
    DOWNWARDS,
    Moves,
    bits_of,
    hashed,
    is_inexact,
    is_power_of_two,
    nudged,
)
from theorysim.jaxprs.exactness import MOVES
from theorysim.jaxprs.moved_operands import WHOLE, of_largest
from theorysim.jaxprs.overflow import overflows
from theorysim.jaxprs.ties import NEAR, perhaps_none

# Sums cancel: their errors are parts of the sum of absolute values, which the same operation gives.
SUMS = frozenset(
    {
        *("reduce_sum", "cumsum", "reduce_window_sum"),
        *("dot_general", "conv_general_dilated", "scatter-add"),
    }
)

# Products that are one operation err with the root of the number of their factors.
PRODUCTS = frozenset({"reduce_prod", "cumprod"})

# Functions of numbers one by one whose results stay within the range of floats, or leave it only
# where that is exact. Sums leave it only near its end, and are left out.
WITHIN = frozenset(
    {
        *("sin", "cos", "tan", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"),
        *("sqrt", "rsqrt", "cbrt", "log", "log1p", "erf", "erf_inv"),
    }
)

DIFFERENCES = frozenset({"add", "add_any", "sub"})

# Special functions whose operands have ends: these err, measured, by so many units of the result.
INACCURATE: Mapping[str, int] = {"log1p": 32, "atanh": 64, "regularized_incomplete_beta": 1024}


def moved_rounding(
    equation: Any, moves: Moves, given: list[Any], values: Array, exact: bool
) -> Array:
    """Rounded values, moved by one unit up or down; integers by origin only where they are large"""
    name, bits = equation.primitive.name, bits_of(values)
    size, salt = size_of_error(equation, given, values), _salt(equation, given, bits)
    moved = nudged(values, size, bits + salt, moves, exact)
    if name in UNROUNDED:
        a, b = given if len(given) == 2 else given * 2
        moved = jnp.where(UNROUNDED[name](a, b, values), values, moved)
        if name in DIFFERENCES and not exact:
            terms = NEAR * jnp.maximum(jnp.abs(a), jnp.abs(b))
            moved = perhaps_none(values, terms, moves, moved)
    return moved if exact else beyond_range(equation, moves, given, values, moved)


def beyond_range(
    equation: Any, moves: Moves, given: list[Any], values: Array, moved: Array
) -> Array:
    """What is moved; what under- or overflows is one of the ends of its range, by the lane."""
    if not _may_leave_range(equation, given, values):
        return moved
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        size = jnp.abs(values)
        parts = moved.real, moved.imag
    else:
        size, parts = jnp.abs(values), (moved,)
    bits, limits = bits_of(values), jnp.finfo(values.dtype)
    inward = _stays_within(bits + _salt(equation, given, bits), moves)
    within = jnp.abs(_within_range(equation, given))
    under, over = (size == 0) & (within != 0), jnp.isinf(size) & jnp.isfinite(within)
    # An eighth of the largest number: so its reciprocal is one, too, and what is added to it stays.
    largest = limits.max / 8
    ended = []
    for part in parts:
        least = jnp.where(under & inward, jnp.copysign(limits.tiny, part), part)
        most = over & inward & ~jnp.isfinite(part)
        ended.append(jnp.where(most, jnp.copysign(largest, part), least))
    return jax.lax.complex(*ended) if len(ended) == 2 else ended[0]


def _stays_within(bits: Array, moves: Moves) -> Array:
    """Whether the end is a number: of all results where ties fall alike, of none where all are
    moved one way, else by bits."""
    own = hashed(bits ^ moves.seed.astype(bits.dtype)) & 1 == 1
    if moves.lane is None:
        return own
    return jnp.where(moves.lane <= DOWNWARDS, moves.alike, own)


def _may_leave_range(equation: Any, given: list[Any], values: Array) -> bool:
    """Whether an operation makes numbers one by one, or is a product of many."""
    name = equation.primitive.name
    if name in PRODUCTS:
        return True
    apart = {*SUMS, *WHOLE, *WITHIN, *DIFFERENCES}
    # What gives several results, as solvers and reductions by a function do, makes no number alone.
    if name in apart or name.startswith("cum") or equation.primitive.multiple_results:
        return False
    floats = [value for value in given if is_inexact(value)]
    return bool(floats) and all(value.shape in (values.shape, ()) for value in floats)


def _within_range(equation: Any, given: list[Any]) -> Array:
    """The result of ones in the place of all operands but zeros and infinities.

    Those make exact zeros and infinities; others leave the range of floats.
    """
    exact = [(v == 0) | jnp.isinf(v) if is_inexact(v) else None for v in given]
    ones = [v if e is None else jnp.where(e, v, jnp.ones_like(v)) for v, e in zip(given, exact)]
    return equation.primitive.bind(*ones, **equation.params)


def _salt(equation: Any, given: list[Any], bits: Array) -> Array | int:
    """A hash of what a result was made from, whose order does not matter.

    Of operations on whole arrays only sums of terms have one: there it costs another sum.
    """
    floats = [jnp.asarray(value) for value in given if is_inexact(value)]
    if equation.primitive.name in ("reduce_sum", "cumsum"):
        return equation.primitive.bind(hashed(bits_of(floats[0])), **equation.params)
    alike = [f for f in floats if f.shape in (bits.shape, ()) and bits_of(f).dtype == bits.dtype]
    return sum((bits_of(value) for value in alike), 0)


@jax.jit
def _sum_is_exact(a: Array, b: Array, total: Array) -> Array:
    """Where the sum of two numbers was not rounded (Knuth's exact error of an addition).

    Behind a barrier, because a compiler that knew `total` would find the error to be zero.
    """
    total = jax.lax.optimization_barrier(total)
    part = jax.lax.optimization_barrier(total - a)
    return (a - (total - part)) + (b - part) == 0


# Where operations on two numbers round nothing. The time of an integrator, multiplied by its
# direction (1.0), is still that time and has to be equal to it.
UNROUNDED: Mapping[str, Callable[[Array, Array, Array], Array]] = {
    "add": _sum_is_exact,
    "add_any": _sum_is_exact,
    "sub": lambda a, b, difference: _sum_is_exact(a, -b, difference),
    "mul": lambda a, b, product: _has_no_digits(a) | _has_no_digits(b),
    "div": lambda a, b, quotient: _has_no_digits(b) | (a == 0),
    "square": lambda a, b, square: _has_no_digits(a),
    "integer_pow": lambda a, b, power: _has_no_digits(a),
}


def _has_no_digits(values: Array) -> Array:
    """A power of two; complex numbers never."""
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        return jnp.zeros(values.shape, bool)
    return is_power_of_two(values)


def size_of_error(equation: Any, given: list[Any], values: Array) -> Array:
    """What the error of a result is a part of, a real number."""
    name, sizes = equation.primitive.name, jnp.abs(values)
    if name in SUMS:
        terms = [jnp.abs(value) if is_inexact(value) else value for value in given]
        params = dict(equation.params)
        if jnp.issubdtype(values.dtype, jnp.complexfloating) and "preferred_element_type" in params:
            params["preferred_element_type"] = None
        return jnp.abs(equation.primitive.bind(*terms, **params)).astype(sizes.dtype)
    if name in WHOLE and sizes.size:
        return of_largest(sizes)
    if name == "erf_inv":  # by way of the logarithm of (1 - x)(1 + x)
        return sizes / jnp.abs((1 - given[0]) * (1 + given[0]))
    return sizes * _factors(equation, given, values)


def _factors(equation: Any, given: list[Any], values: Array) -> float:
    """How many units of the last place the product of one operation errs by.

    Roundings of a product in turn err with the root of their number; those of a power by squaring
    are doubled on the way, half a unit each.
    """
    name, params = equation.primitive.name, equation.params
    if name == "integer_pow":
        return max(abs(params["y"]) / 2, 1.0)
    if name in INACCURATE:
        return INACCURATE[name]
    if name == "cumprod":
        return max(values.shape[params["axis"]], 1) ** 0.5
    return max(given[0].size / max(values.size, 1), 1.0) ** 0.5 if name in PRODUCTS else 1.0


def in_range(equation: Any, moves: Moves, given: list[Any], values: Array) -> Array:
    """Integers, with an arbitrary one for each that overflows."""
    unsigned = jnp.dtype(f"uint{max(8 * values.dtype.itemsize, 32)}")
    arbitrary = hashed(values.astype(unsigned) ^ moves.seed.astype(unsigned))
    return jnp.where(overflows(equation, given), arbitrary.astype(values.dtype), values)


def rounds_nothing(equation: Any) -> bool:
    """Bits that become a float, and a wider float, are what they were.

    A call of Python that is given no float raises an error, and computes nothing.
    """
    name = equation.primitive.name
    if name == "convert_element_type":
        old, new = equation.invars[0].aval.dtype, equation.params["new_dtype"]
        if jnp.issubdtype(old, jnp.inexact) and jnp.issubdtype(new, jnp.inexact):
            return jnp.promote_types(old, new) == new
        return old.kind == "b"
    if name == "pure_callback":
        return not any(is_inexact(atom.aval) for atom in equation.invars)
    if name == "abs" and jnp.issubdtype(equation.invars[0].aval.dtype, jnp.complexfloating):
        return False
    return name in MOVES or name == "bitcast_convert_type"
