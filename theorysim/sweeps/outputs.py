"""What a cell returns, as named arrays with dimensions, and whether it diverged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from theorysim.errors import UsageError
from theorysim.sweeps.grid import KEY, SEED, Grid
from theorysim.sweeps.statistics import ENDINGS, NO_STATISTICS, QUANTILE, Statistics

DIVERGED = "diverged"
# The variable of a function that returns one bare array and has no name of its own.
BARE = "value"


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Picked:
    """A column of which the value at a cell's place was picked before."""

    value: Array

    def __getitem__(self, place: Any) -> Array:
        return self.value


Position = tuple[Int[Array, ""], ...]
Columns = tuple[dict[str, Array | Picked], ...]
Cell = Callable[[Position, Columns], dict[str, Array]]


@dataclass(frozen=True)
class Variable:
    """An output of the sweep: its own dimensions follow those of the grid.

    `shape` is the largest over the sizes; where a size gives less, the rest is NaN.
    """

    name: str
    dtype: np.dtype
    dims: tuple[str, ...]
    shape: tuple[int, ...]


def cell_function(f: Callable[..., Any], grid: Grid, index: int, sizes: Mapping[str, int]) -> Cell:
    """One cell of the grid as a function of its position and the columns of the axes.

    `index` is the index of the combination of sizes.
    """
    name, seeds = _name(f), grid.seeds

    def call(position: Position, columns: Columns, seed: Array | None = None) -> dict[str, Array]:
        arguments = {
            argument: values[place]
            for place, column in zip(position, columns)
            for argument, values in column.items()
        }
        if seeds is not None and seed is not None:
            arguments[KEY] = seeds.key(seed, index, grid.point_index(position))
        return named_leaves(f(**arguments, **sizes), name)

    def cell(position: Position, columns: Columns) -> dict[str, Array]:
        if seeds is None:
            found = call(position, columns)
        elif not seeds.statistics:
            found = call(position[:-1], columns, position[-1])
        else:
            every = jax.vmap(lambda seed: call(position, columns, seed))(jnp.arange(seeds.count))
            diverged = jnp.sum(jax.vmap(_diverged)(every), dtype=jnp.int32)
            every.pop(DIVERGED, None)
            return {**seeds.statistics.of(every), DIVERGED: diverged}
        return {**found, DIVERGED: _diverged(found)}

    return cell


def _name(f: Callable) -> str:
    name = getattr(f, "__name__", BARE)
    return name if name.isidentifier() else BARE


def named_leaves(tree: Any, bare: str) -> dict[str, Array]:
    """The arrays of a tree by their path, `bare` where the tree is one array."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    named = {
        jax.tree_util.keystr(path, simple=True, separator=".") or bare: jnp.asarray(leaf)
        for path, leaf in leaves
    }
    if len(named) < len(leaves):
        raise UsageError(f"two outputs have the same name; the names are {list(named)}")
    for name in named:
        if "/" in name:
            raise UsageError(f"output {name!r}: a name must not contain a slash")
    if not named:
        raise UsageError("the function returns no array")
    return named


def _diverged(found: Mapping[str, Array]) -> Array:
    """Whether a float is not finite, unless the function says itself what divergence is."""
    if DIVERGED in found:
        return jnp.any(found[DIVERGED])
    floats = [v for v in found.values() if jnp.issubdtype(v.dtype, jnp.inexact)]
    return ~jnp.all(jnp.asarray([jnp.all(jnp.isfinite(v)) for v in floats], bool))


def variables(
    shapes: Sequence[Mapping[str, jax.ShapeDtypeStruct]],
    grid: Grid,
    dims: Mapping[str, Sequence[str]],
) -> tuple[Variable, ...]:
    """The outputs over all sizes from the shapes that each of them gives.

    Raises:
        UsageError: where the sizes change an output's name, type or number of dimensions, or a
            name is taken.
    """
    statistics = grid.seeds.statistics if grid.seeds else NO_STATISTICS
    for other in shapes[1:]:
        if _kinds(other) != _kinds(shapes[0]):
            raise UsageError(f"sizes change the outputs from {shapes[0]} to {other}")
    unknown = set(dims) - {_stem(name) for name in shapes[0]} - set(shapes[0])
    if unknown:
        raise UsageError(f"dims names {min(unknown)!r}; outputs are {list(shapes[0])}")
    found = tuple(
        _variable(name, [other[name] for other in shapes], statistics, dims) for name in shapes[0]
    )
    axes = {name for axis in (*grid.sizes, *grid.axes) for name in (axis.name, *axis.columns)}
    for variable in found:
        taken = {variable.name, *variable.dims} & {*axes, SEED}
        if taken:
            raise UsageError(
                f"output {variable.name!r} clashes with the axis {min(taken)!r}: rename one"
            )
    return found


def example_arguments(grid: Grid) -> tuple[tuple, tuple]:
    """Shapes of a position and of the columns that a cell takes."""
    place = jax.ShapeDtypeStruct((), np.int32)
    columns = jax.tree.map(
        lambda c: jax.ShapeDtypeStruct(c.shape, jax.dtypes.canonicalize_dtype(c.dtype)),
        grid.columns(),
    )
    return (place,) * len(grid.shape), columns


def _kinds(shapes: Mapping[str, jax.ShapeDtypeStruct]) -> dict[str, tuple]:
    return {name: (shape.dtype, len(shape.shape)) for name, shape in shapes.items()}


def _stem(name: str) -> str:
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def _variable(
    name: str,
    shapes: Sequence[jax.ShapeDtypeStruct],
    statistics: Statistics,
    dims: Mapping[str, Sequence[str]],
) -> Variable:
    every = [shape.shape for shape in shapes]
    largest = tuple(max(lengths) for lengths in zip(*every))
    dtype = np.dtype(shapes[0].dtype)
    if dtype.kind not in "fc" and len(set(every)) > 1:
        raise UsageError(
            f"sizes change the shape of {name!r}, which cannot be padded with NaN: make it a float"
        )
    own = len(largest)
    by_quantile = statistics.quantiles and name.endswith(f"_{QUANTILE}")
    own -= bool(by_quantile)
    given = dims.get(name, dims.get(_stem(name), ()))
    given = (given,) if isinstance(given, str) else tuple(given)
    if given and len(given) != own:
        raise UsageError(
            f"dims of {name!r}: expected one name for each of its own dimensions, {own} in all, "
            f"but {list(given)} arrived"
        )
    names = given or tuple(f"{_stem(name)}_{i}" for i in range(own))
    return Variable(name, dtype, (*names, QUANTILE) if by_quantile else names, largest)
