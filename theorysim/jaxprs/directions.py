"""In which direction a number is moved: a hash of its bits, its operands and the inputs.

The same operation on equal operands moves alike, so that what is equal stays equal, while two
results that equal 1.0 because they absorbed different addends move apart. In two lanes all numbers
are moved one way, since rounding errors need not cancel: those of 30,000 equal addends in turn do
not, nor do those of a hundred sums all fall to one side by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

LANES = 8
"""So many of each run lie side by side; they are numbered on and on, from 1"""
ALIKE = 3
"""In so many of them, the first ones, all ties fall alike"""
UPWARDS, DOWNWARDS = 3, 4
"""The next ones, in which all numbers are moved one way"""

# The golden ratio's bits and another odd number, as in common integer hashes.
SPREAD: dict[int, tuple[Any, Any]] = {
    32: (np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)),
    64: (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)),
}


class Moves(NamedTuple):
    """How numbers are moved.

    The seed of all directions; whether origins are moved in place of roundings; whether ties of
    comparisons are; which of the lanes this is, that run side by side (`ALIKE`, `UPWARDS` and
    `DOWNWARDS` tell them apart; None where there are none); whether anything but overflowing
    integers is moved; and which round of a loop this is, so that what stands still does not tie
    alike for ever. Then what follows from the lane: whether all ties fall alike, and whither all
    numbers are moved (1 up, -1 down, 0 each by itself).
    """

    seed: Array
    origins: bool
    ties: bool
    lane: Array | None = None
    roundings: bool = True
    round: Array | int = 0
    alike: Array | bool = False
    way: Array | int = 0


def in_this_lane(moves: Moves, number: Array) -> Moves:
    """In the lane of this number: computed once, since all operations ask for it."""
    lane = (number.astype(int) - 1) % LANES
    way = jnp.where(lane == UPWARDS, 1, jnp.where(lane == DOWNWARDS, -1, 0))
    return moves._replace(lane=lane, alike=lane < ALIKE, way=way)


def seed_of(leaves: Sequence[Any]) -> Array:
    """A hash of the bits of all floats and of their places."""
    seed = jnp.zeros((), jnp.uint32)
    for leaf in map(jnp.asarray, leaves):
        if jnp.issubdtype(leaf.dtype, jnp.floating):
            bits = bits_of(leaf)
            places = jnp.arange(leaf.size).reshape(leaf.shape).astype(bits.dtype)
            mixed = hashed(bits ^ hashed(places)).astype(jnp.uint32)
            seed = 31 * seed + jnp.sum(mixed, dtype=jnp.uint32)
    return hashed(seed.astype(jax.dtypes.canonicalize_dtype(np.uint64)))


def is_inexact(value: Any) -> bool:
    """Whether an array or its type is of floats, real or complex."""
    return jnp.issubdtype(value.dtype, jnp.inexact)


def bits_of(values: Array) -> Array:
    """The bits of floats, as unsigned integers of 32 or 64 bits; of complex numbers a hash."""
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        return bits_of(values.real) ^ hashed(bits_of(values.imag))
    width = 8 * values.dtype.itemsize
    bits = jax.lax.bitcast_convert_type(values, jnp.dtype(f"uint{width}"))
    return bits.astype(jnp.dtype(f"uint{max(width, 32)}"))


def hashed(bits: Array) -> Array:
    """A hash of unsigned integers whose every bit depends on all bits."""
    width = 8 * bits.dtype.itemsize
    first, second = (jnp.asarray(odd, bits.dtype) for odd in SPREAD[width])
    bits = bits * first
    bits = (bits ^ (bits >> (width // 2))) * second
    return bits ^ (bits >> (width // 2))


def nudged(values: Array, size: Array, salt: Array, moves: Moves, exact: bool) -> Array:
    """Values moved by a unit of the last place of a size; integers by origin where they are large.

    Of complex numbers both parts are, by the same (real) size.
    """
    return _nudged(values, size, salt, moves.seed, moves.way, exact)


@partial(jax.jit, static_argnums=5)
def _nudged(
    values: Array, size: Array, salt: Array, seed: Array, way: Array | int, exact: bool
) -> Array:
    """Traced once for all operations of the same shape."""
    if jnp.issubdtype(values.dtype, jnp.complexfloating):
        real, imaginary = (
            _nudged(part, jnp.broadcast_to(size, part.shape), salt + place, seed, way, exact)
            for place, part in enumerate((values.real, values.imag))
        )
        return jax.lax.complex(real, imaginary)
    own = hashed(salt ^ seed.astype(salt.dtype)) & 1 == 1
    up = jnp.where(way == 0, own, way > 0)
    limits = jnp.finfo(values.dtype)
    unit = limits.eps * size
    kept = ~jnp.isfinite(values)
    if exact:
        kept |= jnp.abs(values) <= 2.0 ** (limits.nmant + 1)
    return jnp.where(kept, values, values + jnp.where(up, unit, -unit))


@jax.jit
def is_power_of_two(values: Array) -> Array:
    """Where a number has no digits: to multiply by it rounds nothing (but underflow)."""
    bits = bits_of(values)
    digits = jnp.asarray((1 << jnp.finfo(values.dtype).nmant) - 1, bits.dtype)
    return (bits & digits) == 0
