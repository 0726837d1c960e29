"""Largest eigenvalues of symmetric operators known by their products with vectors: Lanczos.

The basis is orthogonalised in full, so no spurious copies of converged eigenvalues appear, and
every value comes with a residual: an eigenvalue of the operator lies within that distance of it
(up to rounding). A single start sees one direction of each eigenspace. An eigenvalue that is
repeated is therefore found once, until the Krylov space is exhausted and a fresh start follows.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from theorysim.numerics.products import dot


class Ritz(NamedTuple):
    """Approximate eigenvalues, largest first, and what is known of their errors."""

    eigenvalues: Float[Array, " count"]
    residuals: Float[Array, " count"]
    """||A v - value v|| for the unit Ritz vector v: some eigenvalue of A is that near"""


def top_eigenvalues(
    operator: Callable[[Float[Array, " n"]], Float[Array, " n"]],
    start: Float[Array, " n"],
    count: int,
    *,
    iterations: int,
    key: PRNGKeyArray,
) -> Ritz:
    """The `count` algebraically largest eigenvalues of a symmetric operator on vectors.

    Args:
        operator: v -> A v, A symmetric.
        start: a vector with a part in the wanted eigenspaces, such as a Gaussian one.
        count: how many eigenvalues.
        iterations: products with A, between `count` and n; at n the spectrum is complete.
        key: for the fresh directions after the Krylov space is exhausted.

    Raises:
        ValueError: unless 1 <= count <= iterations <= n.
    """
    if not 1 <= count <= iterations <= start.size:
        raise ValueError(
            f"need 1 <= count <= iterations <= size, got count = {count}, "
            f"iterations = {iterations}, size = {start.size}"
        )
    diagonal, off = _tridiagonalise(operator, start, iterations, key)
    inner = off[:-1]
    ritz, vectors = jnp.linalg.eigh(jnp.diag(diagonal) + jnp.diag(inner, 1) + jnp.diag(inner, -1))
    residuals = jnp.abs(off[-1] * vectors[-1])
    return Ritz(ritz[::-1][:count], residuals[::-1][:count])


def top_hessian_eigenvalues(
    loss: Callable[[PyTree[Array]], Float[Array, ""]],
    params: PyTree[Array],
    count: int,
    *,
    iterations: int,
    key: PRNGKeyArray,
) -> Ritz:
    """Largest eigenvalues of the Hessian of a loss, by Hessian-vector products.

    Arguments, result and errors as for `top_eigenvalues`; the start is Gaussian.
    """
    flat, unravel = ravel_pytree(params)
    slope = jax.grad(lambda vector: loss(unravel(vector)))
    first, later = jax.random.split(key)
    return top_eigenvalues(
        lambda vector: jax.jvp(slope, (flat,), (vector,))[1],
        jax.random.normal(first, flat.shape, flat.dtype),
        count,
        iterations=iterations,
        key=later,
    )


def _tridiagonalise(
    operator: Callable, start: Float[Array, " n"], iterations: int, key: PRNGKeyArray
) -> tuple[Float[Array, " iterations"], Float[Array, " iterations"]]:
    """Diagonal and lower diagonal of A in the Lanczos basis; the last entry below leads out."""
    eps = jnp.finfo(start.dtype).eps

    def step(state: tuple, j: Array) -> tuple[tuple, tuple]:
        basis, scale = state
        image = operator(basis[j])
        diagonal = dot(basis[j], image)
        onward = _outside(basis, image)
        off = jnp.linalg.norm(onward)
        scale = jnp.maximum(scale, jnp.maximum(jnp.abs(diagonal), off))
        # Below the rounding of the product nothing new is left: A maps the basis into itself.
        exhausted = off <= start.size * eps * scale
        onward = jax.lax.cond(
            exhausted,
            lambda: _outside(
                basis, jax.random.normal(jax.random.fold_in(key, j), start.shape, start.dtype)
            ),
            lambda: onward,
        )
        basis = basis.at[j + 1].set(onward / jnp.linalg.norm(onward))
        return (basis, scale), (diagonal, jnp.where(exhausted, 0, off))

    empty = jnp.zeros((iterations + 1, start.size), start.dtype)
    begin = (empty.at[0].set(start / jnp.linalg.norm(start)), jnp.zeros((), start.dtype))
    return jax.lax.scan(step, begin, jnp.arange(iterations))[1]


def _outside(basis: Float[Array, "k n"], vector: Float[Array, " n"]) -> Float[Array, " n"]:
    """The part of a vector orthogonal to the rows of a basis."""
    for _ in range(2):  # one pass leaves eps ||vector||, which may exceed what is left
        vector = vector - dot(dot(basis, vector), basis)
    return vector
