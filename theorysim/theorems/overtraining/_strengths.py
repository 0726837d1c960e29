"""Two strengths of the pull-back: what Theorem A.25 and Lemmas A.26 and A.27 share.

Runs have a leading axis of strengths, lam = 0 < lam_2 < lam_1.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.ideal_stages import stages_of
from theorysim.systems.linear_modes import Tuning, limit
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._stages import Number, diagonal, loss_against

FIELDS: dict[str, claims.Field] = {
    "lam_0": claims.Real(0.5, 8),
    "lam_share": claims.Real(0.05, 0.99),
    "lam_ratio": claims.Real(0.02, 0.95),
}


def strengths(x: claims.Instance) -> Float[Array, " strengths"]:
    """lam = 0, lam_2, lam_1; lam_1 is a share of lam_0, lam_2 a share of lam_1."""
    largest = stage.pull_back(x)
    return jnp.stack([0 * largest, x.lam_ratio * largest, largest])


def moved(second: Number, first: Number) -> Number:
    """1 / (1 + lam_2)^2 - 1 / (1 + lam_1)^2."""
    return 1 / (1 + second) ** 2 - 1 / (1 + first) ** 2


def pair_bound(x: claims.Instance) -> Number:
    """What epsilon must stay below in part 2 of Theorem A.25."""
    _, second, first = strengths(x)
    apart = moved(second, first)
    pulled = (first / (1 + first)) ** 2 - (second / (1 + second)) ** 2
    return stage.smallest_gap(x) * jnp.minimum(apart, pulled) / (4000 * x.d * stage.gamma(x) ** 2)


class Tuned(NamedTuple):
    """theta^n(K), its L_pre and unregularised fine-tuning loss; L_pre before fine-tuning."""

    theta: Float[Array, "strengths stages d d"]
    pre: Float[Array, "strengths stages"]
    ft: Float[Array, "strengths stages"]
    before: Float[Array, " stages"]


class Limits(NamedTuple):
    """U (ft_:n + lam pre_:n) / (1 + lam) V^T, its L_pre and the increments of that."""

    theta: Float[Array, "strengths stages d d"]
    pre: Float[Array, "strengths stages"]
    increments: Float[Array, "strengths d"]


def simulation_of(run: Callable) -> Callable:
    """The runs at all strengths, from `run(x, lam, key)`."""

    def simulate(x: claims.Instance, key) -> Tuned:
        theta, modes = jax.vmap(lambda lam: run(x, lam, key))(strengths(x))
        pre, ft = stage.pre_spectrum(x), stage.ft_spectrum(x)
        return Tuned(
            theta=theta,
            pre=jax.vmap(loss_against, (0, None))(theta, pre),
            ft=jax.vmap(loss_against, (0, None))(theta, ft),
            before=loss_against(diagonal(modes[0]), pre),
        )

    return simulate


@cache
def simulation(sizes: a_21.Sizes) -> Callable:
    """The same at sizes that Assumption A.21 admits."""
    return simulation_of(sizes.run)


def limits(swapped: bool = False) -> Callable:
    """Where the runs end; with the two spectra `swapped` in the mean."""

    def predict(x: claims.Instance) -> Limits:
        pre, ft = stage.pre_spectrum(x), stage.ft_spectrum(x)
        target, anchor = (pre, ft) if swapped else (ft, pre)
        tuning = Tuning(target, anchor, strengths(x)[:, None], stage.learning_rate(x))
        end = limit(tuning)
        losses = stages_of(tuning._replace(feature=ft, anchor=pre), end - pre)
        learned = stage.learned_up_to(x, jnp.ones(x.d))
        return Limits(
            theta=(learned * end[:, None])[..., None] * jnp.eye(x.d),
            pre=losses.pretraining,
            increments=losses.pretraining_increments,
        )

    return predict


def rise(r: claims.Run, which: int) -> Float[Array, " d"]:
    """The increments at the strength of that index: lam = 0, lam_2, lam_1."""
    return increments(r)[which]


def increments(r: claims.Run) -> Float[Array, "strengths d"]:
    """L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) for n = 1, ..., d."""
    return jnp.diff(r.sim.pre)
