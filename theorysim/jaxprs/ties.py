"""Which numbers may be equal, and how their ties fall.

Operands tie where they differ by no more than some units of the last place. In most lanes every tie
falls by itself. Of many one then nearly always falls one way; so in three lanes all fall alike, in
whichever round of a loop: a flag that no tie may set is not set in one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Int

from theorysim.jaxprs.directions import Moves, bits_of, hashed, is_inexact
from theorysim.jaxprs.exactness import Exact

# Numbers that differ by so many units of the last place may be equal: what a dozen operations err
# by. Of operands whose origins are moved.
NEAR, TIE = 32, 1000

# What jumps where its operand is a whole number, half of one, or a multiple of another operand.
JUMPS = frozenset({"floor", "ceil", "round", "rem", "convert_element_type"})

EQUAL, BELOW, ABOVE = range(3)

# What a comparison says where its operands tie.
ORDERS: Mapping[str, frozenset[int]] = {
    "eq": frozenset({EQUAL}),
    "ne": frozenset({BELOW, ABOVE}),
    "lt": frozenset({BELOW}),
    "le": frozenset({BELOW, EQUAL}),
    "gt": frozenset({ABOVE}),
    "ge": frozenset({ABOVE, EQUAL}),
}


STRICT = frozenset({"lt", "gt"})


def outcome(bits: Array, moves: Moves) -> Int[Array, "..."]:
    """How ties fall: `EQUAL`, `BELOW` or `ABOVE`, by the bits of what ties, or all alike."""
    at = jnp.asarray(moves.round, bits.dtype)
    own = _third(hashed(bits ^ moves.seed.astype(bits.dtype) ^ hashed(at)))
    if moves.lane is None:
        return own
    return jnp.where(moves.alike, moves.lane % 3, own)


def _third(hashes: Array) -> Int[Array, "..."]:
    """0, 1 or 2 by two bits of a hash, 0 as often as both others: cheaper to compile than % 3."""
    return ((hashes & 1) + (hashes & (hashes >> 1) & 1)).astype(int)


def compared(
    equation: Any,
    moves: Moves,
    given: list[Any],
    exact: list[Exact],
    plain: Array,
    turned: bool,
) -> Array:
    """A comparison of floats, by the lane where they tie; what asks for NaN is sure.

    Where roundings are moved what is equal stays so: it was made alike. But two that absorb what
    they differ by are equal, too: where all ties fall alike, equal numbers tie in strict
    inequalities, unless they are zero. The time of an integrator must come to its end: without
    `ties` only equality ties. The same numbers are compared either way round: `turned` tells one
    way from the other where all ties of arrays fall alike, elsewhere their bits do. Of constants
    it is sure, unless they are moved: binomial numbers ask whether their chance is below 1/2, and
    another answer mirrors them.
    """
    a, b = map(jnp.asarray, given)
    asks_for_nan = equation.invars[0] is equation.invars[1]
    sure = Exact.INTEGER if moves.origins else Exact.CONSTANT
    if asks_for_nan or min(exact) >= sure or not is_inexact(a):
        return plain
    difference, size = a - b, jnp.maximum(jnp.abs(a), jnp.abs(b))
    near = jnp.abs(difference) <= _units(moves) * jnp.finfo(a.dtype).eps * size
    near &= jnp.isfinite(a) & jnp.isfinite(b)  # nothing finite is near infinity
    if not moves.origins:
        absorbed = moves.ties and equation.primitive.name in STRICT and moves.alike
        near &= (a != b) | (absorbed & (size > 0))
    first, second = bits_of(a), bits_of(b)
    falls = outcome(first + second, moves)
    reverse = jnp.where(moves.alike, turned, first > second)
    falls = jnp.where(reverse & (falls != EQUAL), BELOW + ABOVE - falls, falls)
    says = _any_of(falls, ORDERS[equation.primitive.name])
    return jnp.where(near, says, plain)


def _units(moves: Moves) -> int:
    return TIE if moves.origins else NEAR


def _any_of(falls: Array, outcomes: frozenset[int]) -> Array:
    return jnp.any(jnp.stack([falls == one for one in sorted(outcomes)]), axis=0)


def jumps(equation: Any) -> bool:
    """Whether a float becomes a whole number."""
    name = equation.primitive.name
    if name == "convert_element_type":
        (given,), (made,) = equation.invars, equation.outvars
        return is_inexact(given.aval) and jnp.issubdtype(made.aval.dtype, jnp.integer)
    return name in JUMPS and jnp.issubdtype(equation.invars[0].aval.dtype, jnp.floating)


def from_whole(equation: Any, moves: Moves, given: list[Any], exact: list[bool]) -> list[Any]:
    """The operands, the first of which is one where it jumps, or beside that, if it nearly is."""
    values, *others = map(jnp.asarray, given)
    if exact[0]:
        return given
    whole = _nearest_jump(equation.primitive.name, values, others)
    reach = _units(moves) * jnp.finfo(values.dtype).eps * jnp.abs(values)
    near = jnp.isfinite(values) & (jnp.abs(values - whole) <= reach)
    falls = outcome(bits_of(values), moves)
    aside = jnp.asarray([0, -1, 1], values.dtype)[falls] * reach
    return [jnp.where(near, whole + aside, values), *others]


def _nearest_jump(name: str, values: Array, others: list[Array]) -> Array:
    if name == "round":
        return jnp.floor(values) + 0.5
    if name == "rem":
        return jnp.round(values / others[0]) * others[0]
    return jnp.round(values)


def perhaps_none(value: Array, size: Array, moves: Moves, moved: Array) -> Array:
    """What is moved; where a difference may be none it is zero in some lanes.

    Where all ties fall alike, all such differences are of one sign.
    """
    eps = jnp.finfo(value.dtype).eps
    small = (jnp.abs(value) <= eps * size) & jnp.isfinite(value)
    falls = outcome(bits_of(value), moves)
    if (
        moves.ties
        and moves.lane is not None
        and not jnp.issubdtype(value.dtype, jnp.complexfloating)
    ):
        least = jnp.maximum(jnp.abs(moved), eps / NEAR * size)
        signed = jnp.where(falls == ABOVE, least, -least)
        moved = jnp.where(small & moves.alike, signed, moved)
    return jnp.where(small & (falls == EQUAL), jnp.zeros_like(value), moved)
