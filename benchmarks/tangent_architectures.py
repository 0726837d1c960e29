"""Empirical tangent kernels of convolutions, transformers and adapters: this package, the Jacobian.

The models are those of `benchmarks/architectures.py`. The Jacobian is vmap(jacrev) of all
parameters, then J J^T. Errors are relative to the largest entry of the kernel from the Jacobian in
float64.

The longer the sequences are beside the width, the less is gained: by factors the work of a pair of
inputs for the weight of a dense layer grows with positions^2 times width, by rows with width^2, as
in the Jacobian. Of long sequences the rows are made, and what is gained is a copy of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from benchmarks import architectures
from benchmarks.race import Row, called, race, with_error
from theorysim import empirical_ntk


def rows(quick: bool) -> Iterator[Row]:
    """Ours against the Jacobian, in float32."""
    for name, model, params, inputs in architectures.cases(quick):
        jacobian = partial(architectures.from_jacobian, model)
        with jax.enable_x64(True):
            truth = jax.jit(jacobian)(*map(_doubled, (params, inputs)))
        contenders = [
            with_error(called(which, partial(kernel, params, inputs)), truth)
            for which, kernel in (
                (f"empirical_ntk, {name}", partial(empirical_ntk, model)),
                ("Jacobian", jax.jit(jacobian)),
            )
        ]
        parameters = sum(leaf.size for leaf in jax.tree.leaves(params))
        size = {"parameters": parameters, "inputs": len(inputs)}
        yield from race(*contenders, size=size, unit="kernel", dtype="float32")


def _doubled(tree: Any) -> Any:
    """In float64; integers stay."""

    def doubled(leaf: Array) -> Array:
        return leaf.astype("float64") if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf

    return jax.tree.map(doubled, tree)
