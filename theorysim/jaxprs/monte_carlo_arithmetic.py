"""Running a JAX program in Monte Carlo arithmetic: every operation that rounds errs anew.

Inputs that are moved by ulps do not show all rounding. A sum that absorbs a small addend errs alike
wherever it lies on its floating-point grid, and so do differences of two such sums. Here every
result that is rounded is moved up or down (Monte-Carlo arithmetic, Parker 1997), in loops and
branches, too: by one unit of its last place, in the precision that it has; a sum by one unit of the
last place of what its terms amount to, a decomposition of a matrix by one of its largest entry.
Exempt is only what rounds nothing (moves, exact sums, products by powers of two, integers by
origin), so that an operation that nobody thought of is moved. Products of many factors err by more
than one unit, and what underflows is zero or the smallest number.

The direction is a hash of the result, of what it was made from and of the inputs: the same
operation on equal operands moves alike, so that what is equal stays equal, while two results that
equal 1.0 because they absorbed different addends move apart.

An integer that leaves the range of its type is no number: an arbitrary one stands in for it.

Where all that is asked is whether a result hangs on digits that nothing can know, the origins of
numbers are moved alone: inputs, constants that are rounded, what is drawn, and what is first
rounded from whole numbers. With them go sums and differences, by parts of their terms, and, by much
more, what is compared, sorted or made an integer. That costs less to compile, and shows chaos,
magnified errors and ties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jaxtyping import Array

from theorysim.jaxprs.exactness import (
    MOVES,
    exact_constant,
    exact_results,
    parts_of_scan,
    parts_of_while,
    steady,
)
from theorysim.jaxprs.overflow import may_overflow, overflows
from theorysim.jaxprs.structure import CALLS

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

# The golden ratio's bits and another odd number, as in common integer hashes.
SPREAD: dict[int, tuple[Any, Any]] = {
    32: (np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)),
    64: (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)),
}


# What jumps where operands tie; of an array's entries, where some of these do.
AMONG_ENTRIES = frozenset({"argmax", "argmin", "sort", "top_k"})
_JUMPS = "lt le gt ge sign rem floor ceil round convert_element_type"
JUMPS = AMONG_ENTRIES | frozenset(_JUMPS.split())

# Units of the last place by which operands of these are moved where origins are, and origins: one
# unit would be absorbed where a function is flat.
TIE, ORIGIN = 1000, 64

DIFFERENCES = frozenset({"add", "add_any", "sub"})

# Numbers that differ by so many units may be equal: moves of one unit need not meet.
NEAR = 4


class Moves(NamedTuple):
    """The seed of all directions; whether origins are moved in place of roundings, and ties."""

    seed: Array
    origins: bool
    ties: bool


def perturb_rounding(function: Callable, origins: bool = False, ties: bool = True) -> Callable:
    """The function of arrays in Monte Carlo arithmetic; its errors differ with the inputs.

    With `origins`, only floats among inputs and constants, and what is drawn, are moved; and ties
    unless the time of an integrator, that must come to its end, is compared.
    """

    def run(*inputs: Any) -> Any:
        program, shapes = jax.make_jaxpr(function, return_shape=True)(*inputs)
        leaves = list(map(jnp.asarray, jax.tree.leaves(inputs)))
        exact = [not _is_inexact(leaf) for leaf in leaves]
        moves = Moves(_seed(leaves), origins, origins and ties)
        given = [_as_origin(leaf, moves) for leaf in leaves] if origins else leaves
        results = _call(program, moves, given, exact)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


def _as_origin(values: Any, moves: Moves) -> Any:
    """Floats moved by some units of their last place, up or down."""
    values = jnp.asarray(values)
    if not moves.origins or not jnp.issubdtype(values.dtype, jnp.floating):
        return values
    return _nudged(values, ORIGIN * jnp.abs(values), _bits(values), moves.seed, False)


def _constant(value: Any, moves: Moves) -> Any:
    """A constant, moved as an origin unless it is a whole number or a power of two."""
    if not moves.origins or not jnp.issubdtype(jnp.asarray(value).dtype, jnp.floating):
        return value
    fixed = (value == np.round(value)) | _is_power_of_two(jnp.asarray(value))
    return jnp.where(fixed, value, _as_origin(value, moves))


def _seed(leaves: Sequence[Any]) -> Array:
    """A hash of the bits of all floats and of their places."""
    seed = jnp.zeros((), jnp.uint32)
    for leaf in map(jnp.asarray, leaves):
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            bits = _bits(leaf)
            places = jnp.arange(leaf.size).reshape(leaf.shape).astype(bits.dtype)
            mixed = _mixed(bits ^ _mixed(places)).astype(jnp.uint32)
            seed = 31 * seed + jnp.sum(mixed, dtype=jnp.uint32)
    return _mixed(seed.astype(jax.dtypes.canonicalize_dtype(np.uint64)))


def _is_inexact(value: Any) -> bool:
    return jnp.issubdtype(value.dtype, jnp.inexact)


def _bits(values: Array) -> Array:
    """The bits of floats, as unsigned integers of 32 or 64 bits."""
    width = 8 * values.dtype.itemsize
    bits = jax.lax.bitcast_convert_type(values, jnp.dtype(f"uint{width}"))
    return bits.astype(jnp.dtype(f"uint{max(width, 32)}"))


def _mixed(bits: Array) -> Array:
    """A hash of unsigned integers whose every bit depends on all bits."""
    width = 8 * bits.dtype.itemsize
    first, second = (jnp.asarray(odd, bits.dtype) for odd in SPREAD[width])
    bits = bits * first
    bits = (bits ^ (bits >> (width // 2))) * second
    return bits ^ (bits >> (width // 2))


def _salt(equation: Any, given: list[Any], bits: Array) -> Array | int:
    """A hash of what a result was made from, whose order does not matter.

    Of operations on whole arrays only sums of terms have one: there it costs another sum.
    """
    floats = [jnp.asarray(value) for value in given if jnp.issubdtype(value.dtype, jnp.floating)]
    if equation.primitive.name in ("reduce_sum", "cumsum"):
        return equation.primitive.bind(_mixed(_bits(floats[0])), **equation.params)
    alike = [f for f in floats if f.shape in (bits.shape, ()) and _bits(f).dtype == bits.dtype]
    return sum((_bits(value) for value in alike), 0)


def _moved(equation: Any, seed: Array, given: list[Any], values: Array, exact: bool) -> Array:
    """Rounded values, moved by one unit up or down; integers by origin only where they are large"""
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        real, imaginary = (
            _moved(equation, seed, [], part, exact) for part in (values.real, values.imag)
        )
        return jax.lax.complex(real, imaginary)
    bits = _bits(values)
    size, salt = _size(equation, given, values), _salt(equation, given, bits)
    moved = _nudged(values, size, bits + salt, seed, exact)
    if equation.primitive.name in UNROUNDED and len(given) == 2:  # not parts of complex numbers
        a, b = given
        moved = jnp.where(UNROUNDED[equation.primitive.name](a, b, values), values, moved)
        if equation.primitive.name in DIFFERENCES and not exact:
            terms = NEAR * jnp.maximum(jnp.abs(a), jnp.abs(b))
            moved = _perhaps_none(values, terms, seed, moved)
    if equation.primitive.name in UNDERFLOWING and not exact:
        least = jnp.copysign(jnp.finfo(values.dtype).tiny, values)
        up = _mixed((bits + salt) ^ seed.astype(bits.dtype)) & 1 == 1
        moved = jnp.where(_underflows(equation, given, values) & up, least, moved)
    return moved


@jax.jit
def _sum_is_exact(a: Array, b: Array, total: Array) -> Array:
    """Where the sum of two numbers was not rounded (Knuth's exact error of an addition).

    Behind a barrier, because a compiler that knew `total` would find the error to be zero.
    """
    total = jax.lax.optimization_barrier(total)
    part = jax.lax.optimization_barrier(total - a)
    return (a - (total - part)) + (b - part) == 0


@jax.jit
def _is_power_of_two(values: Array) -> Array:
    """Where a number has no digits: to multiply by it rounds nothing (but underflow)."""
    bits = _bits(values)
    digits = jnp.asarray((1 << jnp.finfo(values.dtype).nmant) - 1, bits.dtype)
    return (bits & digits) == 0


# Where operations on two numbers round nothing. The time of an integrator, multiplied by its
# direction (1.0), is still that time and has to be equal to it.
UNROUNDED: Mapping[str, Callable[[Array, Array, Array], Array]] = {
    "add": _sum_is_exact,
    "add_any": _sum_is_exact,
    "sub": lambda a, b, difference: _sum_is_exact(a, -b, difference),
    "mul": lambda a, b, product: _is_power_of_two(a) | _is_power_of_two(b),
    "div": lambda a, b, quotient: _is_power_of_two(b) | (a == 0),
}


@partial(jax.jit, static_argnums=4)
def _nudged(values: Array, size: Array, salt: Array, seed: Array, exact: bool) -> Array:
    """Values moved by a part of a size: traced once for all operations of the same shape."""
    up = _mixed(salt ^ seed.astype(salt.dtype)) & 1
    limits = jnp.finfo(values.dtype)
    unit = limits.eps * size
    kept = ~jnp.isfinite(values)
    if exact:
        kept |= jnp.abs(values) <= 2.0 ** (limits.nmant + 1)
    return jnp.where(kept, values, values + jnp.where(up, unit, -unit))


def _size(equation: Any, given: list[Any], values: Array) -> Array:
    """What the error of a result is a part of."""
    name = equation.primitive.name
    if name in SUMS:
        terms = [jnp.abs(value) if _is_inexact(value) else value for value in given]
        return jnp.abs(equation.primitive.bind(*terms, **equation.params)).astype(values.dtype)
    sizes = jnp.abs(values)
    if name in WHOLE and sizes.size:
        return jnp.max(sizes, axis=tuple(range(-min(2, sizes.ndim), 0)), keepdims=True)
    return sizes * _factors(equation, given, values)


def _underflows(equation: Any, given: list[Any], values: Array) -> Array:
    """Where a result is zero that is none where every operand that is not zero is a one.

    What infinity makes zero is an exact zero.
    """
    exact = [(v == 0) | jnp.isinf(v) if _is_inexact(v) else None for v in given]
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


def _in_range(equation: Any, seed: Array, given: list[Any], values: Array) -> Array:
    """Integers, with an arbitrary one for each that overflows."""
    unsigned = jnp.dtype(f"uint{max(8 * values.dtype.itemsize, 32)}")
    arbitrary = _mixed(values.astype(unsigned) ^ seed.astype(unsigned))
    return jnp.where(overflows(equation, given), arbitrary.astype(values.dtype), values)


def _call(
    program: ClosedJaxpr | Jaxpr, moves: Moves, inputs: Sequence[Any], exact: Sequence[bool]
) -> list[Any]:
    """Outputs of a jaxpr; `exact` tells which inputs are integers by origin."""
    is_closed = isinstance(program, ClosedJaxpr)
    jaxpr, constants = (program.jaxpr, program.consts) if is_closed else (program, ())
    known = {v: _constant(c, moves) for v, c in zip(jaxpr.constvars, constants, strict=True)}
    known.update(zip(jaxpr.invars, inputs, strict=True))
    integers = dict(zip(jaxpr.constvars, map(exact_constant, constants), strict=True))
    integers.update(zip(jaxpr.invars, exact, strict=True))
    for equation in jaxpr.eqns:
        given = [
            _constant(a.val, moves) if isinstance(a, Literal) else known[a] for a in equation.invars
        ]
        flags = [
            exact_constant(a.val) if isinstance(a, Literal) else integers[a]
            for a in equation.invars
        ]
        known.update(zip(equation.outvars, _outputs(equation, moves, given, flags), strict=True))
        integers.update(zip(equation.outvars, exact_results(equation, flags), strict=True))
    return [_constant(a.val, moves) if isinstance(a, Literal) else known[a] for a in jaxpr.outvars]


def _outputs(equation: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return _call(params[CALLS[name]], moves, given, exact)
    if name in LOOPS:
        return LOOPS[name](params, moves, given, exact)
    if moves.ties and _jumps(equation):
        given = _apart(equation, moves, given, exact)
    found = equation.primitive.bind(*given, **params)
    results = found if equation.primitive.multiple_results else [found]
    if name in ("eq", "ne") and (moves.ties or not moves.origins):
        return [_perhaps_equal(equation, moves, given, exact, results[0])]
    if moves.origins:
        return [_of_origin(equation, moves, given, exact, result) for result in results]
    if _rounds_nothing(equation):
        return results
    arrays = list(map(jnp.asarray, given))
    if may_overflow(equation):
        return [_in_range(equation, moves.seed, arrays, results[0])]
    integers = exact_results(equation, exact)
    return [
        _moved(equation, moves.seed, arrays, value, is_integer) if _is_inexact(value) else value
        for value, is_integer in zip(results, integers, strict=True)
    ]


def _of_origin(equation: Any, moves: Moves, given: list[Any], exact: list[bool], value: Any) -> Any:
    """A result, moved where it is drawn, first rounded, or a sum."""
    name = equation.primitive.name
    if name == "bitcast_convert_type":
        return _as_origin(value, moves)
    if not jnp.issubdtype(value.dtype, jnp.floating) or _rounds_nothing(equation):
        return value
    if all(exact):
        return value if all(exact_results(equation, exact)) else _as_origin(value, moves)
    if not moves.ties or name not in SUMS | DIFFERENCES:
        return value
    arrays = list(map(jnp.asarray, given))
    if name in SUMS:
        size = _size(equation, arrays, value)
    else:
        size = jnp.maximum(*map(jnp.abs, arrays))
    moved = _nudged(value, ORIGIN * size, _bits(value), moves.seed, False)
    return _perhaps_none(value, ORIGIN * size, moves.seed, moved)


def _perhaps_none(value: Array, size: Array, seed: Array, moved: Array) -> Array:
    """What is moved; zero in some lanes where a difference may be none."""
    bits = _bits(value)
    none = _mixed(bits ^ seed.astype(bits.dtype)) & 2 == 2
    small = jnp.isfinite(value) & (jnp.abs(value) <= jnp.finfo(value.dtype).eps * size)
    return jnp.where(small & none, jnp.zeros_like(value), moved)


def _perhaps_equal(
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
    bits = _bits(a) + _bits(b)
    return jnp.where(near, _mixed(bits ^ moves.seed.astype(bits.dtype)) & 1 == 1, value)


def _jumps(equation: Any) -> bool:
    """Whether a result changes by much where a float changes by little."""
    name = equation.primitive.name
    if name == "convert_element_type":
        return not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.inexact)
    # Values that are sorted alone are the same in any order.
    return name in JUMPS and (name != "sort" or len(equation.invars) > 1)


def _apart(equation: Any, moves: Moves, given: list[Any], exact: list[bool]) -> list[Any]:
    """Operands moved beyond all ties; what is equal moves differently at another place."""

    def moved(place: int, value: Any, is_exact: bool) -> Any:
        values = jnp.asarray(value)
        if not jnp.issubdtype(values.dtype, jnp.floating):
            return value
        salt = _bits(values) + place
        if equation.primitive.name in AMONG_ENTRIES:
            salt += jnp.arange(values.size, dtype=salt.dtype).reshape(values.shape)
        return _nudged(values, TIE * jnp.abs(values), salt, moves.seed, is_exact)

    return [moved(*one) for one in zip(range(len(given)), given, exact)]


def _rounds_nothing(equation: Any) -> bool:
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
        return not any(_is_inexact(atom.aval) for atom in equation.invars)
    return name in MOVES or name == "bitcast_convert_type"


def _while(params: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    test, body, start = parts_of_while(params, given)
    test_exact, body_exact, start_exact = parts_of_while(params, exact)
    state_exact = steady(params["body_jaxpr"], body_exact, start_exact, [])

    def goes_on(state: list[Any]) -> Array:
        flags = [*test_exact, *state_exact]
        return _call(params["cond_jaxpr"], moves, [*test, *state], flags)[0]

    def move(state: list[Any]) -> list[Any]:
        moved = _call(params["body_jaxpr"], moves, [*body, *state], [*body_exact, *state_exact])
        going = goes_on(state)
        if not going.ndim:
            return moved
        # A loop under vmap: what has come to its end stays.
        return [
            jnp.where(going.reshape(going.shape + (1,) * (new.ndim - going.ndim)), new, old)
            for new, old in zip(moved, state, strict=True)
        ]

    return jax.lax.while_loop(lambda state: jnp.any(goes_on(state)), move, start)


def _scan(params: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    constants, start, rows = parts_of_scan(params, given)
    constants_exact, start_exact, rows_exact = parts_of_scan(params, exact)
    state_exact = steady(params["jaxpr"], constants_exact, start_exact, rows_exact)
    flags, carried = [*constants_exact, *state_exact, *rows_exact], len(start)

    def body(carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        results = _call(params["jaxpr"], moves, [*constants, *carry, *row], flags)
        return results[:carried], results[carried:]

    kept = {name: params[name] for name in ("length", "reverse", "unroll")}
    end, stacked = jax.lax.scan(body, start, rows, **kept)
    return [*end, *stacked]


def _cond(params: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    index, *inputs = given
    branches = [
        lambda *inputs, branch=branch: _call(branch, moves, inputs, exact[1:])
        for branch in params["branches"]
    ]
    return jax.lax.switch(index, branches, *inputs)


LOOPS = {"while": _while, "scan": _scan, "cond": _cond}
