"""Tangent kernels of large models, in the order of work that costs least: `empirical_ntk`.

The kernels are those of `tangent_kernels`, from the same features. That module serves the
statements, whose models are small, and what is recorded of them is of its code. Of n inputs with k
outputs and P parameters, where differentiating one takes F products of numbers within matrix
products, an input has s positions, and an entry of a row takes as long as W products to be made and
read (`WRITING`), these cost

    the Jacobian        n F + n k P (s + W) + n^2 k^2 P,
    a weight p x q      n^2 s^2 (p + k^2 (q + 1)), or n k p q (s + W) + n^2 k^2 p q as rows: the
                        less of these, so that none costs more than in the Jacobian,
    T blocks of inputs  T + 1 times what it takes to differentiate and to make rows, and
                        (T + 1) / 2T of the products.

So features of all inputs are held at once where they have room. Blocks are of one length: two
blocks of 214 for 256 inputs, of which 172 were padding, made a kernel of 32 tokens take twice as
long as the Jacobian. Rows of many parameters are multiplied leaf by leaf: that spares a copy, and
the rows of a bias are the errors of its layer, whose inner products XLA then computes once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PyTree

from theorysim.numerics.tangent_features import Factors, Features, Plan, feature_map
from theorysim.numerics.tangent_grams import contract, paired
from theorysim.numerics.tangent_kernels import Gram, Model, _check, _length, _plain, layer_names
from theorysim.numerics.weight_uses import Use

BLOCK_BYTES = 2**30
"""Features of a block of inputs may take this much memory, twice, unless `block` says otherwise"""
APART = 64
"""Rows of so many parameters are multiplied by themselves: adding the result costs less"""


def empirical_ntk(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    others: PyTree[Array] | None = None,
    *,
    block: int | None = None,
) -> Gram:
    """J(x_i) J(x'_j)^T for all pairs of inputs.

        model, params = from_equinox(module)      # or from_linen, from_nnx, or your own function
        gram = empirical_ntk(model, params, inputs)

    Args:
        model: `model(params, x)` for one input.
        params: the parameters that are differentiated, any pytree of floating-point arrays.
        inputs: inputs, stacked along a leading axis.
        others: inputs x' of the columns; the same ones unless given.
        block: how many inputs to differentiate at a time; unless given, as many as fit into
            `BLOCK_BYTES`, in blocks of one length. Blocks are differentiated anew for every block
            that they are paired with.

    Returns:
        (n, m) for a model with one output, (n, m, k, k) for one with k.

    Raises:
        ValueError: where inputs or parameters are not what is described above.
    """
    _check_all(params, inputs, others, block)
    groups = (0,) * len(jax.tree.leaves(params))
    return _grams(model, params, inputs, others, block, groups)[0]


def layer_ntks(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    others: PyTree[Array] | None = None,
    *,
    block: int | None = None,
) -> dict[str, Gram]:
    """The kernel of every layer by name; their sum is `empirical_ntk`, whose arguments it has.

    A layer is what shares a path in the tree of parameters but for the last key: weight and bias of
    `params["encoder"]["dense"]` make "encoder/dense".
    """
    _check_all(params, inputs, others, block)
    names = layer_names(params)
    layers = list(dict.fromkeys(names))
    groups = tuple(layers.index(name) for name in names)
    grams = _grams(model, params, inputs, others, block, groups)
    return {name: grams[number] for number, name in enumerate(layers)}


def _check_all(params: Any, inputs: Any, others: Any, block: Any) -> None:
    _check(params, inputs, others)
    if not jax.tree.leaves(params):
        raise ValueError("params hold no array: there is nothing to differentiate")
    if not all(_length(tree) for tree in (inputs, others) if tree is not None):
        raise ValueError("there are no inputs: expected one or more along the leading axis")
    if block is not None and (not isinstance(block, int) or block < 1):
        raise ValueError(f"block={block!r}: expected a number of inputs, 1 or more")


@partial(jax.jit, static_argnums=(0, 4, 5))
def _grams(
    model: Model, params: Any, inputs: Any, others: Any, block: int | None, groups: tuple[int, ...]
) -> dict[int, Gram]:
    """The kernel of every group of leaves."""
    one, plan = feature_map(model, params, inputs)
    features, same = (lambda inputs: _settled(jax.vmap(one)(inputs), plan)), others is None
    columns = inputs if same else others
    longest = max(_length(inputs), _length(columns))
    size = block or _even(longest, _most(features, inputs))
    if size >= longest:
        left = features(inputs)
        grams = _contracted(left, left if same else features(columns), plan, groups, same)
    else:

        def entry(here: Any, there: Any) -> dict:
            return _contracted(features(here), features(there), plan, groups, same=False)

        grams = paired(entry, inputs, columns, size, same)
    return {group: _plain(gram) for group, gram in grams.items()}


def _settled(features: Features, plan: Plan) -> Features:
    """Features whose data are behind a barrier; tokens outside of their table have no errors.

    XLA on CPUs (jaxlib 0.10) makes garbage of products with data that are one constant, if it may
    fold the constant into them. Look-ups fill in or drop what lies outside of a table: no row of it
    is used.
    """
    factors = {
        block: Factors(jax.lax.optimization_barrier(data), _inside(errors, data, plan.sizes(block)))
        for block, (data, errors) in features.factors.items()
    }
    return Features(features.rows, factors)


def _inside(errors: Array, data: Array, use: Use) -> Array:
    if use.kind != "tokens":
        return errors
    inside = (data >= 0) & (data < use.inputs)
    return jnp.where(inside[:, None, :, None], errors, 0)


def _most(features: Callable, inputs: Any) -> int:
    """Of how many inputs features have `BLOCK_BYTES`."""
    shapes = jax.eval_shape(features, inputs)
    total = sum(math.prod(s.shape) * s.dtype.itemsize for s in jax.tree.leaves(shapes))
    return max(1, BLOCK_BYTES * _length(inputs) // max(total, 1))


def _even(count: int, most: int) -> int:
    """The length of the fewest blocks of at most so many that hold `count`, all alike."""
    return -(-count // -(-count // most))


def _contracted(
    left: Features, right: Features, plan: Plan, groups: Sequence[int], same: bool
) -> dict[int, Gram]:
    """The kernel of every group, of rows of many parameters leaf by leaf."""
    long = [leaf for leaf, rows in left.rows.items() if rows.shape[2] >= APART]
    parts = [({leaf}, False) for leaf in long] + [(left.rows.keys() - long, True)]
    total: dict[int, Gram] = {}
    for leaves, with_factors in parts:
        sides = [_part(side, leaves, with_factors) for side in (left, right)]
        for group, gram in contract(sides[0], sides[1], plan, groups, same).items():
            total[group] = total[group] + gram if group in total else gram
    return total


def _part(side: Features, leaves: set[int], with_factors: bool) -> Features:
    rows = {leaf: side.rows[leaf] for leaf in sorted(leaves)}
    return Features(rows, side.factors if with_factors else {})
