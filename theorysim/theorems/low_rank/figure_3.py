"""Whatever the activation, there is said to be no saddle at the start.

Figure 3 of Dayi and Chen (2024): ReLU, sigmoid, the second and the third Hermite polynomial, joint
training, u^ not kept orthogonal to the features, xi = 1 (a) and xi = sqrt(k) (b). u counts as found
at an overlap of 0.9, within our steps. A saddle would show as a plateau: half of the way to an
overlap of 1/2 would take most of the steps; the bound is the midpoint between constant and
quadratic drift. Learning rates are not printed: u^ and c^ have one of a ladder, relative to xi^2
E[s'^2], each run the one at which the other half of the runs find u first. Beside them is their
chain, exact in law.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.low_rank import _free as free
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _orthogonal as orthogonal
from theorysim.theorems.low_rank._problem import sign

ACTIVATIONS = ("ReLU", "sigmoid", "He_2", "He_3")
SLOPES = (0.5, 0.0448, 2.0, 3.0)
"""E[s'^2] of each"""
LARGEST, RATES = 2.0, 9
DROWNED = 1e4  # xi of the null without features, where A is xi^2 / k to rounding


class Activated(NamedTuple):
    """|<u^, u>| of the runs in d dimensions, and of the chain."""

    overlap: Float[Array, "scale activation rate time"]
    chain: Float[Array, "scale activation rate time"]


def activate(which: Array, a: Array) -> Array:
    """The activation with this place in the list."""
    values = (jax.nn.relu(a), jax.nn.sigmoid(a), (a**2 - 1) / 2**0.5, (a**3 - 3 * a) / 6**0.5)
    return jnp.select([which == i for i in range(len(values))], values)


def _everywhere(
    x: claims.Instance,
    given: free.Drawn,
    teacher: online.Task,
    predicted: free.Drawn,
    xi: Float[Array, " scale"] | None = None,
) -> Activated:
    """For all scales and activations, on labels of the teacher, beside the chain of `predicted`."""
    steps, xi = free.steps_of(x), scales(x) if xi is None else xi
    places = jnp.arange(len(ACTIVATIONS))

    def one(scale: Array, which: Array) -> Activated:
        own, taught, told = (
            task._replace(scale=scale) for task in (given.task, teacher, predicted.task)
        )
        rates = online.ladder(own, RATES, LARGEST, jnp.asarray(SLOPES)[which])

        def activation(a: Array) -> Array:
            return activate(which, a)

        return Activated(
            free.trained(own, taught, activation, given.start, rates, steps, given.samples),
            free.walked(told, activation, predicted.start, rates, steps, given.walk),
        )

    return jax.vmap(lambda scale: jax.vmap(lambda which: one(scale, which))(places))(xi)


def scales(x: claims.Instance) -> Float[Array, " scale"]:
    """xi of (a) and of (b)."""
    return jnp.asarray([1.0, x.k**0.5], jnp.float32)


def simulate(x: claims.Instance, key: Array) -> Activated:
    """Online SGD in d dimensions at all rates, and the chain of the same problem."""
    given = free.drawn(x, key)
    return _everywhere(x, given, given.task, given)


def of_another_teacher(x: claims.Instance, key: Array) -> Activated:
    """The null in which labels are made with another u."""
    given = free.drawn(x, key)
    return _everywhere(x, given, given.task._replace(truth=free.with_another_u(given)), given)


def beside_another_problem(x: claims.Instance, key: Array) -> Activated:
    """The null in which the chain is of another problem."""
    given = free.drawn(x, key)
    return _everywhere(x, given, given.task, free.drawn(x, given.other))


def from_scratch(x: claims.Instance, key: Array) -> Activated:
    """The null without base network: all neurons are +-u and +-u^."""
    given = free.drawn(x, key)
    task, start = given.task, given.start
    bare = task._replace(features=0 * task.features, teacher=sign(task.teacher) / x.k**0.5)
    signs = start._replace(coefficients=sign(start.coefficients) / x.k**0.5)
    alone = given._replace(task=bare, start=signs)
    return _everywhere(x, alone, bare, given, jnp.full_like(scales(x), DROWNED))


theorem = claims.Experiment(
    space=free.space(),
    hypotheses=online.ROOM,
    simulate=simulate,
    claims=(
        free.found_at_all("u is found with every activation at both scales"),
        free.no_saddle("no saddle at the start"),
        orthogonal.own_is_nearer(
            "the chain tells the curves", lambda r: r.sim.overlap, lambda r: r.sim.chain
        ),
    ),
    source=claims.Printed(
        "Figure 3, Section 4",
        "the qualitative behavior (e.g. no saddle behavior at initialization) is universal across "
        "the different choices of activation",
    ),
    note="d = 128, k = 10 for d = 2000, k = 50; one rate for u^ and c^, from a ladder",
    mutants=(
        claims.Mutant("labels are made with another u", simulate=of_another_teacher),
        claims.Mutant("there is no base network", simulate=from_scratch),
        claims.Mutant(
            "the chain is of another problem",
            simulate=beside_another_problem,
            breaks=("the chain tells the curves",),
        ),
    ),
    keys=12,
    axes=lambda x: {
        "scale": scales(x),
        "activation": ACTIVATIONS,
        "rate": online.shares(RATES, LARGEST),
        **free.axes(x),
    },
    work=lambda x: free.work(x, 2 * len(ACTIVATIONS) * RATES),
    paper_sizes=free.PAPER_SIZES,
)
