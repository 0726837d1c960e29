"""After training, weights lie together by where they started, and not by what they learned.

Figure 4 of Liu et al. (2019), an embedding of the weights of networks after training on several
data sets, from pretrained weights or from scratch. Here the distances themselves are compared, of
networks that learn five targets of digits from weights that learned digits 0 to 4, or from random
ones; all heads start alike. Two starts are so far apart beside what training moves that the first
two claims hold before any target is learned, as a null says. That tuned weights lie *around* the
pretrained ones is asked, too: these are nearer to each than the others are. The words speak of one
start for several data sets and of two starts for one, and all of it holds, too, where the start
that stands for a pretrained one has learned nothing (a null): it is the common start that keeps
networks together. What pretraining adds to that is asked beside it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_deviation as deviation

TARGETS = len(deviation.TARGETS)


class Distances(NamedTuple):
    """Euclidean ones between all weights after training; `pretrained` are those before tuning."""

    among_tuned: Float[Array, "target"]
    """to those of the other targets, from the same pretrained weights, on average"""
    among_scratch: Float[Array, "target"]
    """the same from one random start"""
    same_target: Float[Array, "target"]
    """of the tuned network from that from scratch"""
    two_starts: Float[Array, "target"]
    """of two networks from scratch, from two random starts"""
    tuned_from_pretrained: Float[Array, "target"]
    scratch_from_pretrained: Float[Array, "target"]


def axes(x: claims.Instance) -> dict[str, object]:
    """Targets in words."""
    return {"target": deviation.TARGETS}


def _ends(start: digits.Network, tasks: digits.Task, steps: int) -> Float[Array, "target n"]:
    """All weights after training on every task; every task may have a start of its own."""

    def end(both: tuple[digits.Network, digits.Task]) -> Array:
        return ravel_pytree(digits.trained(*both, steps))[0]

    return jax.lax.map(end, (start, tasks))


def _apart(
    left: Float[Array, "target n"], right: Float[Array, "target n"]
) -> Float[Array, " target"]:
    return jnp.linalg.norm(left - right, axis=-1)


def _among(ends: Float[Array, "target n"]) -> Float[Array, " target"]:
    """The mean distance of each one from the others."""
    apart = jnp.linalg.norm(ends[:, None] - ends[None], axis=-1)
    return jnp.sum(apart, axis=1) / (len(ends) - 1)


def _distances(
    x: claims.Instance,
    key: Array,
    *,
    is_pretrained: bool = True,
    is_common: bool = True,
    is_own: bool = True,
    is_tuned: bool = True,
) -> Distances:
    for_data, for_scratch, for_source = jax.random.split(key, 3)
    data = deviation.drawn(x, for_data)
    widths = (digits.pixels(), x.width, x.width, digits.HALF)
    steps = deviation.steps(x)
    head = digits.initialised(for_scratch, widths)

    def random(number: Array) -> digits.Network:
        own = digits.initialised(jax.random.fold_in(for_scratch, number), widths)
        return digits.with_head_of(own, head)

    def pretrained(number: Array) -> digits.Network:
        own = digits.initialised(jax.random.fold_in(for_source, number), widths)
        end = digits.trained(own, data.source, steps if is_pretrained else 0)
        return digits.with_head_of(end, head)

    numbers = jnp.zeros(TARGETS, int) if is_common else jnp.arange(TARGETS)
    starts = jax.lax.map(pretrained, numbers)
    around = starts if is_own else jax.lax.map(pretrained, TARGETS + numbers)
    before = jax.vmap(lambda network: ravel_pytree(network)[0])(around)
    taken = steps if is_tuned else 0
    tuned = _ends(starts, data.target, taken)
    alone, again = (
        _ends(jax.vmap(random)(first + numbers), data.target, taken) for first in (0, TARGETS)
    )
    return Distances(
        _among(tuned),
        _among(alone),
        _apart(tuned, alone),
        _apart(alone, again),
        _apart(tuned, before),
        _apart(alone, before),
    )


def simulate(x: claims.Instance, key: Array) -> Distances:
    """Training on all targets from one pretrained start and from one random one."""
    return _distances(x, key)


def without_pretraining(x: claims.Instance, key: Array) -> Distances:
    """The null in which the pretrained start is another random one."""
    return _distances(x, key, is_pretrained=False)


def without_common_starts(x: claims.Instance, key: Array) -> Distances:
    """The null in which every target has a pretraining and a random start of its own."""
    return _distances(x, key, is_common=False)


def around_a_stranger(x: claims.Instance, key: Array) -> Distances:
    """The null that looks for tuned networks around weights of another pretraining."""
    return _distances(x, key, is_own=False)


def without_training(x: claims.Instance, key: Array) -> Distances:
    """The null in which no target is learned."""
    return _distances(x, key, is_tuned=False)


ON_OTHER_TARGETS = claims.on_average(
    "other tuned networks are nearer than the one from scratch on the same target",
    lambda r: r.sim.among_tuned,
    lambda r: r.sim.same_target,
)
NEARER = claims.on_average(
    "tuned networks are nearer to the pretrained weights than those from scratch",
    lambda r: r.sim.tuned_from_pretrained,
    lambda r: r.sim.scratch_from_pretrained,
)
AROUND = claims.on_average(
    "tuned networks lie around the pretrained weights",
    lambda r: r.sim.tuned_from_pretrained,
    lambda r: r.sim.among_tuned,
    statement="these are nearer to each than the other tuned networks are",
)
OF_PRETRAINING = claims.on_average(
    "tuned networks are nearer to each other than those from one random start",
    lambda r: r.sim.among_tuned,
    lambda r: r.sim.among_scratch,
    printed=False,
)
FROM_SCRATCH = claims.on_average(
    "networks from one random start lie together, too",
    lambda r: r.sim.among_scratch,
    lambda r: r.sim.two_starts,
    printed=False,
)

theorem = claims.Experiment(
    space=claims.Space(
        source=claims.Size(500, low=50, high=600),
        target=claims.Size(100, low=20, high=200),
        width=claims.Size(64, low=8),
        parts=claims.Size(50, low=2, high=1000),
    ),
    simulate=simulate,
    claims=(ON_OTHER_TARGETS, NEARER, AROUND, OF_PRETRAINING, FROM_SCRATCH),
    source=claims.Printed(
        "Figure 4 and Section 3",
        "weight matrices on the same dataset may be distant at convergence when using different "
        "initializations. On the contrary, even for discrepant datasets, the weight matrices stay "
        "close to the initialization when using the same pretrained parameters. [...] The local "
        "minima of different datasets using ImageNet pretraining are closed to each other, all "
        "concentrating around ImageNet pretrained weight.",
    ),
    note="distances between small networks on digits, for an embedding of ResNet-50",
    mutants=(
        claims.Mutant("without pretraining", simulate=without_pretraining),
        claims.Mutant(
            "every target has its own starts",
            simulate=without_common_starts,
            breaks=digits.names_of((ON_OTHER_TARGETS, FROM_SCRATCH)),
        ),
        claims.Mutant(
            "around another pretraining",
            simulate=around_a_stranger,
            breaks=digits.names_of((NEARER, AROUND)),
        ),
        claims.Mutant("no target is learned", simulate=without_training),
    ),
    data=("digits",),
    axes=axes,
)
