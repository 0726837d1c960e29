"""Rank-one fine-tuning of a frozen two-layer network, by stochastic gradient descent on a sphere.

A network with neurons V (rows) computes sum_i readout_i s(<V_i, x>). Its base has the unit rows
w_i; the teacher perturbs them by a rank-one matrix,

    v_i = (w_i + scale c_i u^T) / sqrt(A),    A = 1 + scale^2 / k,

and the student has its own frozen signs c^ in place of c and learns a unit vector u^ in place of u,
both orthogonal to all w_i; c and c^ are in {+-1/sqrt(k)}^k, so that all neurons have length one.
The loss of a sample x ~ N(0, I_d) is (teacher(x) - student(x))^2: not halved, not averaged. A
network without the division is one with the activation a -> s(sqrt(A) a).

Source: Dayi, Chen, "Gradient dynamics for low-rank fine-tuning beyond kernels", arXiv 2411.15385,
Eqs. 2 to 4 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from theorysim.numerics.checks import when_known
from theorysim.numerics.descent import descend
from theorysim.numerics.products import dot
from theorysim.numerics.random import normal


class RankOne(NamedTuple):
    """Unit rows w_i of any length r (only their Gram matrix matters), readout, c, c^ and scale.

    Orthonormal rows may be left out (None) where nothing but their Gram matrix is asked for.
    """

    features: Any
    readout: Float[Array, " k"]
    teacher: Float[Array, " k"]
    student: Float[Array, " k"]
    scale: Float[Array, ""]


def from_signs(
    features: Float[Array, "k r"],
    readout: Float[Array, " k"],
    teacher_signs: Float[Array, " k"],
    student_signs: Float[Array, " k"],
    scale: Any,
) -> RankOne:
    """The problem with c = teacher_signs / sqrt(k) and c^ = student_signs / sqrt(k)."""
    root = jnp.sqrt(jnp.asarray(features.shape[0], features.dtype))
    return RankOne(
        features, readout, teacher_signs / root, student_signs / root, jnp.asarray(scale)
    )


def square_length(problem: RankOne) -> Float[Array, ""]:
    """A = 1 + scale^2 / k."""
    return 1 + jnp.square(problem.scale) / problem.readout.shape[0]


def gram(problem: RankOne) -> Float[Array, "k k"]:
    """G = W W^T."""
    if problem.features is None:
        return jnp.eye(problem.readout.shape[0], dtype=problem.readout.dtype)
    return dot(problem.features, problem.features.T)


def neurons(
    problem: RankOne, coefficients: Float[Array, " k"], direction: Float[Array, " r"]
) -> Float[Array, "k r"]:
    """(w_i + scale c_i u) / sqrt(A)."""
    moved = problem.features + problem.scale * coefficients[:, None] * direction[None]
    return moved / jnp.sqrt(square_length(problem))


def network(
    activation: Callable, rows: Float[Array, "k r"], readout: Float[Array, " k"], x: Array
) -> Array:
    """sum_i readout_i s(<rows_i, x>)."""
    return jnp.sum(readout * activation(dot(rows, x)))


def output(
    problem: RankOne,
    activation: Callable,
    coefficients: Float[Array, " k"],
    inside: Float[Array, " k"],
    along: Float[Array, ""],
) -> Float[Array, ""]:
    """sum_i readout_i s(<v_i, x>) of an input with W x and <u, x>, for the coefficients c."""
    root = jnp.sqrt(square_length(problem))
    rows = (inside + problem.scale * coefficients * along) / root
    return jnp.sum(problem.readout * activation(rows))


def sample_loss(
    problem: RankOne,
    activation: Callable,
    truth: Float[Array, " r"],
    student: tuple[Float[Array, " r"], Float[Array, " k"]],
    x: Float[Array, " r"],
) -> Float[Array, ""]:
    """(teacher(x) - student(x))^2 for a student's (direction, coefficients).

    Both see W x, which is formed once; neurons times x takes six times as long at d = 1024.
    """
    inside, (direction, coefficients) = dot(problem.features, x), student
    goal = output(problem, activation, problem.teacher, inside, dot(truth, x))
    return jnp.square(goal - output(problem, activation, coefficients, inside, dot(direction, x)))


def outside(
    features: Float[Array, "k d"], vector: Float[Array, " d"], basis: Array | None = None
) -> Float[Array, " d"]:
    """The part of a vector orthogonal to all features, projected twice for its digits."""
    q = jnp.linalg.qr(features.T)[0] if basis is None else basis
    for _ in range(2):
        vector = vector - dot(q, dot(q.T, vector))
    return vector


def spherical_gradient(
    loss: Callable, features: Float[Array, "k d"], here: Float[Array, " d"]
) -> Float[Array, " d"]:
    """The gradient of a loss of u^, off the features and tangent to the sphere (Section 1.2.2)."""
    slope = outside(features, jax.grad(loss)(here))
    return slope - here * jnp.dot(here, slope)


def unit(vector: Float[Array, " n"]) -> Float[Array, " n"]:
    """The vector divided by its length."""
    return vector / jnp.linalg.norm(vector)


def sphere_step(learning_rate: Any, project: Callable = lambda slope: slope) -> Any:
    """An optax transformation: u <- proj(u - eta (I - u u^T) P grad), P = `project` (Eq. 4)."""

    def init(params: Any) -> optax.EmptyState:
        return optax.EmptyState()

    def update(updates: PyTree, state: Any, params: Any = None) -> tuple[PyTree, Any]:
        def move(slope: Array, vector: Array) -> Array:
            tangent = project(slope)
            tangent = tangent - vector * dot(vector, tangent)
            return unit(vector - learning_rate * tangent) - vector

        return jax.tree.map(move, updates, params), state

    return optax.GradientTransformation(init, update)


def train(
    problem: RankOne,
    activation: Callable,
    truth: Float[Array, " d"],
    start: Float[Array, " d"],
    learning_rate: Any,
    steps: int,
    key: PRNGKeyArray,
    *,
    coefficient_rate: Any = 0.0,
    project: bool = True,
    every: int = 1,
) -> tuple[Float[Array, "records d"], Float[Array, "records k"]]:
    """Directions and coefficients along online SGD in d dimensions, a fresh sample every step.

    `sample_loss` is differentiated automatically. Coefficients stay on their sphere; at a rate of 0
    they are frozen. `project=False` lets u^ leave the complement of the features.

    Returns:
        The start and every `every`-th state of u^ and c^.

    Raises:
        ValueError: as `check`, where problem and truth are known.
    """
    when_known(check, problem, truth)
    basis = jnp.linalg.qr(problem.features.T)[0]
    inside = partial(outside, problem.features, basis=basis) if project else (lambda v: v)
    optimiser = optax.partition(
        {"u": sphere_step(learning_rate, inside), "c": sphere_step(coefficient_rate)}, ("u", "c")
    )

    def batches(k: Array) -> Array:
        return normal(jax.random.fold_in(key, k), start.shape, start.dtype)

    def objective(student: Any, x: Array) -> Array:
        return sample_loss(problem, activation, truth, student, x)

    begin = (start, problem.student)
    return descend(objective, begin, optimiser, steps, batches=batches, every=every)


def orthonormal_features(k: int, d: int) -> Float[np.ndarray, "k d"]:
    """The first k coordinate vectors."""
    return np.eye(k, d)


def largest_cosine(features: Float[Array, "k d"]) -> Float[Array, ""]:
    """max over i != j of |<w_i, w_j>|; Assumption 4 asks for at most `separation(k)`."""
    cosines = jnp.abs(dot(features, features.T))
    return jnp.max(cosines - 2 * jnp.eye(features.shape[0], dtype=cosines.dtype))


def separation(k: Any) -> Any:
    """1 - log(k) / sqrt(k) (Assumption 4)."""
    return 1 - jnp.log(k) / jnp.sqrt(k)


def check(problem: RankOne, truth: Float[Array, " d"]) -> None:
    """ValueError where Assumptions 1 to 3 fail or no direction is left to learn. Eager."""
    features, direction = np.asarray(problem.features), np.asarray(truth)
    k, d = features.shape
    room = 64 * d * np.finfo(features.dtype).eps
    if k >= d:
        raise ValueError(
            f"k = {k} features leave no direction orthogonal to them in d = {d} dimensions: "
            f"use k <= {d - 1}"
        )
    lengths = np.linalg.norm(features, axis=1)
    worst = int(np.argmax(np.abs(lengths - 1)))
    if not abs(lengths[worst] - 1) <= room:
        raise ValueError(
            f"feature {worst} has length {lengths[worst]:.6g}, needed 1 to within {room:.1e}: "
            f"divide it by its length"
        )
    if not abs(np.linalg.norm(direction) - 1) <= room:
        raise ValueError(
            f"u has length {np.linalg.norm(direction):.6g}, needed 1: divide it by its length"
        )
    overlap = float(np.max(np.abs(features @ direction)))
    if not overlap <= room:
        raise ValueError(
            f"u is not orthogonal to the features: max |<w_i, u>| = {overlap:.3g}, needed at most "
            f"{room:.1e}; project it with rank_one.outside and normalise"
        )
    for name, signs in (("teacher", problem.teacher), ("student", problem.student)):
        off = float(np.max(np.abs(np.abs(np.asarray(signs)) * np.sqrt(k) - 1)))
        if not off <= room:
            raise ValueError(
                f"{name} coefficients must be +-1/sqrt(k) = +-{k**-0.5:.6g}; one is off by a "
                f"relative {off:.3g}"
            )
