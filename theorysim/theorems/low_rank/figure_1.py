"""Freezing c^ is said to take somewhat longer than joint training, along the same kind of curve.

Figure 1 of Dayi and Chen (2024), ReLU, xi = 1, c not quantised: freezing c^ leads to somewhat
longer time scales, and the outlook says that joint training is roughly twice as efficient, which is
read as a ratio of steps between sqrt(2) and 2 sqrt(2). u counts as found at an overlap of 0.9; that
it is found within the steps that are taken is ours, since the paper says nothing of how many do.
Learning rates are not printed: u^ has one of a ladder, each run the one at which the other half of
the runs find u first; c^ has the rate of u^. Beside the runs in d dimensions is the reduced chain,
exact in law for u^ orthogonal to the features.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.copies import copies
from theorysim.numerics.gaussian import relu
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _orthogonal as orthogonal
from theorysim.theorems.low_rank._curves import FOUND, at_rate, best_rate

FROZEN, JOINT = 0, 1
TWICE = (0.5, 1.5)  # of log2 of a ratio


class Trained(NamedTuple):
    """|<u^, u>| of students with c^ frozen and trained, and of the chain."""

    overlap: Float[Array, "training rate time"]
    chain: Float[Array, "training rate time"]


def _drawn(x: claims.Instance, key: Array) -> orthogonal.Drawn:
    return orthogonal.drawn(x, 1.0, key)


def _trained(
    x: claims.Instance,
    given: orthogonal.Drawn,
    teacher: online.Task,
    predicted: orthogonal.Drawn,
    joint: tuple[float, float] = (0.0, 1.0),
) -> Trained:
    """Labels are the teacher's, the chain is that of `predicted`; c^ has `joint` rates of u^."""
    rates = orthogonal.rates_of(given.task)
    both = jnp.concatenate([rates, rates])
    each = online.Rates(both, both * jnp.repeat(jnp.asarray(joint), len(rates)))
    steps = orthogonal.steps_of(x)
    run = online.train(
        teacher,
        relu().value,
        given.start,
        each,
        steps,
        given.samples,
        orthogonal=True,
        record=lambda student: orthogonal.overlaps_of(given.task, student).overlap,
    )
    walk, _ = orthogonal.walked(predicted.task, predicted.start, each, steps, given.walk)
    shape = (2, len(rates), -1)
    return Trained(run.T.reshape(shape), walk.overlap.reshape(shape))


def simulate(x: claims.Instance, key: Array) -> Trained:
    """Online SGD in d dimensions at all rates, and the chain of the same problem."""
    given = _drawn(x, key)
    return _trained(x, given, given.task, given)


def of_another_teacher(x: claims.Instance, key: Array) -> Trained:
    """The null in which labels are made with another u."""
    given = _drawn(x, key)
    return _trained(x, given, orthogonal.with_another_u(given), given)


def always_joint(x: claims.Instance, key: Array) -> Trained:
    """The null in which nothing is frozen, in two problems of their own."""

    def one(key: Array) -> Trained:
        given = _drawn(x, key)
        found = _trained(x, given, given.task, given, (1.0, 1.0))
        return jax.tree.map(lambda leaf: leaf[:1], found)

    return copies(one, key, 2, axis=0)


def beside_another_problem(x: claims.Instance, key: Array) -> Trained:
    """The null in which the chain is of another problem."""
    given = _drawn(x, key)
    return _trained(x, given, given.task, _drawn(x, given.other))


def _log_steps(r: claims.Run) -> Float[Array, "run training rate"]:
    return jnp.log2(orthogonal.found_after(r, r.sim.overlap))


def _at_best(r: claims.Run, values: Array) -> Float[Array, "run training *rest"]:
    return orthogonal.at_best(r, values, r.sim.overlap)


def _gain(r: claims.Run) -> Float[Array, " run"]:
    """log2 of the ratio of steps, frozen over joint, each at its own rate."""
    steps = _at_best(r, _log_steps(r))
    return steps[:, FROZEN] - steps[:, JOINT]


def _gain_at_one_rate(r: claims.Run) -> Float[Array, " run"]:
    """The same at the rate that is best where c^ is frozen."""
    steps = _log_steps(r)
    place = best_rate(2 ** steps[:, FROZEN])
    return at_rate(steps[:, FROZEN], place) - at_rate(steps[:, JOINT], place)


def _roughly_twice(name: str, gain) -> claims.Claim:
    return claims.on_average(
        name,
        lambda r: jnp.stack([jnp.full_like(gain(r), TWICE[0]), gain(r)], axis=1),
        lambda r: jnp.stack([gain(r), jnp.full_like(gain(r), TWICE[1])], axis=1),
        statement="sqrt(2) < steps with c^ frozen / steps with c^ trained < 2 sqrt(2)",
    )


theorem = claims.Experiment(
    space=orthogonal.space(),
    hypotheses=online.ROOM,
    simulate=simulate,
    claims=(
        claims.on_average(
            "u is found either way",
            lambda r: FOUND,
            lambda r: _at_best(r, r.sim.overlap)[..., -1],
            statement="an overlap above 0.9 after all steps",
            printed=False,
        ),
        claims.on_average("freezing c^ takes longer", lambda r: 0.0, _gain),
        _roughly_twice("joint training is roughly twice as efficient", _gain),
        _roughly_twice("the same, at one rate for both", _gain_at_one_rate),
        orthogonal.own_is_nearer(
            "the chain tells the curve", lambda r: r.sim.overlap, lambda r: r.sim.chain
        ),
    ),
    source=claims.Printed(
        "Figure 1, Section 4 and Section 5",
        "while freezing leads to somewhat longer time scales in training, the qualitative behavior "
        "of <u_t, u> is similar across the two settings [...] roughly twice as efficient as "
        "freezing c^ and training u^ in isolation",
    ),
    note="d = 160, k = 12 for d = 2000, k = 50; rates of u^ from a ladder",
    mutants=(
        claims.Mutant("labels are made with another u", simulate=of_another_teacher),
        claims.Mutant("c^ is never frozen", simulate=always_joint),
        claims.Mutant(
            "the chain is of another problem",
            simulate=beside_another_problem,
            breaks=("the chain tells the curve",),
        ),
    ),
    keys=10,
    axes=lambda x: {"training": ("c^ frozen", "joint"), **orthogonal.axes(x)},
    work=orthogonal.work,
    paper_sizes=orthogonal.PAPER_SIZES,
)
