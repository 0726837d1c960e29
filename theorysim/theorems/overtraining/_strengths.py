"""Two strengths of the pull-back: what Theorem A.25 and Lemmas A.26 and A.27 share.

Runs have a leading axis of strengths, lam = 0 < lam_2 < lam_1.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Field, Instance, Real, Run
from theorysim.systems.ideal_stages import stages_of
from theorysim.systems.linear_modes import Tuning, limit
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining._finetuning import gamma, pre_spectrum
from theorysim.theorems.overtraining._stages import Number, diagonal, loss_against

FIELDS: dict[str, Field] = {
    "lam_0": Real(0.5, 8),
    "lam_share": Real(0.05, 0.99),
    "lam_ratio": Real(0.02, 0.95),
}


def strengths(x: Instance) -> Float[Array, " strengths"]:
    """lam = 0, lam_2, lam_1; lam_1 is a share of lam_0, lam_2 a share of lam_1."""
    largest = a_21.pull_back(x)
    return jnp.stack([0 * largest, x.lam_ratio * largest, largest])


def pair_bound(x: Instance) -> Number:
    """What epsilon must stay below in part 2 of Theorem A.25."""
    _, second, first = strengths(x)
    moved = 1 / (1 + second) ** 2 - 1 / (1 + first) ** 2
    pulled = (first / (1 + first)) ** 2 - (second / (1 + second)) ** 2
    return a_21.smallest_gap(x) * jnp.minimum(moved, pulled) / (4000 * x.d * gamma(x) ** 2)


def both_bounds(x: Instance) -> Number:
    """What epsilon must stay below in both parts of Theorem A.25."""
    return jnp.minimum(a_21.printed_bound(x), pair_bound(x))


def simulation(run: Callable) -> Callable:
    """theta^n(K), its L_pre and its unregularised fine-tuning loss; axes strengths, stages."""

    def simulate(x: Instance, key):
        theta, modes = jax.vmap(lambda lam: run(x, lam, key))(strengths(x))
        pre, ft = pre_spectrum(x), a_21.ft_spectrum(x)
        return {
            "theta": theta,
            "pre": jax.vmap(loss_against, (0, None))(theta, pre),
            "ft": jax.vmap(loss_against, (0, None))(theta, ft),
            "before": loss_against(diagonal(modes[0]), pre),
        }

    return simulate


def limits(swapped: bool = False) -> Callable:
    """U (ft_:n + lam pre_:n) / (1 + lam) V^T, its L_pre and the increments of that."""

    def predict(x: Instance):
        pre, ft = pre_spectrum(x), a_21.ft_spectrum(x)
        target, anchor = (pre, ft) if swapped else (ft, pre)
        tuning = Tuning(target, anchor, strengths(x)[:, None], a_21.learning_rate(x))
        end = limit(tuning)
        losses = stages_of(tuning._replace(feature=ft, anchor=pre), end - pre)
        learned = jnp.tril(jnp.ones((x.d + 1, x.d)), -1)
        return {
            "theta": (learned * end[:, None])[..., None] * jnp.eye(x.d),
            "pre": losses.pretraining,
            "increments": losses.pretraining_increments,
        }

    return predict


def ratios(r: Run) -> Float[Array, " d"]:
    """ft_n / pre_n."""
    return a_21.ft_spectrum(r.x) / pre_spectrum(r.x)


def misaligned_from(r: Run, alpha: float = 4.0) -> Float[Array, " d"]:
    """Margin, per n = 1, ..., d, of ft_i > alpha pre_i for all i >= n: misaligned with r < n."""
    return jnp.minimum.accumulate(ratios(r)[::-1])[::-1] - alpha


def increments(r: Run) -> Float[Array, "*keys strengths d"]:
    """L_pre(theta^n(K)) - L_pre(theta^(n-1)(K)) for n = 1, ..., d."""
    return jnp.diff(r.sim["pre"])
