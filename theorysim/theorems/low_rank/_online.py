"""Rank-one fine-tuning as the figures run it: online SGD on samples in all dimensions.

Rows w_i and the vectors c and u are uniform on their spheres, so that c is not quantised, and the
readouts are random signs. Neurons are (w_i + xi c_i u) / sqrt(A), A = 1 + xi^2 / k, as everywhere
in the theory; Section 4 prints (w_i + xi c_i u) / A, "to keep the magnitude of gradients
consistent". Of ReLU, which is homogeneous, that changes the rate alone; other activations see
shorter inputs there, by a factor of sqrt(2) at xi = sqrt(k). The loss is that of
`theorysim.systems.rank_one`, of whose prefactor 1 / xi^2 in the figures a step size takes the
place. Several students, of one rate each, see the same samples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.numerics.random import normal
from theorysim.systems import rank_one
from theorysim.theorems.low_rank._problem import sign

BLOCK = 50  # samples drawn at once, which is several times faster than one by one
RECORDS = 80  # states of a run that are looked at, about


# u has a dimension of its own beside the features.
ROOM: dict[str, Margin] = {
    "d > k": claims.strict(lambda x: jnp.asarray(float(x.d - x.k))),
}


class Task(NamedTuple):
    """The base network, and what the teacher adds to it."""

    features: Float[Array, "k d"]
    readout: Float[Array, " k"]
    truth: Float[Array, " d"]
    teacher: Float[Array, " k"]
    scale: Float[Array, ""]


class Student(NamedTuple):
    """u^ and c^."""

    direction: Float[Array, "*students d"]
    coefficients: Float[Array, "*students k"]


class Sample(NamedTuple):
    """W x, the part of x that u^ sees, and the teacher's output."""

    inside: Float[Array, " k"]
    seen: Float[Array, " d"]
    goal: Float[Array, ""]


class Rates(NamedTuple):
    """Of u^ and of c^, which is frozen at 0."""

    direction: Float[Array, "*students"]
    coefficients: Float[Array, "*students"]


def ladder(task: Task, count: int, largest: float, slope: Any = 0.5) -> Float[Array, " rate"]:
    """Learning rates of u^, halved from one to the next.

    In units of A / (2 xi^2 E[s'^2] d), in which all scales and activations move u^ alike.
    """
    k, d = task.features.shape
    unit = (1 + task.scale**2 / k) / (2 * task.scale**2 * slope * d)
    return unit * largest * 2.0 ** -jnp.arange(count, dtype=jnp.float32)


def shares(count: int, largest: float) -> np.ndarray:
    """The rates of the ladder in its units."""
    return largest * 2.0 ** -np.arange(count)


def on_sphere(key: PRNGKeyArray, *shape: int) -> Array:
    """Uniform unit vectors."""
    drawn = jax.random.normal(key, shape)
    return drawn / jnp.linalg.norm(drawn, axis=-1, keepdims=True)


def directions(
    features: Float[Array, "k d"], key: PRNGKeyArray
) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
    """A random direction in the span of the features, and one orthogonal to it."""
    within, beyond = jax.random.split(key)
    k, d = features.shape
    spanned = rank_one.unit(on_sphere(within, k) @ jnp.linalg.qr(features.T)[0].T)
    return spanned, rank_one.unit(rank_one.outside(features, on_sphere(beyond, d)))


def draw_task(k: int, d: int, scale: Any, key: PRNGKeyArray) -> Task:
    """A random problem whose u is orthogonal to the features."""
    rows, readout, teacher, truth = jax.random.split(key, 4)
    features = on_sphere(rows, k, d)
    signs = sign(jax.random.normal(readout, (k,)))
    beyond = directions(features, truth)[1]
    return Task(features, signs, beyond, on_sphere(teacher, k), jnp.asarray(scale, jnp.float32))


def draw_student(task: Task, key: PRNGKeyArray, *, orthogonal: bool) -> Student:
    """A random start, where `orthogonal` outside the features."""
    first, second = jax.random.split(key)
    k, d = task.features.shape
    direction = on_sphere(first, d)
    if orthogonal:
        direction = rank_one.unit(rank_one.outside(task.features, direction))
    return Student(direction, on_sphere(second, k))


def output(
    task: Task, activation: Callable, inside: Float[Array, "*n k"], moved: Float[Array, "*n k"]
) -> Float[Array, "*n"]:
    """sum_i lambda_i s((<w_i, x> + xi moved_i) / sqrt(A)), moved = c <u, x>."""
    root = jnp.sqrt(1 + task.scale**2 / task.readout.shape[0])
    return activation((inside + task.scale * moved) / root) @ task.readout


def linearised(
    task: Task, activation: Callable, inside: Float[Array, "*n k"], moved: Float[Array, "*n k"]
) -> Float[Array, "*n"]:
    """The first two terms of Taylor's series of `output` in `moved`."""
    value, change = jax.jvp(
        lambda m: output(task, activation, inside, m), (jnp.zeros_like(moved),), (moved,)
    )
    return value + change


def draw_samples(
    task: Task, activation: Callable, key: PRNGKeyArray, count: int, *, orthogonal: bool
) -> Sample:
    """Fresh Gaussian inputs; where `orthogonal`, u^ sees their part outside the features."""
    x = normal(key, (count, task.features.shape[1]))
    inside = x @ task.features.T
    goal = output(task, activation, inside, (x @ task.truth)[:, None] * task.teacher)
    if orthogonal:
        basis = jnp.linalg.qr(task.features.T)[0]
        x = x - (x @ basis) @ basis.T
    return Sample(inside, x, goal)


def losses(
    task: Task, activation: Callable, model: Callable, student: Student, samples: Sample
) -> Float[Array, "*samples"]:
    """(teacher - student)^2 of a student's `output`, or of one that is `linearised`."""
    along = samples.seen @ student.direction
    told = model(task, activation, samples.inside, along[..., None] * student.coefficients)
    return jnp.square(samples.goal - told)


def train(
    task: Task,
    activation: Callable,
    start: Student,
    rates: Rates,
    steps: int,
    key: PRNGKeyArray,
    *,
    orthogonal: bool,
    record: Callable[[Student], Any],
    model: Callable = output,
) -> Any:
    """What is recorded of the start and of later states along online SGD on both spheres.

    Arrays lead with time and students. Where `orthogonal`, u^ stays orthogonal to the features
    (Eq. 4). `steps` is rounded up to whole blocks.
    """
    count = rates.direction.shape[0]
    begin = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), start)

    def move(student: Student, rate: Rates, sample: Sample) -> Student:
        slope = jax.grad(lambda s: losses(task, activation, model, s, sample))(student)
        return Student(*(_along_sphere(*each) for each in zip(student, slope, rate, strict=True)))

    def step(students: Student, sample: Sample) -> tuple[Student, None]:
        return jax.vmap(move, (0, 0, None))(students, rates, sample), None

    basis = jnp.linalg.qr(task.features.T)[0]

    def block(students: Student, number: Array) -> Student:
        drawn = jax.random.fold_in(key, number)
        samples = draw_samples(task, activation, drawn, BLOCK, orthogonal=orthogonal)
        moved = jax.lax.scan(step, students, samples)[0]
        if not orthogonal:
            return moved
        # What rounding leaves in the span of the features grows as e^(eta t E[<u^, gradient>]).
        direction = moved.direction - (moved.direction @ basis) @ basis.T
        return moved._replace(direction=jax.vmap(rank_one.unit)(direction))

    return along(begin, block, jax.vmap(record), steps)


def _along_sphere(vector: Array, slope: Array, rate: Array) -> Array:
    return rank_one.unit(vector - rate * (slope - vector * (vector @ slope)))


def _blocks(steps: int) -> np.ndarray:
    """The numbers of blocks after which a run is looked at, evenly on a logarithmic scale."""
    return np.unique(np.round(np.geomspace(1, -(-steps // BLOCK), RECORDS)).astype(int))


def times(steps: int) -> Float[Array, " time"]:
    """The numbers of steps after which a run is looked at, from 0."""
    return jnp.asarray(BLOCK * np.append(0, _blocks(steps)), float)


def along(
    begin: Any, block: Callable[[Any, Array], Any], record: Callable[[Any], Any], steps: int
) -> Any:
    """What is recorded of the start and of later states of a run of numbered blocks of steps."""
    lasts = _blocks(steps)

    def stretch(state: Any, ends: tuple[Array, Array]) -> tuple[Any, Any]:
        state = jax.lax.fori_loop(*ends, lambda number, s: block(s, number), state)
        return state, record(state)

    firsts = np.append(0, lasts[:-1])
    _, kept = jax.lax.scan(stretch, begin, (jnp.asarray(firsts), jnp.asarray(lasts)))
    return jax.tree.map(
        lambda first, rest: jnp.concatenate([first[None], rest]), record(begin), kept
    )
