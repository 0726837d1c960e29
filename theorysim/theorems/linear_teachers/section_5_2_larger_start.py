"""The larger the first weights, the more of the target frozen networks learn in the same time.

Section 5.2 of Shachaf et al. (2021), on two-layer networks whose first layer is frozen after
pretraining: from small, not exactly 0-balanced starts the failure to learn "is observed even when
delta > 0", as learning the second layer is ill-conditioned; a larger scale of initialisation, such
as Xavier's, prevents the degeneracy. Both are read as one statement: after a given time, the same
start leaves less of the train loss at Xavier's scale than at a hundredth of it, more often than
not. For ever, either learns all: almost every first layer has full rank.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH, FROZEN = 2, 1

# In units of the decay of the slowest mode of linear regression.
TIME = 8.0


class Left(NamedTuple):
    """Shares of the train loss that fine-tuning leaves."""

    near_zero: Float[Array, ""]
    xavier: Float[Array, ""]


def _left(x: claims.Instance, key, share: float) -> Float[Array, ""]:
    """From first weights of this share of Xavier's standard deviation, 1 / sqrt(d)."""
    start = deep.random_start(x.replace(scale=jnp.asarray(share / x.d**0.5)), key, DEPTH)
    samples, labels = problem.data(x), problem.labels(x)
    slowest = 2 * jnp.square(jnp.linalg.norm(samples, ord=-2)) / x.n
    times = jnp.array([0.0, TIME]) / slowest
    layers = deep.last(deep.pretraining(x, start))
    path = deep.frozen_flow(layers, samples, labels, times, FROZEN, x.tolerance_scale)
    before, after = jnp.sum(jnp.square(dot(path, samples.T) - labels), axis=-1)
    return after / before


def _simulate(near_zero: float = 0.01, xavier: float = 1.0) -> Callable:
    def simulate(x: claims.Instance, key) -> Left:
        return Left(_left(x, key, near_zero), _left(x, key, xavier))

    return simulate


theorem = claims.Theorem(
    space=deep.start_space(),
    simulate=_simulate(),
    claims=(
        claims.with_probability(
            "less loss is left",
            lambda r: r.sim.xavier,
            lambda r: r.sim.near_zero,
            at_least=lambda r: 0.5,
        ),
    ),
    source=claims.Printed(
        "Section 5.2, below Theorem 5.5",
        "the phenomenon of learning failure is observed even when delta > 0; a larger scale of "
        "initialization (e.g. with Xavier), thus increasing the rank of each layer and preventing "
        "degeneracy",
    ),
    mutants=(claims.Mutant("a smaller scale", simulate=_simulate(1.0, 0.01)),),
    keys=16,
    instances=8,
    mutant_instances=8,
    integrates=True,
)
