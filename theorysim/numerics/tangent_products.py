"""Tangent kernels as operators: products with vectors, the trace and the top of the spectrum.

The kernel K = J J^T of n inputs with k outputs is that of `empirical_ntk`, neither halved nor
averaged, but is never held: a product with a vector v is one gradient, J^T v, and one directional
derivative of it. Memory does not grow with n^2, and is that of `batch` inputs at a time.

Source: Novak, Sohl-Dickstein, Schoenholz, ICML 2022 (products); Lehoucq, Sorensen, Yang, "ARPACK
Users' Guide", 1998 (the implicitly restarted Lanczos method, by way of SciPy).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree
from scipy.sparse.linalg import LinearOperator, eigsh

from theorysim.numerics.tangent_kernels import Model

BATCH = 256
"""Inputs that are differentiated at a time"""


def kernel_product(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    vector: Float[Array, "n *output"],
    *,
    batch: int = BATCH,
) -> Float[Array, "n *output"]:
    """K v for a vector over all inputs and outputs.

    Args:
        model: `model(params, x)` for one input.
        params: any pytree of floating-point arrays.
        inputs: inputs, stacked along a leading axis.
        vector: one entry for every output of every input.
        batch: how many inputs to differentiate at a time.

    Raises:
        ValueError: for a vector of another shape.
    """
    wanted = _outputs(model, params, inputs)
    if vector.shape != wanted:
        raise ValueError(
            f"a vector of shape {vector.shape}: pass one entry for each output of each input, "
            f"{wanted}"
        )
    return _product(model, params, inputs, vector, batch)


def kernel_trace(
    model: Model, params: PyTree[Array], inputs: PyTree[Array], *, batch: int = BATCH
) -> Float[Array, " n"]:
    """What every input adds to the trace of K: its k diagonal entries, summed.

    Args are those of `kernel_product`; it costs k gradients an input.
    """
    return _traces(model, params, inputs, batch)


def top_of_spectrum(
    model: Model,
    params: PyTree[Array],
    inputs: PyTree[Array],
    count: int,
    *,
    batch: int = BATCH,
    seed: int = 0,
) -> tuple[Float[np.ndarray, " count"], Float[np.ndarray, "nk count"]]:
    """The largest eigenvalues of K, falling, and their eigenvectors over (input, output).

    Found by the Lanczos method to the precision of the inputs, from a random start.

    Args:
        model, params, inputs, batch: as of `kernel_product`.
        count: how many, fewer than K has rows.
        seed: of the start.

    Raises:
        ValueError: for a count that is not between 1 and the rows of K less 1.
    """
    shape = _outputs(model, params, inputs)
    rows = math.prod(shape)
    if not 0 < count < rows:
        raise ValueError(f"count = {count}: pass 1 to {rows - 1}, fewer than the {rows} rows")
    dtype = jnp.result_type(*jax.tree.leaves(params))

    def product(vector: np.ndarray) -> np.ndarray:
        given = jnp.asarray(vector, dtype).reshape(shape)
        return np.asarray(_product(model, params, inputs, given, batch)).ravel()

    # The stubs know the constructor of subclasses only.
    kernel = LinearOperator((rows, rows), matvec=product, dtype=np.dtype(dtype))  # pyright: ignore
    start = np.random.default_rng(seed).standard_normal(rows).astype(dtype)
    values, vectors = eigsh(kernel, count, which="LA", v0=start)
    return values[::-1], vectors[:, ::-1]


def _outputs(model: Model, params: Any, inputs: Any) -> tuple[int, ...]:
    """The shape of all outputs."""
    return jax.eval_shape(jax.vmap(partial(model, params)), inputs).shape


@partial(jax.jit, static_argnums=(0, 4))
def _product(model: Model, params: Any, inputs: Any, vector: Array, batch: int) -> Array:
    def pulled(pair: tuple) -> Any:
        x, weights = pair
        return jax.vjp(lambda p: model(p, x), params)[1](weights)[0]

    def pushed(x: Any) -> Array:
        return jax.jvp(lambda p: model(p, x), (params,), (gradient,))[1]

    gradient = _summed(pulled, (inputs, vector), batch)
    return jax.lax.map(pushed, inputs, batch_size=batch)


def _summed(function: Any, rows: Any, batch: int) -> Any:
    """The sum over rows, of which only a batch is held at once."""
    count = jax.tree.leaves(rows)[0].shape[0]
    whole = count - count % batch
    blocks = jax.tree.map(lambda a: a[:whole].reshape(-1, batch, *a.shape[1:]), rows)

    def of(block: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf.sum(axis=0), jax.vmap(function)(block))

    def add(total: Any, block: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, of(block)), None

    rest = of(jax.tree.map(lambda a: a[whole:], rows))
    return jax.lax.scan(add, rest, blocks)[0]


@partial(jax.jit, static_argnums=(0, 3))
def _traces(model: Model, params: Any, inputs: Any, batch: int) -> Array:
    def trace(x: Any) -> Array:
        output, pull_back = jax.vjp(lambda p: jnp.ravel(model(p, x)), params)
        gradients = jax.vmap(pull_back)(jnp.eye(output.size, dtype=output.dtype))
        return sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(gradients))  # type: ignore[return-value]

    return jax.lax.map(trace, inputs, batch_size=batch)
