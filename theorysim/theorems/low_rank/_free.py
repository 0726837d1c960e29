"""Joint training of c^ and of a u^ that may leave the complement of the features, at one rate."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _span_chain as chain
from theorysim.theorems.low_rank._curves import FOUND, at_rate, best_rate, steps_until

# Half of the way to an overlap of 1/2 takes 0.46 of the steps where the drift is constant, and 0.76
# where it is quadratic, as for the third Hermite polynomial from scratch at d = 128: the midpoint.
STRAIGHT = 0.6


def space() -> claims.Space:
    """Steps are `time` times d."""
    return claims.Space(
        k=claims.Size(10, low=3, high=100),
        d=claims.Size(128, low=8, high=2000),
        time=claims.Size(400, low=20, high=2000),
    )


PAPER_SIZES = {"k": 50, "d": 2000}


def steps_of(x: claims.Instance) -> int:
    """How many steps a run is asked for."""
    return x.time * x.d


def work(x: claims.Instance, students: int) -> float:
    """Multiplications of one run: W x, and two scalar products forwards and back per student."""
    return float(steps_of(x)) * x.d * (x.k + 4 * students)


def axes(x: claims.Instance) -> dict[str, Any]:
    """Steps."""
    return {"time": online.times(steps_of(x))}


def _times(r: claims.Run) -> Float[Array, " time"]:
    return online.times(steps_of(r.x))


class Drawn(NamedTuple):
    """A problem, where a student of it starts, and keys of what is drawn then."""

    task: online.Task
    start: online.Student
    samples: Array
    walk: Array
    other: Array


def drawn(x: claims.Instance, key: Array) -> Drawn:
    """A random problem at xi = 1, and a random start."""
    problem, begin, samples, walk, other = jax.random.split(key, 5)
    task = online.draw_task(x.k, x.d, 1.0, problem)
    return Drawn(task, online.draw_student(task, begin, orthogonal=False), samples, walk, other)


def trained(
    task: online.Task,
    teacher: online.Task,
    activation: Callable,
    start: online.Student,
    rates: Float[Array, " rate"],
    steps: int,
    key: Array,
) -> Float[Array, "rate time"]:
    """|<u^, u>| with the task's u along online SGD in d dimensions, on the teacher's labels."""
    return online.train(
        teacher,
        activation,
        start,
        online.Rates(rates, rates),
        steps,
        key,
        orthogonal=False,
        record=lambda student: jnp.abs(student.direction @ task.truth),
    ).T


def walked(
    task: online.Task,
    activation: Callable,
    start: online.Student,
    rates: Float[Array, " rate"],
    steps: int,
    key: Array,
) -> Float[Array, "rate time"]:
    """The same along the chain."""
    reduced = chain.reduce(task)
    return chain.run(
        reduced,
        activation,
        chain.begin(task, start),
        online.Rates(rates, rates),
        steps,
        key,
        record=lambda state: jnp.abs(state.inside @ reduced.task.truth),
    ).T


def with_another_u(given: Drawn) -> Array:
    """A random direction."""
    return online.on_sphere(given.other, given.task.truth.shape[0])


def _straight(
    overlap: Float[Array, "run *lead rate time"], at: Float[Array, " time"]
) -> Float[Array, "run *lead"]:
    """Steps to an overlap of 1/4 over those to 1/2, at the rate that is best for the others."""
    place = best_rate(steps_until(overlap, at))
    quarter, half = (at_rate(steps_until(overlap, at, m), place) for m in (0.25, 0.5))
    return quarter / half


def log_steps(r: claims.Run) -> Float[Array, "run *lead"]:
    """log2 of the steps until u is found, at the rate that is best for the others."""
    steps = steps_until(r.sim.overlap, _times(r))
    return jnp.log2(at_rate(steps, best_rate(steps)))


def found_at_all(name: str) -> claims.Claim:
    """The overlap at the end, at the best rate, is above 0.9 everywhere.

    A check of ours: the paper says nothing of how many steps that takes.
    """

    def at_the_end(r: claims.Run) -> Array:
        place = best_rate(steps_until(r.sim.overlap, _times(r)))
        return at_rate(r.sim.overlap, place)[..., -1]

    return claims.on_average(
        name,
        lambda r: FOUND,
        at_the_end,
        statement="an overlap above 0.9 after all steps",
        printed=False,
    )


def no_saddle(name: str) -> claims.Claim:
    """The overlap grows from the start, without a plateau."""
    return claims.on_average(
        name,
        lambda r: _straight(r.sim.overlap, _times(r)),
        lambda r: STRAIGHT,
        statement="steps to an overlap of 1/4 are below 0.6 of those to 1/2",
    )
