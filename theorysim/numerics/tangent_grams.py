"""Inner products of the Jacobians of many inputs, from rows or from factors of the rows.

For a weight with factors (a, delta) the entry of a pair of inputs is
sum_st (a_s . a'_t) (delta_s . delta'_t) over both inputs' positions s and t. That is cheap for
short sequences and wide weights; else the rows a^T delta are made, some columns at a time, and
multiplied. Which costs less is known from the shapes. (Leaving out half of the products of a
symmetric Gram was tried: on a CPU the smaller products took longer than the whole one.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.numerics.products import dot
from theorysim.numerics.tangent_features import Factors, Features, Plan, slice_of
from theorysim.numerics.weight_uses import Block

Gram: TypeAlias = Float[Array, "n m k l"]

NUMBERS = 2**24
"""Intermediate arrays have at most about so many entries"""
WRITING = 200
"""An entry of the rows costs as much as so many products within a matrix product, to be made and
read: measured on two cores, float32"""


def contract(
    left: Features, right: Features, plan: Plan, groups: Sequence[int], same: bool
) -> dict[int, Gram]:
    """The kernel of every group of leaves.

    Args:
        left, right: of n and of m inputs.
        plan: that of both.
        groups: the group of every leaf.
        same: whether both sides are the same inputs.
    """
    sliced = [block for block in left.factors if _is_sliced(left, right, plan, block, same)]
    here, there = (_without(side, sliced) for side in (left, right))
    grams: dict[int, Gram] = {}
    if here.rows or here.factors:
        entry = partial(_products, groups=groups)
        grams = paired(entry, here, there, _fitting(here, there), same)
    for block in sliced:
        sides = left.factors[block], right.factors[block]
        _add(grams, groups[block.leaf], _in_slices(*sides, same, inputs=plan.sizes(block).inputs))
    return grams


def _add(grams: dict[int, Gram], group: int, gram: Gram) -> None:
    grams[group] = grams[group] + gram if group in grams else gram


def _without(side: Features, blocks: Sequence[Block]) -> Features:
    kept = {block: pair for block, pair in side.factors.items() if block not in blocks}
    return Features(side.rows, kept)


def _fitting(left: Features, right: Features) -> int:
    """Of how many inputs on both sides intermediate arrays have `NUMBERS` entries."""
    shares = [pair.errors.shape[1] * pair.errors.shape[2] for pair in left.factors.values()]
    fitting = math.isqrt(NUMBERS // max(shares, default=1) ** 2)
    return max(1, min(fitting, max(_length(left), _length(right))))


def paired(entry: Callable[[Any, Any], Any], left: Any, right: Any, size: int, same: bool) -> Any:
    """Tiles entry(left block, right block) as one array over all pairs.

    Args:
        entry: of two blocks of `size` inputs, arrays (size, size, ...) for both.
        left, right: pytrees with leading axes n and m.
        size: of the blocks, whose last one repeats the first input where it is short.
        same: whether left is right; then tiles below the diagonal are transposed ones, where
            axes beyond the first two swap, too.
    """
    rows, columns = _length(left), _length(right)
    if size >= max(rows, columns):
        return entry(left, right)
    here, there = _blocks(left, size), _blocks(right, size)
    count, width = _length(here), _length(there)
    pairs = [(i, j) for i in range(count) for j in range(i if same else 0, width)]
    first, second = (np.array(numbers) for numbers in zip(*pairs))

    def tile(pair: tuple) -> Any:
        chosen = (jax.tree.map(lambda leaf: leaf[pair[0]], here),)
        return entry(*chosen, jax.tree.map(lambda leaf: leaf[pair[1]], there))

    tiles = jax.lax.map(tile, (first, second))

    def joined(tiles: Array) -> Array:
        whole = jnp.zeros((count, width, *tiles.shape[1:]), tiles.dtype)
        whole = whole.at[first, second].set(tiles)
        if same:
            swapped = jnp.swapaxes(tiles, 1, 2)
            mirrored = jnp.swapaxes(swapped, 3, 4) if tiles.ndim == 5 else swapped
            whole = whole.at[second, first].set(mirrored)
        flat = jnp.swapaxes(whole, 1, 2).reshape(count * size, width * size, *tiles.shape[3:])
        return flat[:rows, :columns]

    return jax.tree.map(joined, tiles)


def _products(left: Features, right: Features, *, groups: Sequence[int]) -> dict[int, Gram]:
    """The kernel of every group, from all features at once."""
    grams: dict[int, Gram] = {}
    for group in dict.fromkeys(groups[leaf] for leaf in left.rows):
        leaves = [leaf for leaf in left.rows if groups[leaf] == group]
        rows = (jnp.concatenate([side.rows[leaf] for leaf in leaves], 2) for side in (left, right))
        _add(grams, group, _row_products(*rows))
    for block, pair in left.factors.items():
        _add(grams, groups[block.leaf], _factor_products(pair, right.factors[block]))
    return grams


def _row_products(left: Float[Array, "n k p"], right: Float[Array, "m k p"]) -> Gram:
    (rows, outputs, _), columns = left.shape, right.shape[0]
    flat = dot(left.reshape(rows * outputs, -1), right.reshape(columns * outputs, -1).T)
    return jnp.swapaxes(flat.reshape(rows, outputs, columns, outputs), 1, 2)


def _factor_products(left: Factors, right: Factors) -> Gram:
    if left.data.ndim == 3:
        inner = _positions(left.data, right.data)
    else:
        inner = (left.data[:, :, None, None] == right.data[None, None]).astype(left.errors.dtype)
    n, k, s, q = left.errors.shape
    m, _, t, _ = right.errors.shape
    if s == t == 1:
        outer = _row_products(left.errors[:, :, 0], right.errors[:, :, 0])
        return outer * inner[:, 0, :, 0, None, None]
    outer = _positions(left.errors.reshape(n, k * s, q), right.errors.reshape(m, k * t, q))
    products = inner[:, None, :, :, None] * outer.reshape(n, k, s, m, k, t)
    return jnp.swapaxes(products.sum(axis=(2, 5)), 1, 2)


def _positions(
    left: Float[Array, "n s p"], right: Float[Array, "m t p"]
) -> Float[Array, "n s m t"]:
    """Inner products of all positions of all inputs."""
    (n, s, p), (m, t, _) = left.shape, right.shape
    return dot(left.reshape(n * s, p), right.reshape(m * t, p).T).reshape(n, s, m, t)


def _in_slices(left: Factors, right: Factors, same: bool, *, inputs: int) -> Gram:
    """From rows of the Jacobian, some columns of a at a time."""
    n, k, _, q = left.errors.shape
    m = right.errors.shape[0]
    count = -(-inputs // max(1, NUMBERS // (max(n, m) * k * q)))
    length = -(-inputs // count)
    left, right = (_widened(side, count * length) for side in (left, right))

    def rows(side: Factors, start: Any) -> Float[Array, "n k p"]:
        columns = slice_of(side, start, length)
        made = jnp.einsum("nsp,nksq->nkpq", columns, side.errors, precision="highest")
        return made.reshape(*made.shape[:2], -1)

    def add(total: Gram, start: Array) -> tuple[Gram, None]:
        here = rows(left, start)
        there = here if same else rows(right, start)
        return total + _row_products(here, there), None

    nothing = jnp.zeros((n, m, k, k), left.errors.dtype)
    return jax.lax.scan(add, nothing, length * jnp.arange(count))[0]


def _widened(side: Factors, inputs: int) -> Factors:
    """With a filled up by columns of zeros."""
    if side.data.ndim == 2:
        return side
    missing = inputs - side.data.shape[2]
    return side._replace(data=jnp.pad(side.data, ((0, 0), (0, 0), (0, missing))))


def _is_sliced(left: Features, right: Features, plan: Plan, block: Block, same: bool) -> bool:
    """Whether rows, made first, cost less than factors, in products of numbers for a pair."""
    inputs, pair = plan.sizes(block).inputs, left.factors[block]
    n, k, s, q = pair.errors.shape
    m = right.factors[block].errors.shape[0]
    by_factors = s**2 * ((inputs if pair.data.ndim == 3 else 1) + k**2 * (q + 1))
    made = 1 / n if same else 1 / n + 1 / m
    return k * inputs * q * (k + (s + WRITING) * made) < by_factors


def _blocks(inputs: Any, size: int) -> Any:
    """The inputs as (blocks, size, ...), the first one repeated where the last block is short."""
    count = -(-_length(inputs) // size)

    def split(leaf: Array) -> Array:
        padding = jnp.broadcast_to(leaf[:1], (count * size - leaf.shape[0], *leaf.shape[1:]))
        return jnp.concatenate([leaf, padding]).reshape(count, size, *leaf.shape[1:])

    return jax.tree.map(split, inputs)


def _length(inputs: Any) -> int:
    return jax.tree.leaves(inputs)[0].shape[0]
