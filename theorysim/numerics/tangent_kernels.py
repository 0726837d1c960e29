"""Empirical tangent kernels: Gram matrices of the Jacobian of any model, layer by layer.

A model is a function `model(params, x)` of a pytree of parameters and ONE input (no batch axis);
its output, of any shape, is flattened to k numbers. Equinox and Flax modules become such functions
through `theorysim.numerics.models`. The kernel is J(x) J(x')^T, neither halved nor averaged.

The Jacobian is never built where a model consists of dense layers. A weight matrix that meets one
vector in one product, `a @ W` or `W @ a`, has the gradient a delta^T, so its share of the kernel is
(a . a') (delta . delta'): the Gram of activations times that of backpropagated errors. Such weights
are found in the traced model, by their uses; all other parameters (biases, convolutions, shared or
masked weights) enter with their rows of the Jacobian, as many inputs at a time as fit.

Source: Novak, Sohl-Dickstein, Schoenholz, "Fast Finite Width Neural Tangent Kernel", ICML 2022.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax.extend import core
from jaxtyping import Array, Float, PyTree

from theorysim.numerics.products import dot

Model: TypeAlias = Callable[[Any, Any], Array]
Gram: TypeAlias = Float[Array, "n m *outputs"]
Visit: TypeAlias = Callable[[core.JaxprEqn, list, list, list], list]

BLOCK_BYTES = 2**28
"""Features of a block of inputs may take this much memory, twice, unless `block` says otherwise."""


class _Features(NamedTuple):
    """What a block of inputs contributes to the kernel; every array leads with the inputs.

    `activations` and `errors` belong to dense weights, `rows` to all other leaves; errors and rows
    have the outputs as second axis.
    """

    activations: dict[int, Float[Array, "n inputs"]]
    errors: dict[int, Float[Array, "n k outputs"]]
    rows: dict[int, Float[Array, "n k parameters"]]


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
            `BLOCK_BYTES`. Dense layers alone hardly ever need it.

    Returns:
        (n, m) for a model with one output, (n, m, k, k) for one with k.

    Raises:
        ValueError: where inputs or parameters are not what is described above.
    """
    return sum(_leaf_grams(model, params, inputs, others, block).values())  # type: ignore[return-value]


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
    grams: dict[str, Gram] = {}
    for leaf, gram in _leaf_grams(model, params, inputs, others, block).items():
        name = layer_names(params)[leaf]
        grams[name] = grams[name] + gram if name in grams else gram
    return grams


def layer_names(params: PyTree[Array]) -> list[str]:
    """The layer of every leaf of the parameters, in the order of the leaves."""
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(params)[0]]
    return [
        jax.tree_util.keystr(path[:-1] if len(path) > 1 else path, simple=True, separator="/")
        for path in paths
    ]


def _leaf_grams(
    model: Model, params: Any, inputs: Any, others: Any, block: int | None
) -> dict[int, Gram]:
    _check(params, inputs, others)
    return _compiled_leaf_grams(model, params, inputs, others, block)


@partial(jax.jit, static_argnums=(0, 4))
def _compiled_leaf_grams(
    model: Model, params: Any, inputs: Any, others: Any, block: int | None
) -> dict[int, Gram]:
    features = jax.vmap(_feature_map(model, params, inputs))
    size = block or _fitting(features, inputs)
    rows, columns = _length(inputs), _length(inputs if others is None else others)
    if size >= max(rows, columns):
        left = features(inputs)
        return _contract(left, left if others is None else features(others))

    across = _blocks(inputs if others is None else others, size)

    def row_of_blocks(here: Any) -> Any:
        left = features(here)
        blocks = jax.lax.map(lambda there: _contract(left, features(there)), across)
        return jax.tree.map(lambda blocks: _join(blocks, 1, columns), blocks)

    stacked = jax.lax.map(row_of_blocks, _blocks(inputs, size))
    return jax.tree.map(lambda blocks: _join(blocks, 0, rows), stacked)


def _blocks(inputs: Any, size: int) -> Any:
    """The inputs as (blocks, size, ...), the first one repeated where the last block is short."""
    count = -(-_length(inputs) // size)

    def split(leaf: Array) -> Array:
        padding = jnp.broadcast_to(leaf[:1], (count * size - leaf.shape[0], *leaf.shape[1:]))
        return jnp.concatenate([leaf, padding]).reshape(count, size, *leaf.shape[1:])

    return jax.tree.map(split, inputs)


def _fitting(features: Callable, inputs: Any) -> int:
    """How many inputs have features of `BLOCK_BYTES`."""
    shapes = jax.eval_shape(features, inputs)
    total = sum(math.prod(s.shape) * s.dtype.itemsize for s in jax.tree.leaves(shapes))
    return max(1, BLOCK_BYTES * _length(inputs) // max(total, 1))


def _contract(left: _Features, right: _Features) -> dict[int, Gram]:
    """The kernel of every leaf from its features on both sides."""
    grams = {leaf: _pairs(left.rows[leaf], right.rows[leaf]) for leaf in left.rows}
    for leaf, errors in left.errors.items():
        gram = _pairs(errors, right.errors[leaf])
        inner = dot(left.activations[leaf], right.activations[leaf].T)
        grams[leaf] = gram * inner.reshape(inner.shape + (1,) * (gram.ndim - 2))
    return grams


def _pairs(left: Float[Array, "n k p"], right: Float[Array, "m k p"]) -> Gram:
    """Inner products over the last axis; the axes of outputs vanish where there is one output."""
    rows, columns, outputs = left.shape[0], right.shape[0], left.shape[1]
    flat = dot(left.reshape(rows * outputs, -1), right.reshape(columns * outputs, -1).T)
    if outputs == 1:
        return flat
    return flat.reshape(rows, outputs, columns, outputs).transpose(0, 2, 1, 3)


def _feature_map(model: Model, params: Any, inputs: Any) -> Callable[[Any], _Features]:
    """The features of one input."""
    leaves, tree = jax.tree.flatten(params)
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), inputs)

    def flat(leaves: list, x: Any) -> Array:
        return jnp.ravel(model(jax.tree.unflatten(tree, leaves), x))

    traced = jax.make_jaxpr(flat)(leaves, one)
    shapes = _dense_weights(traced, len(leaves))
    others = {leaf: leaves[leaf] for leaf in range(len(leaves)) if leaf not in shapes}

    def feature(x: Any) -> _Features:
        def tapped(others: dict, taps: dict) -> tuple[Array, dict]:
            activations: dict[int, Array] = {}

            def visit(equation: Any, origins: list, values: list, results: list) -> list:
                for position, leaf in enumerate(origins):
                    if leaf in taps:
                        activations[leaf] = values[1 - position]
                        results = [results[0] + taps[leaf]]
                return results

            values = [others.get(leaf, leaves[leaf]) for leaf in range(len(leaves))]
            arguments, origins = [*values, *jax.tree.leaves(x)], _origins(traced, len(leaves))
            (output,), _ = _run(traced.jaxpr, traced.consts, arguments, origins, visit)
            return output, activations

        taps = {leaf: jnp.zeros(s.shape, s.dtype) for leaf, s in shapes.items()}
        output, pull_back, activations = jax.vjp(tapped, others, taps, has_aux=True)
        rows, errors = jax.vmap(pull_back)(jnp.eye(output.size, dtype=output.dtype))
        rows = {leaf: row.reshape(output.size, -1) for leaf, row in rows.items()}
        return _Features(activations, errors, rows)

    return feature


def _origins(traced: core.ClosedJaxpr, count: int) -> list[int | None]:
    """Which of `count` leaves an input of the traced model is, None for those of the data."""
    return [*range(count), *[None] * (len(traced.jaxpr.invars) - count)]


def _dense_weights(traced: core.ClosedJaxpr, count: int) -> dict[int, jax.ShapeDtypeStruct]:
    """Leaves whose only use is one product of a matrix with a vector, and the product's shape."""
    uses: dict[int, list] = {leaf: [] for leaf in range(count)}

    def visit(equation: Any, origins: list, values: list, results: list) -> list:
        for position, leaf in enumerate(origins):
            if leaf is not None:
                dense = _is_dense(equation, position)
                uses[leaf].append(equation.outvars[0].aval if dense else None)
        return results

    def walk(*arguments: Any) -> Any:
        origins = _origins(traced, count)
        outputs, leaves_out = _run(traced.jaxpr, traced.consts, list(arguments), origins, visit)
        for leaf in leaves_out:
            if leaf is not None:
                uses[leaf].append(None)
        return outputs

    jax.eval_shape(walk, *traced.in_avals)
    return {
        leaf: jax.ShapeDtypeStruct(use[0].shape, use[0].dtype)
        for leaf, use in uses.items()
        if len(use) == 1 and use[0] is not None
    }


def _is_dense(equation: core.JaxprEqn, position: int) -> bool:
    """Whether operand `position` is a matrix in a plain product with a vector."""
    if equation.primitive.name != "dot_general":
        return False
    contracted, batched = equation.params["dimension_numbers"]
    ranks = [variable.aval.ndim for variable in equation.invars]  # type: ignore[union-attr]
    plain = batched == ((), ()) and len(contracted[0]) == 1
    return plain and ranks[position] == 2 and ranks[1 - position] == 1


def _run(
    jaxpr: Any, consts: list, arguments: list, origins: list[int | None], visit: Visit
) -> tuple[list, list[int | None]]:
    """Evaluates a traced function; `visit` may change the results of every equation.

    It is told which operands are leaves of the parameters, as they are or transposed. Results and
    their origins are returned.
    """
    value: dict[Any, Any] = dict(zip(jaxpr.constvars, consts)) | dict(zip(jaxpr.invars, arguments))
    origin = dict(zip(jaxpr.invars, origins))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, core.Literal) else value[atom]

    def leaf_of(atom: Any) -> int | None:
        return None if isinstance(atom, core.Literal) else origin.get(atom)

    for equation in jaxpr.eqns:
        operands = [read(atom) for atom in equation.invars]
        leaves = [leaf_of(atom) for atom in equation.invars]
        name = equation.primitive.name
        if name in ("jit", "pjit"):
            inner = equation.params["jaxpr"]
            results, ends = _run(inner.jaxpr, inner.consts, operands, leaves, visit)
        else:
            options = equation.primitive.get_bind_params(equation.params)
            bound = equation.primitive.bind(*operands, **options)
            results = list(bound) if equation.primitive.multiple_results else [bound]
            ends = leaves if name == "transpose" else [None] * len(results)
            if name != "transpose":
                results = visit(equation, leaves, operands, results)
        value.update(zip(equation.outvars, results))
        origin.update(zip(equation.outvars, ends))
    return [read(atom) for atom in jaxpr.outvars], [leaf_of(atom) for atom in jaxpr.outvars]


def _length(inputs: Any) -> int:
    return jax.tree.leaves(inputs)[0].shape[0]


def _join(blocks: Array, axis: int, length: int) -> Array:
    """Blocks along `axis`, stacked along the first one, as one axis cut to its true length."""
    moved = jnp.moveaxis(blocks, 0, axis)
    shape = moved.shape
    flat = moved.reshape(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
    return jax.lax.slice_in_dim(flat, 0, length, axis=axis)


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
