"""What fine-tuning changes in the pre-training loss: what Theorem 4.6 and its proof share."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _stages as stages


class Change(NamedTuple):
    """Delta_pre(n) for n = 0, ..., d; loss and distance of the real start from the ideal one."""

    change: Float[Array, " stages"]
    start_loss: Float[Array, " stages"]
    start: Float[Array, " stages"]


def simulation_of(run: Callable) -> Callable:
    """The run's Delta_pre and its start, from `run(x, lam, key)`."""

    def simulate(x: claims.Instance, key) -> Change:
        theta, modes = run(x, stage.pull_back(x), key)
        pre = stage.pre_spectrum(x)
        start, ideal = stages.diagonal(modes), stages.diagonal(stages.ideal_modes(pre))
        return Change(
            change=stages.loss_change(theta, start, pre),
            start_loss=stages.loss_change(start, ideal, pre),
            start=jnp.linalg.norm(start - ideal, axis=(-2, -1)),
        )

    return simulate


@cache
def simulation(sizes: a_21.Sizes) -> Callable:
    """The same at sizes that Assumption A.21 admits."""
    return simulation_of(sizes.run)


def change(r: claims.Run) -> Float[Array, " d"]:
    """Delta_pre(n) from n = 1."""
    return r.sim.change[1:]
