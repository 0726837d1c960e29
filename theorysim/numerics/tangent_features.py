"""What one input contributes to a tangent kernel: the rows of its Jacobian, or factors of them.

A weight that is used in products y = a W has the Jacobian a^T delta, summed over positions, where
delta are the backpropagated outputs. It is kept as the pair (a, delta) where that is smaller; all
other parameters have their rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend import core
from jaxtyping import Array, Float, Num

from theorysim.numerics.weight_uses import Block, Fixed, Use, evaluate, whole


class Factors(NamedTuple):
    """Of the Jacobian of one weight (inputs x outputs), for some inputs of the model.

    Attributes:
        data: a, or the tokens (integers, without the last axis) of which a is the indicator.
        errors: delta, for each of the model's k outputs.
    """

    data: Num[Array, "n positions *inputs"]
    errors: Float[Array, "n k positions outputs"]


class Features(NamedTuple):
    """By leaf of the parameters, and by block of a leaf that is a stack of weights."""

    rows: dict[int, Float[Array, "n k parameters"]]
    factors: dict[Block, Factors]


@dataclass(frozen=True)
class Plan:
    """Which blocks of the parameters are weights, and all uses of each with their products."""

    uses: dict[Block, list[tuple[Use, jax.ShapeDtypeStruct]]]

    @property
    def leaves(self) -> set[int]:
        """The leaves that are weights."""
        return {block.leaf for block in self.uses}

    def sizes(self, block: Block) -> Use:
        """The shape of a weight, which all of its uses share."""
        return self.uses[block][0][0]


class FeatureMap(NamedTuple):
    """The features of one input, and the plan that they follow."""

    features: Callable[[Any], Features]
    plan: Plan


def feature_map(model: Callable, params: Any, inputs: Any) -> FeatureMap:
    """The features of one input of a model `model(params, x)`, traced once.

    Args:
        model: of one input; its output is flattened to k numbers.
        params: any pytree of floating-point arrays.
        inputs: a stack of inputs.
    """
    leaves, tree = jax.tree.flatten(params)
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), inputs)

    def flat(leaves: list, x: Any) -> Array:
        return jnp.ravel(model(jax.tree.unflatten(tree, leaves), x))

    traced = jax.make_jaxpr(flat)(leaves, one)
    plan = _plan(traced, leaves)
    weights = plan.leaves
    others = {leaf: value for leaf, value in enumerate(leaves) if leaf not in weights}

    def features(x: Any) -> Features:
        def tapped(others: dict, taps: dict) -> tuple[Array, dict]:
            visitor = _Tapped(leaves, taps)
            symbols = _arguments(leaves, others, weights)
            (output,) = evaluate(traced, [*symbols, *jax.tree.leaves(x)], visitor)
            return output, visitor.data

        taps = {
            block: [jnp.zeros(product.shape, product.dtype) for _, product in uses]
            for block, uses in plan.uses.items()
        }
        output, pull_back, data = jax.vjp(tapped, others, taps, has_aux=True)
        rows, errors = jax.vmap(pull_back)(jnp.eye(output.size, dtype=output.dtype))
        flat_rows = {leaf: row.reshape(output.size, -1) for leaf, row in rows.items()}
        factors = {
            block: Factors(jnp.concatenate(data[block]), jnp.concatenate(errors[block], axis=1))
            for block in plan.uses
        }
        return _smallest(flat_rows, factors, plan)

    return FeatureMap(features, plan)


def slice_of(factors: Factors, start: Any, length: int) -> Float[Array, "n positions length"]:
    """Columns of a from `start` on, whether a is kept or its tokens are."""
    if factors.data.ndim == 3:
        return jax.lax.dynamic_slice_in_dim(factors.data, start, length, axis=2)
    dtype = factors.data.dtype
    columns = jnp.asarray(start, dtype) + jnp.arange(length, dtype=dtype)
    return (factors.data[:, :, None] == columns[None, None]).astype(factors.errors.dtype)


def _smallest(rows: dict, factors: dict[Block, Factors], plan: Plan) -> Features:
    """Factors that are larger than the rows of the Jacobian become rows, one input's."""
    kept: dict[Block, Factors] = {}
    found: dict[int, list[Array]] = {leaf: [row] for leaf, row in rows.items()}
    for block, pair in factors.items():
        use, outputs = plan.sizes(block), pair.errors.shape[0]
        if _is_smaller(pair, outputs * use.inputs * use.outputs):
            kept[block] = pair
            continue
        every = slice_of(Factors(pair.data[None], pair.errors[None]), 0, use.inputs)[0]
        row = jnp.einsum("sp,ksq->kpq", every, pair.errors, precision="highest")
        found.setdefault(block.leaf, []).append(row.reshape(outputs, -1))
    return Features({leaf: jnp.concatenate(rows, 1) for leaf, rows in found.items()}, kept)


def _is_smaller(pair: Factors, rows: int) -> bool:
    """Than so many numbers of its rows."""
    return pair.data.size + pair.errors.size < rows


def _arguments(leaves: list, values: dict, weights: set[int]) -> list[Any]:
    """The parameters as arguments of `evaluate`; matrices that are no weights stay fixed."""
    return [
        whole(leaf, jnp.shape(leaves[leaf]))
        if leaf in weights
        else (Fixed(values[leaf]) if jnp.ndim(values[leaf]) > 1 else values[leaf])
        for leaf in range(len(leaves))
    ]


def _plan(traced: core.ClosedJaxpr, leaves: list) -> Plan:
    """The weights among the parameters.

    What a leaf is used for depends on which others are weights (a product of two of them is one
    use of each), so leaves leave the plan until all that are left are weights.
    """
    weights = {leaf for leaf, value in enumerate(leaves) if jnp.ndim(value) > 1}
    while True:
        survey = _survey(traced, leaves, weights)
        fit = survey.weights(math.prod(traced.out_avals[0].shape))
        if fit >= weights:
            return Plan(survey.uses)
        weights = fit


def _survey(traced: core.ClosedJaxpr, leaves: list, weights: set[int]) -> _Survey:
    """What these leaves are used for."""
    survey = _Survey(leaves)

    def walk(*arguments: Any) -> list[Array]:
        values = dict(enumerate(arguments[: len(leaves)]))
        symbols = _arguments(leaves, values, weights)
        return evaluate(traced, [*symbols, *arguments[len(leaves) :]], survey)

    jax.eval_shape(walk, *traced.in_avals)
    return survey


@dataclass
class _Survey:
    """All uses of every block, and the leaves whose values were asked for."""

    leaves: list
    uses: dict[Block, list[tuple[Use, jax.ShapeDtypeStruct]]] = field(default_factory=dict)
    looked_at: set[int] = field(default_factory=set)

    def use(self, block: Block, use: Use, data: Array, product: Array) -> Array:
        shape = jax.ShapeDtypeStruct(product.shape, product.dtype)
        self.uses.setdefault(block, []).append((use, shape))
        return product

    def factor(self, block: Block) -> Array:
        return self.leaves[block.leaf][block.index]

    def value(self, block: Block) -> Array:
        self.looked_at.add(block.leaf)
        return self.factor(block)

    def weights(self, outputs: int) -> set[int]:
        """Leaves whose uses are of one kind, block by block, and that are used for nothing else.

        Filters whose rows are smaller than their factors are no gain: patches are made for these.
        """
        depths: dict[int, set[int]] = {}
        mixed = set(self.looked_at)
        for block, uses in self.uses.items():
            depths.setdefault(block.leaf, set()).add(len(block.index))
            use = uses[0][0]
            positions = sum(product.shape[0] for _, product in uses)
            factors = positions * (use.inputs + outputs * use.outputs)
            small = use.kind == "patches" and outputs * use.inputs * use.outputs <= factors
            if small or len({use for use, _ in uses}) > 1:
                mixed.add(block.leaf)
        return {leaf for leaf, found in depths.items() if len(found) == 1} - mixed


@dataclass
class _Tapped:
    """Adds a tap to every product, and keeps the data that met the weight."""

    leaves: list
    taps: dict[Block, list[Array]]
    data: dict[Block, list[Array]] = field(default_factory=dict)

    def use(self, block: Block, use: Use, data: Array, product: Array) -> Array:
        met = self.data.setdefault(block, [])
        met.append(data)
        return product + self.taps[block][len(met) - 1]

    def factor(self, block: Block) -> Array:
        return self.leaves[block.leaf][block.index]

    value = factor
