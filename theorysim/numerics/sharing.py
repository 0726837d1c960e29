"""Functions of a key that draw once for all that vmap calls them with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, PRNGKeyArray, PyTree


def sharing_keys(stacked: Callable[[Array, Any], Any]) -> Callable[..., Any]:
    """A function of one key and one tree of arrays, from one of many.

    vmap calls a loop whose end depends on what it is called with in such a way that each of its
    runs draws for itself, and waits for the longest. This one is called by vmap, however nested,
    with all keys and with all that belongs to each. It may close over nothing that vmap batches.

    Args:
        stacked: of keys, (K,), and a tree whose arrays lead with (K, G): what G calls with each
            key were given. Arrays of its result lead with (K, G), too.
    """

    @custom_vmap
    def every(keys: Array, given: PyTree) -> PyTree:
        return stacked(keys, given)

    @every.def_vmap
    def _(size: int, varies: Any, keys: Array, given: PyTree) -> tuple[PyTree, PyTree]:
        of_keys, of_given = varies
        if not any(jax.tree.leaves(varies)):  # as a derivative asks, of which one part is batched
            found = stacked(keys, given)
            return found, jax.tree.map(lambda _: False, found)
        if size == 0:
            found = _of_none(stacked, (keys, given), varies)
            return found, jax.tree.map(lambda _: True, found)
        given = jax.tree.map(
            lambda leaf, own: leaf if own else jnp.broadcast_to(leaf, (size, *leaf.shape)),
            given,
            of_given,
        )
        if of_keys:
            found = every(_joined(keys), jax.tree.map(_joined, given))
            found = jax.tree.map(lambda leaf: _parted(leaf, size, 0), found)
        else:
            beside = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), given)
            found = every(keys, jax.tree.map(jax.vmap(_joined), beside))
            found = jax.tree.map(lambda leaf: jnp.moveaxis(_parted(leaf, size, 1), 1, 0), found)
        return found, jax.tree.map(lambda _: True, found)

    def one(key: PRNGKeyArray, given: PyTree) -> PyTree:
        found = every(key[None], jax.tree.map(lambda leaf: jnp.asarray(leaf)[None, None], given))
        return jax.tree.map(lambda leaf: leaf[0, 0], found)

    return one


def _of_none(function: Callable, arguments: tuple, varies: Any) -> PyTree:
    """What vmap makes of a function over no entries of the arguments that vary."""

    def entry(leaf: Array, own: bool) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(leaf.shape[1:] if own else leaf.shape, leaf.dtype)

    found = jax.eval_shape(function, *jax.tree.map(entry, arguments, tuple(varies)))
    return jax.tree.map(lambda leaf: jnp.zeros((0, *leaf.shape), leaf.dtype), found)


def _joined(leaf: Array) -> Array:
    """The first two axes as one."""
    return leaf.reshape(leaf.shape[0] * leaf.shape[1], *leaf.shape[2:])


def _parted(leaf: Array, size: int, axis: int) -> Array:
    """An axis as two, of which the first has that size."""
    shape = leaf.shape
    return leaf.reshape(*shape[:axis], size, shape[axis] // size, *shape[axis + 1 :])
