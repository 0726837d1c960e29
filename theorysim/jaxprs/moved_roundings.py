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

from theorysim.jaxprs.directions import bits_of, hashed, is_inexact, is_power_of_two, nudged
from theorysim.jaxprs.exactness import MOVES
from theorysim.jaxprs.overflow import overflows

# Sums cancel: their errors are parts of the sum of absolute values, which the same operation gives.
SUMS = frozenset(
    {
        *("reduce_sum", "cumsum", "reduce_window_sum"),
        *("dot_general", "conv_general_dilated", "scatter-add"),
    }
)

# Backward stable: what they err by is a part of the largest entry (of the last two axes).
_WHOLE = """
    cholesky custom_linear_solve eig eigh fft geqrf householder_product lu qr schur svd
    triangular_solve tridiagonal_solve
"""

WHOLE = frozenset(_WHOLE.split())

# Products that are one operation err with the root of the number of their factors.
PRODUCTS = frozenset({"reduce_prod", "cumprod"})

# Results are zero where they underflow, though no operand is (one by one, or at all).
UNDERFLOWING = PRODUCTS | {"mul", "div", "exp", "exp2", "pow", "integer_pow", "square", "logistic"}

DIFFERENCES = frozenset({"add", "add_any", "sub"})

# Numbers that differ by so many units may be equal: moves of one unit need not meet.
NEAR = 4


def moved_rounding(
    equation: Any, seed: Array, given: list[Any], values: Array, exact: bool
) -> Array:
    """Rounded values, moved by one unit up or down; integers by origin only where they are large"""
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        real, imaginary = (
            moved_rounding(equation, seed, [], part, exact) for part in (values.real, values.imag)
        )
        return jax.lax.complex(real, imaginary)
    bits = bits_of(values)
    size, salt = size_of_error(equation, given, values), _salt(equation, given, bits)
    moved = nudged(values, size, bits + salt, seed, exact)
    if equation.primitive.name in UNROUNDED and len(given) == 2:  # not parts of complex numbers
        a, b = given
        moved = jnp.where(UNROUNDED[equation.primitive.name](a, b, values), values, moved)
        if equation.primitive.name in DIFFERENCES and not exact:
            terms = NEAR * jnp.maximum(jnp.abs(a), jnp.abs(b))
            moved = perhaps_none(values, terms, seed, moved)
    if equation.primitive.name in UNDERFLOWING and not exact:
        least = jnp.copysign(jnp.finfo(values.dtype).tiny, values)
        up = hashed((bits + salt) ^ seed.astype(bits.dtype)) & 1 == 1
        moved = jnp.where(_underflows(equation, given, values) & up, least, moved)
    return moved


def _salt(equation: Any, given: list[Any], bits: Array) -> Array | int:
    """A hash of what a result was made from, whose order does not matter.

    Of operations on whole arrays only sums of terms have one: there it costs another sum.
    """
    floats = [jnp.asarray(value) for value in given if jnp.issubdtype(value.dtype, jnp.floating)]
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
    "mul": lambda a, b, product: is_power_of_two(a) | is_power_of_two(b),
    "div": lambda a, b, quotient: is_power_of_two(b) | (a == 0),
}


def size_of_error(equation: Any, given: list[Any], values: Array) -> Array:
    """What the error of a result is a part of."""
    name = equation.primitive.name
    if name in SUMS:
        terms = [jnp.abs(value) if is_inexact(value) else value for value in given]
        return jnp.abs(equation.primitive.bind(*terms, **equation.params)).astype(values.dtype)
    sizes = jnp.abs(values)
    if name in WHOLE and sizes.size:
        return jnp.max(sizes, axis=tuple(range(-min(2, sizes.ndim), 0)), keepdims=True)
    return sizes * _factors(equation, given, values)


def _underflows(equation: Any, given: list[Any], values: Array) -> Array:
    """Where a result is zero that is none where every operand that is not zero is a one.

    What infinity makes zero is an exact zero.
    """
    exact = [(v == 0) | jnp.isinf(v) if is_inexact(v) else None for v in given]
    ones = [v if e is None else jnp.where(e, v, jnp.ones_like(v)) for v, e in zip(given, exact)]
    return (values == 0) & (equation.primitive.bind(*ones, **equation.params) != 0)


def _factors(equation: Any, given: list[Any], values: Array) -> float:
    """How many units of the last place the product of one operation errs by.

    Roundings of a product in turn err with the root of their number; those of a power by squaring
    are doubled on the way, half a unit each.
    """
    name, params = equation.primitive.name, equation.params
    if name == "integer_pow":
        return max(abs(params["y"]) / 2, 1.0)
    if name == "cumprod":
        return max(values.shape[params["axis"]], 1) ** 0.5
    return max(given[0].size / max(values.size, 1), 1.0) ** 0.5 if name in PRODUCTS else 1.0


def perhaps_none(value: Array, size: Array, seed: Array, moved: Array) -> Array:
    """What is moved; zero in some lanes where a difference may be none."""
    bits = bits_of(value)
    none = hashed(bits ^ seed.astype(bits.dtype)) & 2 == 2
    small = jnp.isfinite(value) & (jnp.abs(value) <= jnp.finfo(value.dtype).eps * size)
    return jnp.where(small & none, jnp.zeros_like(value), moved)


def in_range(equation: Any, seed: Array, given: list[Any], values: Array) -> Array:
    """Integers, with an arbitrary one for each that overflows."""
    unsigned = jnp.dtype(f"uint{max(8 * values.dtype.itemsize, 32)}")
    arbitrary = hashed(values.astype(unsigned) ^ seed.astype(unsigned))
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
    return name in MOVES or name == "bitcast_convert_type"
