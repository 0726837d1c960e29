"""Online SGD whose u^ may leave the complement of the features, reduced to the span of W and u.

Write u^ = B a + b e with an orthonormal basis B of the span of the features and of u, and a unit
vector e orthogonal to it. Of an input x = B z + q e + x_perp, only z, q and |x_perp|^2 enter the
next (a, b, c^), and rotations that fix the span leave their joint law as it is: (a, b, c^) is a
Markov chain, exact in law, at a cost free of d. The gradient of a sample in u^ is g x, where g is
the derivative of its loss in <u^, x>; off the sphere's normal it is g (x - <u^, x> u^).
`theorysim.systems.rank_one_chain` is the chain of u^ that stay orthogonal to the features.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim.numerics.random import chi_square, normal
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._online import BLOCK, Rates, Student, Task, along, output


class State(NamedTuple):
    """a = B^T u^, b = sqrt(1 - |a|^2) and c^."""

    inside: Float[Array, "*students r"]
    rest: Float[Array, "*students"]
    coefficients: Float[Array, "*students k"]


class Reduced(NamedTuple):
    """The task in the coordinates of the basis, and the dimensions outside of it and of e."""

    task: Task
    others: int


def reduce(task: Task) -> Reduced:
    """The basis is that of W and of the part of u outside, which is arbitrary where u has none."""
    k, d = task.features.shape
    basis = jnp.linalg.qr(jnp.vstack([task.features, task.truth]).T)[0]
    inner = task._replace(features=task.features @ basis, truth=task.truth @ basis)
    return Reduced(inner, d - k - 2)


def begin(task: Task, student: Student) -> State:
    """The state of a student in all dimensions."""
    basis = jnp.linalg.qr(jnp.vstack([task.features, task.truth]).T)[0]
    inside = student.direction @ basis
    rest = jnp.linalg.norm(student.direction - basis @ inside)
    return State(inside, rest, student.coefficients)


def run(
    reduced: Reduced,
    activation: Callable,
    start: State,
    rates: Rates,
    steps: int,
    key: PRNGKeyArray,
    *,
    record: Callable[[State], Any],
) -> Any:
    """What is recorded of the start and of later states, as by `_online.train`."""
    task, others = reduced
    count = rates.direction.shape[0]
    states = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), start)

    def move(state: State, rate: Rates, sample: tuple) -> State:
        z, q, square, inside, goal = sample
        seen = state.inside @ z + state.rest * q

        def loss(seen: Array, coefficients: Array) -> Array:
            return jnp.square(goal - output(task, activation, inside, seen * coefficients))

        pull, slope = jax.grad(loss, (0, 1))(seen, state.coefficients)
        kick = rate.direction * pull
        within = state.inside - kick * (z - seen * state.inside)
        outward = state.rest - kick * (q - seen * state.rest)
        beyond = jnp.sqrt(outward**2 + kick**2 * square)
        length = jnp.sqrt(within @ within + beyond**2)
        tangent = slope - state.coefficients * (state.coefficients @ slope)
        turned = rank_one.unit(state.coefficients - rate.coefficients * tangent)
        return State(within / length, beyond / length, turned)

    def step(states: State, sample: tuple) -> tuple[State, None]:
        return jax.vmap(move, (0, 0, None))(states, rates, sample), None

    def block(states: State, number: Array) -> State:
        tangential, radial = jax.random.split(jax.random.fold_in(key, number))
        drawn = normal(tangential, (BLOCK, task.truth.shape[0] + 1))
        z, q = drawn[:, :-1], drawn[:, -1]
        square = chi_square(radial, others, (BLOCK,), drawn.dtype)
        inside = z @ task.features.T
        goal = output(task, activation, inside, (z @ task.truth)[:, None] * task.teacher)
        return jax.lax.scan(step, states, (z, q, square, inside, goal))[0]

    return along(states, block, jax.vmap(record), steps)
