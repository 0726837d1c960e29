"""Empirical tangent kernels: Gram matrices of the Jacobian of any model, layer by layer.

A model is a function `model(params, x)` of a pytree of parameters and ONE input (no batch axis);
its output, of any shape, is flattened to k numbers. Equinox and Flax modules become such functions
through `theorysim.numerics.models`. The kernel is J(x) J(x')^T, neither halved nor averaged.

The Jacobian of a weight that meets data in products only (dense layers, attention, convolutions,
embeddings, adapters x (W + A B), loops over stacked layers) is kept as two small factors and
contracted without being built, where that costs less; such weights are found in the traced model,
by their uses. All other parameters (biases, scales, weights that are used otherwise) enter with
their rows of the Jacobian. Features of as many inputs as fit are made once; half of a symmetric
kernel is computed.

Statements run on these functions, and what is recorded of them is of this code. For large models
`theorysim.empirical_ntk`, of `tangent_work`, does the same with less work.

Source: Novak, Sohl-Dickstein, Schoenholz, "Fast Finite Width Neural Tangent Kernel", ICML 2022.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from theorysim.numerics.tangent_features import feature_map
from theorysim.numerics.tangent_grams import contract, paired

Model: TypeAlias = Callable[[Any, Any], Array]
Gram: TypeAlias = Float[Array, "n m *outputs"]

BLOCK_BYTES = 2**28
"""Features of a block of inputs may take this much memory, twice, unless `block` says otherwise."""


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
            `BLOCK_BYTES`. Blocks are differentiated anew for every block that they are paired
            with.

    Returns:
        (n, m) for a model with one output, (n, m, k, k) for one with k.

    Raises:
        ValueError: where inputs or parameters are not what is described above.
    """
    _check(params, inputs, others)
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
    _check(params, inputs, others)
    names = layer_names(params)
    layers = list(dict.fromkeys(names))
    groups = tuple(layers.index(name) for name in names)
    grams = _grams(model, params, inputs, others, block, groups)
    return {name: grams[number] for number, name in enumerate(layers)}


def layer_names(params: PyTree[Array]) -> list[str]:
    """The layer of every leaf of the parameters, in the order of the leaves."""
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(params)[0]]
    return [
        jax.tree_util.keystr(path[:-1] if len(path) > 1 else path, simple=True, separator="/")
        for path in paths
    ]


@partial(jax.jit, static_argnums=(0, 4, 5))
def _grams(
    model: Model, params: Any, inputs: Any, others: Any, block: int | None, groups: tuple[int, ...]
) -> dict[int, Gram]:
    """The kernel of every group of leaves."""
    one, plan = feature_map(model, params, inputs)
    features, same = jax.vmap(one), others is None
    columns = inputs if same else others
    size = block or _fitting(features, inputs)
    if size >= max(_length(inputs), _length(columns)):
        left = features(inputs)
        grams = contract(left, left if same else features(columns), plan, groups, same)
    else:

        def entry(here: Any, there: Any) -> dict:
            return contract(features(here), features(there), plan, groups, same=False)

        grams = paired(entry, inputs, columns, size, same)
    return {group: _plain(gram) for group, gram in grams.items()}


def _plain(gram: Float[Array, "n m k k"]) -> Gram:
    """Without the axes of outputs where there is one output."""
    return gram[:, :, 0, 0] if gram.shape[2] == 1 else gram


def _fitting(features: Callable, inputs: Any) -> int:
    """How many inputs have features of `BLOCK_BYTES`."""
    shapes = jax.eval_shape(features, inputs)
    total = sum(math.prod(s.shape) * s.dtype.itemsize for s in jax.tree.leaves(shapes))
    return max(1, BLOCK_BYTES * _length(inputs) // max(total, 1))


def _length(inputs: Any) -> int:
    return jax.tree.leaves(inputs)[0].shape[0]


def _check(params: Any, inputs: Any, others: Any) -> None:
    for leaf in jax.tree.leaves(params):
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating):
            raise ValueError(
                f"a parameter of type {jnp.result_type(leaf)} cannot be differentiated: pass "
                "floating-point arrays as parameters and close over the rest"
            )
    shapes = [[jnp.shape(leaf) for leaf in jax.tree.leaves(tree)] for tree in (inputs, others)]
    for found in shapes if others is not None else shapes[:1]:
        if len({shape[:1] for shape in found}) != 1 or () in found:
            raise ValueError(f"inputs of shapes {found}: expected one common leading axis")
    ends = [[shape[1:] for shape in found] for found in shapes]
    if others is not None and ends[0] != ends[1]:
        raise ValueError(
            f"inputs of shapes {shapes[0]} and {shapes[1]}: one input is alike in both"
        )
