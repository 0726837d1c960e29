"""However much of u lies in the span of the features, curves are said to be of the same kind.

Figure 4 of Dayi and Chen (2024), ReLU, joint training, u^ not kept orthogonal: u has a part of
length alpha in the span of the features, 0 to 1 (a), and several instances at 1/2 (b) are the runs
here. What "qualitatively the same" is, is not printed: asked is whether no curve has a saddle, the
paper's example of it at Figure 3. That u is found within our steps, and that the overlap grows
faster for larger alpha, which is in the picture alone, are ours. Learning rates are
not printed: u^ and c^ have one of a ladder, each run the one at which the other half of the runs
find u first. Beside the runs in d dimensions is their chain, exact in law.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.copies import copies
from theorysim.numerics.gaussian import relu
from theorysim.theorems.low_rank import _free as free
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _orthogonal as orthogonal

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
LARGEST, RATES = 2.0, 8


class Spanned(NamedTuple):
    """|<u^, u>| of the runs in d dimensions, and of the chain."""

    overlap: Float[Array, "share rate time"]
    chain: Float[Array, "share rate time"]


def _truths(given: free.Drawn, shares: tuple[float, ...] = SHARES) -> Float[Array, "share d"]:
    """u with each part in the span, and with the same directions in it and outside."""
    within, beyond = online.directions(given.task.features, jax.random.fold_in(given.other, 0))
    inside = jnp.asarray(shares, jnp.float32)[:, None]
    return inside * within + jnp.sqrt(1 - inside**2) * beyond


def _everywhere(
    x: claims.Instance,
    given: free.Drawn,
    truths: Float[Array, "share d"],
    taught: Float[Array, "share d"],
    predicted: free.Drawn,
    told: Float[Array, "share d"],
) -> Spanned:
    """For all u, on labels that are made with what is taught, beside the chain of `predicted`."""
    steps = free.steps_of(x)
    rates = online.ladder(given.task, RATES, LARGEST)
    activation = relu().value

    def one(own: Array, other: Array, walked: Array) -> Spanned:
        task = given.task._replace(truth=own)
        teacher = given.task._replace(truth=other)
        walk = predicted.task._replace(truth=walked)
        return Spanned(
            free.trained(task, teacher, activation, given.start, rates, steps, given.samples),
            free.walked(walk, activation, predicted.start, rates, steps, given.walk),
        )

    return jax.vmap(one)(truths, taught, told)


def simulate(x: claims.Instance, key: Array) -> Spanned:
    """Online SGD in d dimensions at all rates, and the chain of the same problem."""
    given = free.drawn(x, key)
    truths = _truths(given)
    return _everywhere(x, given, truths, truths, given, truths)


def of_another_teacher(x: claims.Instance, key: Array) -> Spanned:
    """The null in which labels are made with another u."""
    given = free.drawn(x, key)
    truths = _truths(given)
    other = jnp.broadcast_to(free.with_another_u(given), truths.shape)
    return _everywhere(x, given, truths, other, given, truths)


def always_outside(x: claims.Instance, key: Array) -> Spanned:
    """The null in which no u has a part in the span, in problems of their own."""

    def one(key: Array) -> Spanned:
        given = free.drawn(x, key)
        truths = _truths(given, SHARES[:1])
        return _everywhere(x, given, truths, truths, given, truths)

    return copies(one, key, len(SHARES), axis=0)


def beside_another_problem(x: claims.Instance, key: Array) -> Spanned:
    """The null in which the chain is of another problem."""
    given = free.drawn(x, key)
    truths = _truths(given)
    other = free.drawn(x, given.other)
    return _everywhere(x, given, truths, truths, other, _truths(other))


theorem = claims.Experiment(
    space=free.space(),
    hypotheses=online.ROOM,
    simulate=simulate,
    claims=(
        free.found_at_all("u is found, wherever it lies"),
        free.no_saddle("no saddle at the start"),
        claims.on_average(
            "(a) it is found faster in the span than outside",
            lambda r: free.log_steps(r)[:, -1],
            lambda r: free.log_steps(r)[:, 0],
            printed=False,
        ),
        orthogonal.own_is_nearer(
            "the chain tells the curves", lambda r: r.sim.overlap, lambda r: r.sim.chain
        ),
    ),
    source=claims.Printed(
        "Figure 4, Section 4",
        "the evolution of the overlap over time is qualitatively the same across different levels "
        "of parallel component",
    ),
    note="d = 128, k = 10 for d = 1000, k = 100; one rate for u^ and c^, from a ladder",
    mutants=(
        claims.Mutant("labels are made with another u", simulate=of_another_teacher),
        claims.Mutant("u is always outside the span", simulate=always_outside),
        claims.Mutant(
            "the chain is of another problem",
            simulate=beside_another_problem,
            breaks=("the chain tells the curves",),
        ),
    ),
    keys=16,
    axes=lambda x: {
        "share": np.asarray(SHARES),
        "rate": online.shares(RATES, LARGEST),
        **free.axes(x),
    },
    work=lambda x: free.work(x, len(SHARES) * RATES),
    paper_sizes={"k": 100, "d": 1000},
)
