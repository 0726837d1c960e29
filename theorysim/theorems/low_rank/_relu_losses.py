"""Losses of ReLU students in closed form, for u^ orthogonal to the features, whatever c^ is."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.numerics.gaussian import relu
from theorysim.theorems.low_rank._online import Task

HALVINGS = 60  # of the bracket of the multiplier; single precision has 24 binary digits


def _products(
    task: Task, left: Float[Array, " k"], right: Float[Array, " k"], overlap: Array, mean: Callable
) -> tuple[Float[Array, "k k"], Float[Array, "k k"]]:
    """Lengths' products and `mean` of the cosines of (w_i + xi left_i u), (w_j + xi right_j u^)."""
    square = task.scale**2
    inner = task.features @ task.features.T + square * jnp.outer(left, right) * overlap
    lengths = jnp.sqrt(jnp.outer(1 + square * left**2, 1 + square * right**2))
    return lengths, mean(inner / lengths)


def _root(task: Task) -> Array:
    return 1 + task.scale**2 / task.readout.shape[0]


def student_loss(task: Task, overlap: Array, coefficients: Float[Array, " k"]) -> Float[Array, ""]:
    """E (f* - f^)^2 of the student with this <u^, u> and c^."""

    def inner(left: Array, right: Array, m: Array) -> Array:
        lengths, duals = _products(task, left, right, m, relu().dual)
        return task.readout @ (lengths * duals) @ task.readout

    one, c, own = jnp.ones(()), task.teacher, coefficients
    whole = inner(c, c, one) + inner(own, own, one) - 2 * inner(c, own, overlap)
    return whole / _root(task)


def linearised_floor(task: Task) -> Float[Array, ""]:
    """The least loss of a linearised student, over all unit c^ and all u^ off the features.

    It is E (f* - f_0)^2 - 2 <v, b> + b^T K b at u^ = u, with b = xi c^ / sqrt(A) of length beta,
    K_ij = lambda_i lambda_j g(G_ij) and v_i = sum_j lambda_i lambda_j xi c_j g(cos(w_i, v_j)) /
    sqrt(A): at its least (K + t) b = v with the t > -min spec K for which |b| = beta.
    """
    nothing = jnp.zeros_like(task.teacher)
    signs = jnp.outer(task.readout, task.readout)
    _, crossed = _products(task, nothing, task.teacher, jnp.ones(()), relu().tangent)
    _, own = _products(task, nothing, nothing, jnp.ones(()), relu().tangent)
    beta = task.scale / jnp.sqrt(_root(task))
    spectrum, basis = jnp.linalg.eigh(signs * own)
    pull = basis.T @ ((signs * crossed) @ task.teacher) * beta

    def solution(shift: Array) -> Array:
        return pull / (spectrum - spectrum[0] + shift)

    def halve(_: int, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = jnp.sqrt(low * high)
        is_long = jnp.linalg.norm(solution(middle)) > beta
        return jnp.where(is_long, middle, low), jnp.where(is_long, high, middle)

    # |pull_0| / shift <= |b| <= |pull| / shift
    ends = jnp.abs(pull[0]) / beta, jnp.linalg.norm(pull) / beta
    b = solution(jax.lax.fori_loop(0, HALVINGS, halve, ends)[1])
    base = student_loss(task, jnp.ones(()), nothing)
    return base - 2 * pull @ b + spectrum @ b**2
