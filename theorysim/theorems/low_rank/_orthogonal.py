"""Students whose u^ stays orthogonal to the features, and the chain that has the law of theirs.

Either c^ is frozen, or it is trained jointly, at the learning rate of u^.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics.gaussian import relu
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one import RankOne
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank._curves import at_rate, best_rate, steps_until

LARGEST, RATES = 2.0, 8  # of the ladder, in the units of `online.ladder`


class Overlaps(NamedTuple):
    """<u^, u> and, turned as the first is, <c^, c>: teachers (c, u) and (-c, -u) are the same."""

    overlap: Float[Array, "*lead time"]
    match: Float[Array, "*lead time"]


class Drawn(NamedTuple):
    """A problem, where a student of it starts, and keys of what is drawn then."""

    task: online.Task
    start: online.Student
    samples: Array
    walk: Array
    other: Array


def drawn(x: claims.Instance, scale: Any, key: PRNGKeyArray) -> Drawn:
    """A random problem of scale xi, and a random start."""
    problem, begin, samples, walk, other = jax.random.split(key, 5)
    task = online.draw_task(x.k, x.d, scale, problem)
    start = online.draw_student(task, begin, orthogonal=True)
    return Drawn(task, start, samples, walk, other)


def with_another_u(given: Drawn) -> online.Task:
    """A teacher that has all of the problem but u."""
    other = online.draw_student(given.task, given.other, orthogonal=True)
    return given.task._replace(truth=other.direction)


def space() -> claims.Space:
    """Steps are `time` times d: 2 10^6 at d = 2000 in the paper."""
    return claims.Space(
        k=claims.Size(12, low=3, high=50),
        d=claims.Size(160, low=8, high=2000),
        time=claims.Size(1000, low=20, high=2000),
    )


PAPER_SIZES = {"k": 50, "d": 2000}


def steps_of(x: claims.Instance) -> int:
    """How many steps a run is asked for."""
    return x.time * x.d


def work(x: claims.Instance) -> float:
    """Multiplications of one run: W x, and two scalar products forwards and back per student."""
    return float(steps_of(x)) * x.d * (2 * x.k + 4 * 2 * RATES)


def axes(x: claims.Instance) -> dict[str, Any]:
    """Steps, and rates in units of the ladder."""
    return {"time": online.times(steps_of(x)), "rate": online.shares(RATES, LARGEST)}


def oriented(overlap: Array, match: Array) -> Overlaps:
    """With the sign of (c, u) for which the overlap is positive."""
    return Overlaps(jnp.abs(overlap), jnp.where(overlap < 0, -match, match))


def rates_of(task: online.Task) -> Float[Array, " rate"]:
    """The ladder of rates of u^."""
    return online.ladder(task, RATES, LARGEST)


def overlaps_of(task: online.Task, student: online.Student) -> Overlaps:
    """Of a student with u and c."""
    return oriented(student.direction @ task.truth, student.coefficients @ task.teacher)


def walked(
    task: online.Task,
    start: online.Student,
    rates: online.Rates,
    steps: int,
    key: PRNGKeyArray,
) -> tuple[Overlaps, Float[Array, "students time k"]]:
    """The chain from the overlap of a student at every rate; also its c^."""
    given = RankOne(task.features, task.readout, task.teacher, start.coefficients, task.scale)
    given, dimension = chain.reduce_features(given), task.features.shape[1]
    begin = chain.begin(given, start.direction @ task.truth)
    count = rates.direction.shape[0]
    states = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), begin)

    def move(state: chain.State, rate: online.Rates, sample: chain.Sample) -> chain.State:
        return chain.step(given, relu().value, (rate.direction, rate.coefficients), state, sample)[
            0
        ]

    def step(states: chain.State, sample: chain.Sample) -> tuple[chain.State, None]:
        return jax.vmap(move, (0, 0, None))(states, rates, sample), None

    def block(states: chain.State, number: Array) -> chain.State:
        drawn = jax.random.fold_in(key, number)
        return jax.lax.scan(step, states, chain.draw(given, dimension, drawn, online.BLOCK))[0]

    path = online.along(states, block, lambda state: state, steps)
    overlap = path.overlap / jnp.hypot(path.overlap, path.rest)  # of length one to rounding
    turned = jnp.where(overlap < 0, -1.0, 1.0)
    found = oriented(overlap, path.student @ task.teacher)
    return jax.tree.map(jnp.transpose, found), jnp.swapaxes(path.student * turned[..., None], 0, 1)


def found_after(r: claims.Run, overlap: Float[Array, "run *lead rate time"]) -> Array:
    """Steps until u is found, at every rate."""
    return steps_until(overlap, online.times(steps_of(r.x)))


def at_best(r: claims.Run, values: Array, overlap: Array) -> Array:
    """Values at the rate at which the others find u first."""
    return at_rate(values, best_rate(found_after(r, overlap)))


def own_is_nearer(name: str, measured: Any, theory: Any) -> claims.Claim:
    """The chain of the same problem is nearer to a run than that of the next run's problem.

    The paper has no chain: a check of ours.
    """

    def apart(r: claims.Run, shift: int) -> Float[Array, " run"]:
        gap = jnp.abs(measured(r) - jnp.roll(theory(r), shift, axis=0))
        return jnp.mean(gap, axis=tuple(range(1, gap.ndim)))

    return claims.on_average(
        name,
        lambda r: apart(r, 0),
        lambda r: apart(r, 1),
        statement="mean |run - chain|, the chain that of the same run, or of the next one",
        printed=False,
    )
