"""Which numbers may be equal, and how their ties fall.

Operands tie where their difference is no larger than what it differs by between lanes that round
otherwise (the computed zero of stochastic arithmetic, Vignes 1993), or than some units of the last
place. In most lanes every tie falls by itself. Of many one then nearly always falls one way; so in
three lanes all fall alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr
from jaxtyping import Array, Bool, Int

from theorysim.jaxprs.directions import Moves, bits_of, hashed, is_inexact
from theorysim.jaxprs.structure import every_operation

LANES = "lanes"
"""The axis of lanes that run side by side"""

# Numbers that differ by so many units of the last place may be equal: moves of one unit need not
# meet. Of operands whose origins are moved.
NEAR, TIE = 4, 1000

# A difference is known where it exceeds what it varies by so many times: as a measured rounding is.
SAFETY = 4.0

# Comparing lanes costs some tenths of a second of compiling for each of a dozen comparisons in
# turn, and more than a second for each of forty.
MOST_COMPARISONS = 12

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


def compares_little(program: Jaxpr) -> bool:
    """Whether a program has few comparisons of floats, so that lanes can be compared at each."""
    floats = (
        one.primitive.name in {*ORDERS, "sign"} and is_inexact(one.invars[0].aval)
        for one in every_operation(program)
    )
    return sum(floats) <= MOST_COMPARISONS


def outcome(bits: Array, moves: Moves) -> Int[Array, "..."]:
    """How ties fall: `EQUAL`, `BELOW` or `ABOVE`, by the bits of what ties, or all alike."""
    at = jnp.asarray(moves.round, bits.dtype)
    own = _third(hashed(bits ^ moves.seed.astype(bits.dtype) ^ hashed(at)))
    if not moves.lanes:
        return own
    lane = jax.lax.axis_index(LANES)
    return jnp.where(lane < 3, (lane + at.astype(int)) % 3, own)


def _third(hashes: Array) -> Int[Array, "..."]:
    """0, 1 or 2 by two bits of a hash, 0 as often as both others: cheaper to compile than % 3."""
    return ((hashes & 1) + (hashes & (hashes >> 1) & 1)).astype(int)


def may_be_none(difference: Array, moves: Moves) -> Bool[Array, "..."]:
    """Where a difference is not known to be any: it varies by as much between lanes."""
    if not moves.spreads:
        return jnp.zeros(jnp.shape(difference), bool)
    largest, varies = _range(difference)
    return (varies > 0) & (largest <= SAFETY * varies)


def _range(values: Array) -> tuple[Array, Array]:
    """The largest absolute value over all lanes, and what the values vary by."""
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        parts = [_range(part) for part in (values.real, values.imag)]
        return jnp.maximum(*(p[0] for p in parts)), parts[0][1] + parts[1][1]
    highest, lowest = jax.lax.pmax(values, LANES), -jax.lax.pmax(-values, LANES)
    return jnp.maximum(highest, -lowest), highest - lowest


def compared(
    equation: Any, moves: Moves, given: list[Any], exact: list[bool], plain: Array
) -> Array:
    """A comparison of floats, by the lane where they tie; what asks for NaN is sure.

    Where roundings are moved what is equal stays so: it was made alike. The time of an integrator
    must come to its end: without `ties` only equality ties.
    """
    a, b = map(jnp.asarray, given)
    asks_for_nan = equation.invars[0] is equation.invars[1]
    if asks_for_nan or all(exact) or not is_inexact(a):
        return plain
    difference, size = a - b, jnp.maximum(jnp.abs(a), jnp.abs(b))
    units = TIE if moves.origins else NEAR
    near = jnp.abs(difference) <= units * jnp.finfo(a.dtype).eps * size
    if moves.ties:
        near |= may_be_none(difference, moves)
    near &= jnp.isfinite(a) & jnp.isfinite(b)  # nothing finite is near infinity
    if not moves.origins:
        near &= a != b
    falls = outcome(bits_of(a) + bits_of(b), moves)
    says = _any_of(falls, ORDERS[equation.primitive.name])
    return jnp.where(near, says, plain)


def _any_of(falls: Array, outcomes: frozenset[int]) -> Array:
    return jnp.any(jnp.stack([falls == one for one in sorted(outcomes)]), axis=0)


def sign(moves: Moves, values: Array, plain: Array) -> Array:
    """The sign of a number that may be none, by the lane."""
    signs = jnp.asarray([0, -1, 1], plain.dtype)
    return jnp.where(may_be_none(values, moves), signs[outcome(bits_of(values), moves)], plain)


def perhaps_none(value: Array, size: Array, moves: Moves, moved: Array) -> Array:
    """What is moved; zero in some lanes where a difference may be none."""
    small = jnp.abs(value) <= jnp.finfo(value.dtype).eps * size
    none = small & jnp.isfinite(value) & (outcome(bits_of(value), moves) == EQUAL)
    return jnp.where(none, jnp.zeros_like(value), moved)
