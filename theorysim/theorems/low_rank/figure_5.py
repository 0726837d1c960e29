"""The larger the perturbation, the longer u takes: from fine-tuning to learning features.

Figure 5 of Dayi and Chen (2024), third Hermite polynomial, joint training, u^ not kept orthogonal:
steps until an overlap of 1/2 grow with xi, and the plateau gets longer as xi nears the threshold
d^(1/4) k^(1/2), where the neurons' correlations are of order 1 / sqrt(d) (here that is told from
the ends of a ladder below it, and from its slopes: steeper about the threshold than below). The
expectation is of neurons of length one, which c with random signs has (Assumption 3); the figures'
c is uniform on its sphere, for which neurons are of all lengths and have a linear part. Both are
run. Learning rates are not printed: u^ and c^ have one of a ladder, relative to xi^2, each run the
one at which the other half of the runs find u first. A run that does not get there counts all of
its steps, which makes slopes about the threshold too small. Beside the runs in d dimensions is
their chain, exact in law.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.copies import copies
from theorysim.theorems.low_rank import _free as free
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _orthogonal as orthogonal
from theorysim.theorems.low_rank._curves import at_rate, best_rate, steps_until
from theorysim.theorems.low_rank._problem import sign

RATIOS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
"""xi over the threshold"""
START, BELOW, THRESHOLD, ABOVE = 0, 2, 3, 4
LARGEST, RATES, SLOPE = 1.0, 10, 3.0
HALFWAY = 0.5
QUANTISED, UNIFORM = 0, 1


class Scaled(NamedTuple):
    """|<u^, u>| of the runs in d dimensions, and of the chain."""

    overlap: Float[Array, "teacher ratio rate time"]
    chain: Float[Array, "teacher ratio rate time"]


def third(a: Array) -> Array:
    """The third Hermite polynomial, normalised."""
    return (a**3 - 3 * a) / 6**0.5


def _scales(x: claims.Instance, ratios: tuple[float, ...]) -> Float[Array, " ratio"]:
    return x.d**0.25 * x.k**0.5 * jnp.asarray(ratios, jnp.float32)


def _quantised(given: free.Drawn) -> free.Drawn:
    """The problem with random signs for c, from random signs for c^."""

    def quantise(c: Array) -> Array:
        return sign(c) / c.shape[0] ** 0.5

    task = given.task._replace(teacher=quantise(given.task.teacher))
    start = given.start._replace(coefficients=quantise(given.start.coefficients))
    return given._replace(task=task, start=start)


def _everywhere(
    x: claims.Instance,
    given: free.Drawn,
    predicted: free.Drawn,
    ratios: tuple[float, ...] = RATIOS,
) -> Scaled:
    """For both kinds of c and all xi, beside the chain of what is predicted."""
    steps = free.steps_of(x)

    def one(own: free.Drawn, other: free.Drawn, scale: Array) -> Scaled:
        task = own.task._replace(scale=scale)
        rates = online.ladder(task, RATES, LARGEST, SLOPE)
        told = other.task._replace(scale=scale)
        return Scaled(
            free.trained(task, task, third, own.start, rates, steps, given.samples),
            free.walked(told, third, other.start, rates, steps, given.walk),
        )

    def both(problem: free.Drawn) -> free.Drawn:
        return jax.tree.map(lambda *kinds: jnp.stack(kinds), _quantised(problem), problem)

    def at(own: free.Drawn, other: free.Drawn) -> Scaled:
        return jax.vmap(lambda scale: one(own, other, scale))(_scales(x, ratios))

    return jax.vmap(at)(both(given), both(predicted))


def simulate(x: claims.Instance, key: Array) -> Scaled:
    """Online SGD in d dimensions at all rates, and the chain of the same problem."""
    given = free.drawn(x, key)
    return _everywhere(x, given, given)


def always_small(x: claims.Instance, key: Array) -> Scaled:
    """The null in which xi is always the smallest one, in problems of their own."""

    def one(key: Array) -> Scaled:
        given = free.drawn(x, key)
        return _everywhere(x, given, given, RATIOS[:1])

    return copies(one, key, len(RATIOS), axis=1)


def beside_another_problem(x: claims.Instance, key: Array) -> Scaled:
    """The null in which the chain is of another problem."""
    given = free.drawn(x, key)
    return _everywhere(x, given, free.drawn(x, given.other))


def _log_steps(r: claims.Run) -> Float[Array, "run teacher ratio"]:
    """log2 of the steps to an overlap of 1/2, at the rate that is best for the other half."""
    at = online.times(free.steps_of(r.x))
    steps = steps_until(r.sim.overlap, at, HALFWAY)
    return jnp.log2(at_rate(steps, best_rate(steps)))


def _rise(r: claims.Run, teacher: int, first: int, last: int) -> Float[Array, " run"]:
    """How much log2 of the steps grows between two xi, per doubling of xi."""
    steps = _log_steps(r)[:, teacher]
    return (steps[:, last] - steps[:, first]) / float(np.log2(RATIOS[last] / RATIOS[first]))


def _about_c(teacher: int, name: str) -> tuple[claims.Claim, ...]:
    return (
        claims.on_average(
            f"{name}: the steps grow towards the threshold",
            lambda r: 0.0,
            lambda r: _rise(r, teacher, START, THRESHOLD),
        ),
        claims.on_average(
            f"{name}: they grow fastest about the threshold",
            lambda r: _rise(r, teacher, START, BELOW),
            lambda r: _rise(r, teacher, BELOW, ABOVE),
            statement="slope of log(steps) over log(xi): 1/8 to 1/2 of the threshold < 1/2 to 2",
        ),
    )


theorem = claims.Experiment(
    space=claims.Space(
        k=claims.Size(6, low=3, high=20),
        d=claims.Size(64, low=8, high=1000),
        time=claims.Size(4000, low=20, high=20_000),
    ),
    hypotheses=online.ROOM,
    simulate=simulate,
    claims=(
        *_about_c(QUANTISED, "c of signs"),
        *_about_c(UNIFORM, "c on the sphere"),
        orthogonal.own_is_nearer(
            "the chain tells the curves", lambda r: r.sim.overlap, lambda r: r.sim.chain
        ),
    ),
    source=claims.Printed(
        "Figure 5, Section 4",
        "training the low-rank perturbation can take significantly many samples when the "
        "perturbation is large [...] the plateau in obtaining the initial weak recovery of u gets "
        "larger as xi -> d^(1/4) k^(1/2)",
    ),
    note="d = 64, k = 6 for d = 1000, k = 20; one rate for u^ and c^, from a ladder",
    mutants=(
        claims.Mutant("xi is always the smallest one", simulate=always_small),
        claims.Mutant(
            "the chain is of another problem",
            simulate=beside_another_problem,
            breaks=("the chain tells the curves",),
        ),
    ),
    axes=lambda x: {
        "teacher": ("c of signs", "c on the sphere"),
        "ratio": np.asarray(RATIOS),
        "rate": online.shares(RATES, LARGEST),
        **free.axes(x),
    },
    work=lambda x: free.work(x, 2 * len(RATIOS) * RATES),
    paper_sizes={"k": 20, "d": 1000, "time": 20_000},
)
