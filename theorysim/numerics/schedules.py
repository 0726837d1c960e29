"""Learning rates that change along a run whose length is a traced number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

WARM_UP = 0.1


def warm_up_and_cosine(peak: Any, steps: Any) -> Callable[[Any], Float[Array, ""]]:
    """From 0 up to the peak in a tenth of the steps, and down to 0 by a cosine."""

    def rate(step: Any) -> Float[Array, ""]:
        share = step / steps
        falling = (1 + jnp.cos(jnp.pi * (share - WARM_UP) / (1 - WARM_UP))) / 2
        return peak * jnp.where(share < WARM_UP, share / WARM_UP, falling)

    return rate


def adamw(peak: Any, steps: Any, decay: float, betas: tuple[float, float] = (0.9, 0.95)):
    """Adam with decoupled weight decay (times the learning rate), warm-up and cosine."""
    rate = warm_up_and_cosine(peak, steps)
    return optax.chain(
        optax.scale_by_adam(*betas),
        optax.add_decayed_weights(decay),
        optax.scale_by_schedule(lambda step: -rate(step)),
    )
