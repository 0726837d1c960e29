"""Equinox and Flax modules as functions `model(params, x)` of one input.

Flax is an extra: `pip install 'theorysim[flax]'`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
from jaxtyping import Array, PyTree


class Functional(NamedTuple):
    """A model as a function of its parameters and one input, and its parameters."""

    model: Callable[[Any, Any], Array]
    params: PyTree[Array]


def from_equinox(module: Any) -> Functional:
    """Parameters are all floating-point arrays of the module, which is called as `module(x)`."""
    params, static = eqx.partition(module, eqx.is_inexact_array)
    return Functional(lambda params, x: eqx.combine(params, static)(x), params)


def from_linen(module: Any, variables: Any) -> Functional:
    """A Flax linen module; parameters are `variables["params"]`, other collections are frozen."""
    _flax("linen")
    frozen = {name: part for name, part in variables.items() if name != "params"}
    return Functional(
        lambda params, x: module.apply({"params": params, **frozen}, x), variables["params"]
    )


def from_nnx(module: Any) -> Functional:
    """A Flax nnx module; parameters are its `nnx.Param` variables, other state is frozen."""
    nnx = _flax("nnx")
    graph, params, rest = nnx.split(module, nnx.Param, ...)

    def model(params: Any, x: Any) -> Array:
        return nnx.merge(graph, params, rest)(x)

    return Functional(model, nnx.to_pure_dict(params))


def _flax(part: str) -> Any:
    try:
        return importlib.import_module(f"flax.{part}")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"models of flax.{part} need Flax: pip install 'theorysim[flax]'", name=error.name
        ) from error
