"""Online SGD of rank-one fine-tuning, reduced to the overlap: exact in law, at a cost free of d.

Write an input as x = x_W + p u^ + q e + x_perp with e = (u - m u^) / sqrt(1 - m^2). Of x, only
y = W x, p, q and |x_perp|^2 enter the next overlap, and rotations that fix the features and (u^, u)
leave their joint law as it is: so m alone is a Markov chain, whatever d. The gradient of a sample
is a (q e + x_perp), where a is the derivative of the sample's loss in p, and

    (m, n) <- (m - eta a q n, hypot(n + eta a q m, eta a R)) / sqrt(1 + eta^2 a^2 (q^2 + R^2))

with n = sqrt(1 - m^2), which is carried for its digits, and R^2 ~ chi^2 of d - rank(W) - 2 degrees.
Lengths and loss are those of `theorysim.systems.rank_one`; A = 1 + scale^2 / k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim.numerics.flow import integrate
from theorysim.numerics.gaussian import Activation
from theorysim.numerics.products import dot
from theorysim.numerics.random import chi_square, normal
from theorysim.systems.rank_one import RankOne, output, unit
from theorysim.systems.rank_one_overlap import speed

# Inputs drawn at once: on a CPU a step then costs a third (k = 50) to a fifth (k = 5) of what it
# costs with an input of its own; more than this gains nothing. Numbers of steps should have a
# divisor near it.
BLOCK = 50


class State(NamedTuple):
    """m = <u^, u>, n = sqrt(1 - m^2) and the student's coefficients."""

    overlap: Float[Array, ""]
    rest: Float[Array, ""]
    student: Float[Array, " k"]


class Sample(NamedTuple):
    """What a step needs of an input: W x, <u^, x>, q = <e, x> and R^2 = |x_perp|^2."""

    inside: Float[Array, " k"]
    along: Float[Array, ""]
    across: Float[Array, ""]
    square: Float[Array, ""]


class Step(NamedTuple):
    """The state before a step and what moved it: |gradient|^2 = a^2 (q^2 + R^2), <gradient, u>."""

    state: State
    square: Float[Array, ""]
    towards: Float[Array, ""]


def reduce_features(problem: RankOne) -> RankOne:
    """The same problem with triangular features of length min(k, d), from the QR of W^T.

    A step then costs O(k^2). For orthonormal features leave them out (None): it costs O(k).
    """
    return problem._replace(features=jnp.linalg.qr(problem.features.T)[1].T)


def begin(problem: RankOne, overlap: Any) -> State:
    """The state with a given overlap, in the problem's precision."""
    m = jnp.asarray(overlap, problem.readout.dtype)
    return State(m, jnp.sqrt((1 - m) * (1 + m)), problem.student)


def draw(problem: RankOne, dimension: Any, key: PRNGKeyArray, count: int) -> Sample:
    """Fresh Gaussian inputs in `dimension` dimensions, as steps see them; arrays lead with count.

    Many at once: the generator costs several times as much per number when called for one input.
    """
    rank, dtype = _rank(problem), problem.readout.dtype
    tangential, radial = jax.random.split(key)
    numbers = normal(tangential, (count, rank + 2), dtype)
    square = chi_square(radial, dimension - rank - 2, (count,), dtype)
    inside = numbers[:, :rank]
    if problem.features is not None:
        inside = dot(inside, problem.features.T)
    return Sample(inside, numbers[:, rank], numbers[:, rank + 1], square)


def _rank(problem: RankOne) -> int:
    return problem.readout.shape[0] if problem.features is None else problem.features.shape[1]


def loss(problem: RankOne, activation: Callable, state: State, sample: Sample) -> Callable:
    """(teacher - student)^2 of a sample as a function of p = <u^, x> and the coefficients."""
    truth = state.overlap * sample.along + state.rest * sample.across
    goal = output(problem, activation, problem.teacher, sample.inside, truth)

    def objective(along: Array, coefficients: Array) -> Array:
        own = output(problem, activation, coefficients, sample.inside, along)
        return jnp.square(goal - own)

    return objective


def step(
    problem: RankOne,
    activation: Callable,
    rates: tuple[Any, Any],
    state: State,
    sample: Sample,
) -> tuple[State, Step]:
    """One step of SGD on the direction, and on the coefficients where their rate is given."""
    rate, coefficient_rate = rates
    objective = loss(problem, activation, state, sample)
    if coefficient_rate is None:
        pull, student = jax.grad(objective)(sample.along, state.student), state.student
    else:
        pull, slope = jax.grad(objective, (0, 1))(sample.along, state.student)
        slope = slope - state.student * jnp.sum(state.student * slope)
        student = unit(state.student - coefficient_rate * slope)
    kick = rate * pull * sample.across
    m, n = state.overlap - kick * state.rest, state.rest + kick * state.overlap
    square = jnp.square(pull) * (jnp.square(sample.across) + sample.square)
    length = jnp.sqrt(1 + rate**2 * square)
    rest = jnp.sqrt(jnp.square(n) + jnp.square(rate * pull) * sample.square)
    moved = State(m / length, rest / length, student)
    return moved, Step(state, square, pull * sample.across * state.rest)


def run(
    problem: RankOne,
    activation: Callable,
    start: State,
    dimension: Any,
    learning_rate: Any,
    steps: int,
    key: PRNGKeyArray,
    *,
    coefficient_rate: Any = None,
    every: int = 1,
) -> State:
    """The chain's states: the start, then every `every`-th; arrays lead with steps // every + 1.

    The problem is a reduced one (`reduce_features`) or without features; `dimension` may be traced.

    Raises:
        ValueError: where `every` does not divide `steps`.
    """
    if every < 1 or steps % every:
        raise ValueError(f"every = {every} does not divide steps = {steps}")
    rates = (learning_rate, coefficient_rate)
    records = steps // every
    length = _divisor(every) if every > BLOCK else every * _divisor(records, BLOCK // every)
    stride, blocks = min(every, length), max(1, every // length)
    walk = _walker(problem, activation, dimension, rates, key, length)

    def record(state: State, first: Array) -> tuple[State, State]:
        last = first + blocks - 1
        state = jax.lax.fori_loop(first, last, lambda j, s: walk(s, j)[0], state)
        state, (path, _) = walk(state, last)
        return state, jax.tree.map(lambda a: a[stride - 1 :: stride], path)

    _, path = jax.lax.scan(record, start, blocks * jnp.arange(steps // (length * blocks)))
    return jax.tree.map(lambda a, rest: jnp.concatenate([a[None], _join(rest)]), start, path)


def trace(
    problem: RankOne,
    activation: Callable,
    start: State,
    dimension: Any,
    learning_rate: Any,
    steps: int,
    key: PRNGKeyArray,
) -> Step:
    """Every step of the chain with its gradient's norm and its part along u."""
    length = _divisor(steps)
    walk = _walker(problem, activation, dimension, (learning_rate, None), key, length)
    _, (_, path) = jax.lax.scan(walk, start, jnp.arange(steps // length))
    return jax.tree.map(_join, path)


def _walker(
    problem: RankOne,
    activation: Callable,
    dimension: Any,
    rates: tuple,
    key: PRNGKeyArray,
    length: int,
) -> Callable:
    """Block j of `length` steps: from a state to the last one and to all, with their steps."""

    def move(state: State, sample: Sample) -> tuple[State, tuple[State, Step]]:
        moved, made = step(problem, activation, rates, state, sample)
        return moved, (moved, made)

    def walk(state: State, j: Array) -> tuple[State, tuple[State, Step]]:
        samples = draw(problem, dimension, jax.random.fold_in(key, j), length)
        return jax.lax.scan(move, state, samples)

    return walk


def _divisor(count: int, most: int = BLOCK) -> int:
    """The largest divisor of a count that is at most `most`."""
    return next(length for length in range(max(1, min(count, most)), 0, -1) if count % length == 0)


def _join(path: Array) -> Array:
    """Blocks of steps as one axis."""
    return path.reshape(-1, *path.shape[2:])


def mean_square_pull(
    problem: RankOne, activation: Callable, overlap: Any, key: PRNGKeyArray, draws: int
) -> Float[Array, ""]:
    """V(m) = E[a^2] by Monte-Carlo; the same key makes it a smooth function of the overlap."""
    state = begin(problem, overlap)

    def square(sample: Sample) -> Array:
        objective = loss(problem, activation, state, sample)
        return jnp.square(jax.grad(objective)(sample.along, state.student))

    return jnp.mean(jax.vmap(square)(draw(problem, _rank(problem) + 2, key, draws)))


def high_dimensional_flow(
    problem: RankOne,
    activation: Activation,
    start: Any,
    rate: Any,
    times: Float[Array, " times"],
    key: PRNGKeyArray,
    *,
    draws: int = 200_000,
    nodes: int = 40,
    tolerance_scale: Any = 1.0,
) -> Float[Array, " times"]:
    """m at times step/d in the limit d -> oo of the learning rate `rate` / d, k fixed.

    dm/dtime = rate h(m) (1 - m^2) - (rate^2 / 2) m V(m): the noise of the steps lengthens u^ and so
    pulls it back. V is drawn on a grid of overlaps and interpolated.
    """
    grid = jnp.sin(jnp.linspace(-jnp.pi / 2, jnp.pi / 2, nodes))
    # One overlap at a time: all at once would hold nodes * draws inputs.
    noise = jax.lax.map(lambda m: mean_square_pull(problem, activation.value, m, key, draws), grid)
    table = diffrax.CubicInterpolation(grid, diffrax.backward_hermite_coefficients(grid, noise))

    def field(m: Array, _: Any) -> Array:
        drift = rate * speed(problem, activation, m) * (1 - m**2)
        return drift - rate**2 / 2 * m * table.evaluate(jnp.clip(m, -1, 1))

    return integrate(field, jnp.asarray(start), times, tolerance_scale=tolerance_scale)
