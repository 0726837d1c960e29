"""Where a traced model multiplies its weights with data, and how these products are tapped.

A weight that meets data in matrix products, convolutions and look-ups only is read as a matrix W
(inputs x outputs): every use is y = a W with a row of a per position (of a sequence, of an image,
of a loop), so that its gradient is a^T delta, summed over positions. Uses are found by evaluating
the program with symbols in the place of weights. A product with a sum, a multiple or a product of
weights is spread over these, x (W + A B) = x W + (x A) B, and loops over stacked weights are run
step by step, so that adapters and scanned layers have uses of their own. What else is done with a
weight takes its value; its gradient is then the tracer's matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp
from jax.extend import core
from jaxtyping import Array, Float

LONGEST_LOOP = 64
"""Loops of more steps are not run step by step: a program grows with them"""


@dataclass(frozen=True, order=True)
class Block:
    """A leaf of the parameters, or the block of a stacked leaf that belongs to one step."""

    leaf: int
    index: tuple[int, ...] = ()


class Use(NamedTuple):
    """One product y = a W.

    Attributes:
        kind: what `a` is made of. "rows" of numbers, (positions, inputs); "patches", the same, of
            a convolution; "tokens": integers (positions,), the rows of W that are looked up.
        layout: which axes of the leaf are the inputs of W; uses add up where it is the same.
        inputs, outputs: the shape of W.
    """

    kind: str
    layout: tuple[Any, ...]
    inputs: int
    outputs: int


@runtime_checkable
class Visitor(Protocol):
    """What is done at every use, and at everything else."""

    def use(self, block: Block, use: Use, data: Array, product: Array) -> Array:
        """The product (positions, outputs), as it goes on."""
        ...

    def factor(self, block: Block) -> Array:
        """The block as an array, for a use."""
        ...

    def value(self, block: Block) -> Array:
        """The block as an array, for any other purpose."""
        ...


@dataclass(frozen=True)
class Weight:
    """A block with its axes in some order."""

    block: Block
    order: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Fixed:
    """An array that does not depend on the data: what a weight may be added to."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


@dataclass(frozen=True)
class Sum:
    """Of symbols of one shape."""

    terms: tuple[Any, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Multiple:
    """Of a weight by a number."""

    factor: Any
    weight: Any
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """Of two matrices, at least one of them a weight."""

    left: Any
    right: Any
    shape: tuple[int, ...]
    options: Any


@dataclass(frozen=True)
class Step:
    """One entry along the first axis of a stack, which is kept with length one."""

    weight: Any
    shape: tuple[int, ...]


SYMBOLS = (Weight, Fixed, Sum, Multiple, Product, Step)
Symbol: TypeAlias = "Weight | Fixed | Sum | Multiple | Product | Step"


def evaluate(
    program: core.ClosedJaxpr, arguments: Sequence[Any], visitor: Visitor
) -> list[Float[Array, "..."]]:
    """The outputs of a traced function of arrays and of symbols, whose uses are visited."""
    consts = [Fixed(const) if jnp.ndim(const) > 1 else const for const in program.consts]
    outputs = _Evaluation(visitor).run(program.jaxpr, consts, arguments)
    return [_value(output, visitor) for output in outputs]


def whole(leaf: int, shape: tuple[int, ...]) -> Weight:
    """A leaf of the parameters, as an argument of `evaluate`."""
    return Weight(Block(leaf), tuple(range(len(shape))), shape)


@dataclass(frozen=True)
class _Evaluation:
    visitor: Visitor

    def run(self, jaxpr: Any, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        """Results are arrays or symbols."""
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts))
        known |= dict(zip(jaxpr.invars, arguments))

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, core.Literal) else known[atom]

        for equation in jaxpr.eqns:
            results = self._equation(equation, [read(atom) for atom in equation.invars])
            known.update(zip(equation.outvars, results))
        return [read(atom) for atom in jaxpr.outvars]

    def _equation(self, equation: core.JaxprEqn, operands: list[Any]) -> list[Any]:
        if any(isinstance(operand, SYMBOLS) for operand in operands):
            rule = _RULES.get(equation.primitive.name)
            results = rule(self, equation, operands) if rule else None
            if results is not None:
                return results
        values = [_value(operand, self.visitor) for operand in operands]
        options = equation.primitive.get_bind_params(equation.params)
        bound = equation.primitive.bind(*values, **options)
        return list(bound) if equation.primitive.multiple_results else [bound]


_Rule: TypeAlias = Callable[[_Evaluation, Any, list[Any]], "list[Any] | None"]


def _called(name: str) -> _Rule:
    """The inner program, whose weights are those outside."""

    def rule(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any]:
        inner = equation.params[name]
        consts = getattr(inner, "consts", ())
        return evaluation.run(getattr(inner, "jaxpr", inner), consts, operands)

    return rule


def _scan(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    """Step by step, each with its own block of the stacked weights."""
    given, visitor = equation.params, evaluation.visitor
    length, fixed, carried = given["length"], given["num_consts"], given["num_carry"]
    if length > LONGEST_LOOP:
        return None
    consts, carry = operands[:fixed], operands[fixed : fixed + carried]
    stacked, inner = operands[fixed + carried :], given["jaxpr"]
    outputs: list[list[Any]] = []
    for step in range(length):
        number = length - 1 - step if given["reverse"] else step
        here = [_step_of(each, number, visitor) for each in stacked]
        results = evaluation.run(inner.jaxpr, inner.consts, [*consts, *carry, *here])
        carry = [_value(each, visitor) for each in results[:carried]]
        outputs.append([_value(each, visitor) for each in results[carried:]])
    ordered = outputs[::-1] if given["reverse"] else outputs
    return [*carry, *(jnp.stack(each) for each in zip(*ordered))]


def _step_of(stacked: Any, number: int, visitor: Visitor) -> Any:
    """Index `number` along the first axis."""
    if isinstance(stacked, Weight) and stacked.order[0] == 0:
        block = Block(stacked.block.leaf, (*stacked.block.index, number))
        return Weight(block, tuple(axis - 1 for axis in stacked.order[1:]), stacked.shape[1:])
    if isinstance(stacked, Sum | Multiple):
        return _spread(stacked, lambda part: _step_of(part, number, visitor))
    return _value(stacked, visitor)[number]


def _spread(symbol: Sum | Multiple, change: Callable[[Any], Any]) -> Sum | Multiple:
    """The sum of changed terms, or the multiple of a changed weight."""
    if isinstance(symbol, Multiple):
        changed = change(symbol.weight)
        return Multiple(symbol.factor, changed, jnp.shape(changed))
    terms = tuple(map(change, symbol.terms))
    return Sum(terms, jnp.shape(terms[0]))


def _slice(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    (stacked,), given = operands, equation.params
    first, *others = zip(given["start_indices"], given["limit_indices"], stacked.shape)
    if first[1] - first[0] != 1 or any(limit - start != size for start, limit, size in others):
        return None
    one = _step_of(stacked, first[0], evaluation.visitor)
    return [Step(one, equation.outvars[0].aval.shape)] if isinstance(one, SYMBOLS) else [one[None]]


def _squeeze(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    (step,) = operands
    fits = isinstance(step, Step) and equation.params["dimensions"] == (0,)
    return [step.weight] if fits else None


def _add(sign: int) -> _Rule:
    def rule(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
        left, right = operands
        shape = equation.outvars[0].aval.shape
        if not all(isinstance(each, SYMBOLS) and each.shape == shape for each in operands):
            return None
        return [Sum((left, Multiple(sign, right, shape) if sign < 0 else right), shape)]

    return rule


def _multiply(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    """By a number, from either side."""
    for weight, factor in (operands, operands[::-1]):
        if not isinstance(factor, SYMBOLS) and jnp.ndim(factor) == 0:
            return [Multiple(factor, weight, weight.shape)]
    return None


def _divide(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    weight, divisor = operands
    if isinstance(divisor, SYMBOLS) or jnp.ndim(divisor):
        return None
    return [Multiple(1 / jnp.asarray(divisor), weight, weight.shape)]


def _negate(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any]:
    return [Multiple(-1, operands[0], operands[0].shape)]


def _transpose(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    if isinstance(operands[0], Step):
        return None
    return [_transposed(operands[0], equation.params["permutation"])]


def _transposed(symbol: Symbol, order: tuple[int, ...]) -> Symbol:
    shape = tuple(symbol.shape[axis] for axis in order)
    if isinstance(symbol, Fixed):
        return Fixed(jnp.transpose(symbol.array, order))
    if isinstance(symbol, Weight):
        return Weight(symbol.block, tuple(symbol.order[axis] for axis in order), shape)
    if isinstance(symbol, Sum | Multiple):
        return _spread(symbol, lambda part: _transposed(part, order))
    if order == (0, 1):
        return symbol
    assert isinstance(symbol, Product)
    left, right = _transposed(symbol.right, (1, 0)), _transposed(symbol.left, (1, 0))
    return Product(left, right, shape, symbol.options)


def _dot(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    (contracted, batched), out = equation.params["dimension_numbers"], equation.outvars[0].aval
    left, right = operands
    if any(batched):
        return None
    options = {name: equation.params[name] for name in ("precision", "preferred_element_type")}
    if isinstance(left, SYMBOLS) and isinstance(right, SYMBOLS):
        both_fixed = isinstance(left, Fixed) and isinstance(right, Fixed)
        if both_fixed or not len(left.shape) == len(right.shape) == 2 or len(contracted[0]) != 1:
            return None
        outer = left if contracted[0] == (1,) else _transposed(left, (1, 0))
        inner = right if contracted[1] == (0,) else _transposed(right, (1, 0))
        return [Product(outer, inner, out.shape, options)]
    weight_first = isinstance(left, SYMBOLS)
    weight, data = operands if weight_first else operands[::-1]
    ends, others = contracted if weight_first else contracted[::-1]
    product = _meet(evaluation.visitor, data, tuple(others), weight, tuple(ends), options)
    if weight_first:
        free = data.ndim - len(others)
        product = jnp.moveaxis(product, range(free), range(product.ndim - free, product.ndim))
    return [product]


def _meet(
    visitor: Visitor,
    data: Any,
    data_axes: tuple[int, ...],
    weight: Any,
    weight_axes: tuple[int, ...],
    options: Any,
) -> Array:
    """Data times a weight: free axes of the data, then those of the weight."""
    if isinstance(weight, Sum):
        parts = [
            _meet(visitor, data, data_axes, term, weight_axes, options) for term in weight.terms
        ]
        return sum(parts[1:], parts[0])
    if isinstance(weight, Multiple):
        product = _meet(visitor, data, data_axes, weight.weight, weight_axes, options)
        return (weight.factor * product).astype(product.dtype)
    if isinstance(weight, Product):
        if weight_axes == (1,):
            weight, weight_axes = _transposed(weight, (1, 0)), (0,)
        if weight_axes == (0,):
            between = _meet(visitor, data, data_axes, weight.left, (0,), options)
            return _meet(visitor, between, (between.ndim - 1,), weight.right, (0,), options)
    if isinstance(weight, Weight):
        return _meet_block(visitor, data, data_axes, weight, weight_axes, options)
    value = _value(weight, visitor)
    return jax.lax.dot_general(data, value, ((data_axes, weight_axes), ((), ())), **options)


def _meet_block(
    visitor: Visitor,
    data: Array,
    data_axes: tuple[int, ...],
    weight: Weight,
    weight_axes: tuple[int, ...],
    options: Any,
) -> Array:
    """The use of a block as a matrix, whose axes are in the block's own order."""
    pairs = sorted((weight.order[there], here) for here, there in zip(data_axes, weight_axes))
    ends = tuple(axis for axis, _ in pairs)
    free = tuple(axis for axis in range(len(weight.order)) if axis not in ends)
    size = dict(zip(weight.order, weight.shape))
    shape = math.prod(size[axis] for axis in ends), math.prod(size[axis] for axis in free)
    positions = [axis for axis in range(data.ndim) if axis not in data_axes]
    rows = jnp.transpose(data, [*positions, *(axis for _, axis in pairs)]).reshape(-1, shape[0])
    matrix = jnp.transpose(visitor.factor(weight.block), (*ends, *free)).reshape(shape)
    product = jax.lax.dot_general(rows, matrix, (((1,), (0,)), ((), ())), **options)
    used = visitor.use(weight.block, Use("rows", ends, *shape), rows, product)
    spread = used.reshape([data.shape[axis] for axis in positions] + [size[axis] for axis in free])
    leading = len(positions)
    wanted = [leading + free.index(axis) for axis in weight.order if axis not in ends]
    return jnp.transpose(spread, [*range(leading), *wanted])


def _convolve(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    """A convolution whose filter is a weight: the data's patches times a matrix."""
    data, weight = operands
    given = equation.params
    if isinstance(data, SYMBOLS) or not isinstance(weight, Weight):
        return None
    if given["feature_group_count"] != 1 or given["batch_group_count"] != 1:
        return None
    lhs, rhs, out = given["dimension_numbers"]
    window = tuple(weight.shape[axis] for axis in rhs[2:])
    patches = jax.lax.conv_general_dilated_patches(
        data,
        window,
        given["window_strides"],
        given["padding"],
        lhs_dilation=given["lhs_dilation"],
        rhs_dilation=given["rhs_dilation"],
        dimension_numbers=jax.lax.ConvDimensionNumbers(lhs, rhs, out),
        precision=jax.lax.Precision.HIGHEST,
    )
    visitor = evaluation.visitor
    value = jnp.transpose(visitor.factor(weight.block), weight.order)
    product = equation.primitive.bind(data, value, **equation.primitive.get_bind_params(given))
    rows = jnp.moveaxis(patches, out[1], -1)
    flat = jnp.moveaxis(product, out[1], -1)
    use = Use("patches", (weight.order, rhs), rows.shape[-1], flat.shape[-1])
    tapped = visitor.use(
        weight.block, use, rows.reshape(-1, rows.shape[-1]), flat.reshape(-1, flat.shape[-1])
    )
    return [jnp.moveaxis(tapped.reshape(flat.shape), -1, out[1])]


def _look_up(evaluation: _Evaluation, equation: Any, operands: list[Any]) -> list[Any] | None:
    """Rows of a table, one per token."""
    table, tokens = operands
    given = equation.params["dimension_numbers"]
    offsets = tuple(range(len(jnp.shape(tokens)) - 1, len(equation.outvars[0].aval.shape)))
    plain = (
        isinstance(table, Weight)
        and not isinstance(tokens, SYMBOLS)
        and table.order == tuple(range(len(table.order)))
        and given.start_index_map == given.collapsed_slice_dims == (0,)
        and given.offset_dims == offsets
        and not given.operand_batching_dims
        and equation.params["slice_sizes"][1:] == table.shape[1:]
    )
    if not plain:
        return None
    visitor = evaluation.visitor
    options = equation.primitive.get_bind_params(equation.params)
    rows = equation.primitive.bind(visitor.factor(table.block), tokens, **options)
    places = jnp.asarray(tokens).reshape(-1)
    if equation.params["mode"] == jax.lax.GatherScatterMode.CLIP:
        places = jnp.clip(places, 0, table.shape[0] - 1)
    width = math.prod(table.shape[1:])
    use = Use("tokens", (0,), table.shape[0], width)
    return [visitor.use(table.block, use, places, rows.reshape(-1, width)).reshape(rows.shape)]


_RULES: dict[str, _Rule] = {
    "jit": _called("jaxpr"),
    "pjit": _called("jaxpr"),
    "closed_call": _called("call_jaxpr"),
    "checkpoint": _called("jaxpr"),
    "scan": _scan,
    "add": _add(1),
    "sub": _add(-1),
    "mul": _multiply,
    "div": _divide,
    "neg": _negate,
    "transpose": _transpose,
    "slice": _slice,
    "squeeze": _squeeze,
    "dot_general": _dot,
    "conv_general_dilated": _convolve,
    "gather": _look_up,
}


def _value(symbol: Any, visitor: Visitor) -> Any:
    """A symbol as an array."""
    if isinstance(symbol, Fixed):
        return symbol.array
    if isinstance(symbol, Weight):
        return jnp.transpose(visitor.value(symbol.block), symbol.order)
    if isinstance(symbol, Sum):
        terms = [_value(term, visitor) for term in symbol.terms]
        return sum(terms[1:], terms[0])
    if isinstance(symbol, Multiple):
        value = _value(symbol.weight, visitor)
        return (symbol.factor * value).astype(value.dtype)
    if isinstance(symbol, Step):
        return _value(symbol.weight, visitor)[None]
    if isinstance(symbol, Product):
        left, right = _value(symbol.left, visitor), _value(symbol.right, visitor)
        return jax.lax.dot_general(left, right, (((1,), (0,)), ((), ())), **symbol.options)
    return symbol
