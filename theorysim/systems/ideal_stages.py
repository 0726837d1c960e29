"""Fine-tuning from the ideal stages of pre-training, and where the loss turns up again.

At stage n the first n features of the pre-training map are learned and the others are exactly zero,
which they stay; with infinite batches every learned mode is tuned on its own (`linear_modes`).
Stages n = 0..d and modes 1..d run along the last axis.

Source: Springer et al. (2025), Definition 4.2, Theorems A.24 and A.25.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim.systems.linear_modes import Tuning, change


class IdealStages(NamedTuple):
    """Losses after fine-tuning from stage n, and their increments from one stage to the next.

    Attributes:
        pretraining: ||theta - A^pre||_F^2.
        fine_tuning: ||theta - A^ft||_F^2, without the pull-back.
        sensitivity: Delta_pre, the pre-training loss after fine-tuning less that before.
    """

    pretraining: Float[Array, "*n d+1"]
    fine_tuning: Float[Array, "*n d+1"]
    sensitivity: Float[Array, "*n d+1"]
    pretraining_increments: Float[Array, "*n d"]
    fine_tuning_increments: Float[Array, "*n d"]


def ideal_stages(tuning: Tuning, steps: Int[Array, ""] | int) -> IdealStages:
    """All stages after `steps` steps, which may be traced; `tuning.anchor` are those of A^pre."""
    return stages_of(tuning, change(tuning, steps))


def stages_of(tuning: Tuning, moved: Float[Array, "*n d"]) -> IdealStages:
    """The losses where mode i ends at anchor_i + moved_i, once it is learned.

    Sums of positive terms and increments (a - b)(a + b): nothing cancels.
    """
    feature, anchor = jnp.broadcast_arrays(tuning.feature, tuning.anchor, moved)[:2]
    missed = moved - (tuning.feature - tuning.anchor)
    return IdealStages(
        pretraining=_before(jnp.square(moved)) + _after(jnp.square(anchor)),
        fine_tuning=_before(jnp.square(missed)) + _after(jnp.square(feature)),
        sensitivity=_before(jnp.square(moved)),
        pretraining_increments=(moved - anchor) * (moved + anchor),
        fine_tuning_increments=(missed - feature) * (missed + feature),
    )


def inflection_point(increments: Float[Array, "*n k"]) -> Int[Array, "*n"]:
    """Definition 4.2: the smallest r with L(r) < L(r + 1), from the increments L(r + 1) - L(r).

    Counted from zero at the first member of the sequence; k, the last one, where L never rises.
    """
    rises = increments > 0
    first = jnp.argmax(rises, axis=-1)
    return jnp.where(jnp.any(rises, axis=-1), first, increments.shape[-1])


def last_descent(increments: Float[Array, "*n k"]) -> Int[Array, "*n"]:
    """Theorem A.25: the smallest r such that L(n) > L(n - 1) for every n > r; counted as above."""
    falls = ~(increments > 0)
    stages = jax.lax.broadcasted_iota(int, falls.shape, falls.ndim - 1) + 1
    return jnp.max(jnp.where(falls, stages, 0), axis=-1)


def _before(terms: Float[Array, "*n d"]) -> Float[Array, "*n d+1"]:
    """Sums of the first n terms."""
    return jnp.pad(jnp.cumsum(terms, axis=-1), [(0, 0)] * (terms.ndim - 1) + [(1, 0)])


def _after(terms: Float[Array, "*n d"]) -> Float[Array, "*n d+1"]:
    """Sums of all but the first n terms."""
    return jnp.flip(_before(jnp.flip(terms, -1)), -1)
